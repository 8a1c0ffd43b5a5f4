"""What a report is written with: the results, the facts, and tables that say their n and their intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from quartet.report.cells import Cell, Cells, FigureKey
from quartet.report.facts import RunFacts
from quartet.report.numbers import NONE, Number, general, listing
from quartet.report.order import set_rank, split_rank, system_rank
from quartet.report.published import PublishedTable, published_figures
from quartet.results import Result, system_name
from quartet.statistics.intervals import LEAST_DRAWS, LEAST_UNITS

#: Differences to it stand in the table of the lists themselves.
FIRST = "first-pass"
#: Where a table with intervals has none.
NO_INTERVAL = f"None of fewer than {LEAST_UNITS}, or where they do not differ."


def code(name: str) -> str:
    """A name as Markdown code."""
    return f"`{name}`"


def plain(text: str) -> str:
    """A text that cannot break a table or a line of Markdown."""
    return " ".join(text.replace("|", "\\|").split())


def anchor(title: str) -> str:
    """Where a link to the heading of this title leads: the rule of GitHub, which the HTML page keeps too."""
    return "".join("-" if sign == " " else sign for sign in title.lower() if sign.isalnum() or sign in " -_")


def grid(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A Markdown table, numbers to the right of the first column; columns that hold nothing are left out."""
    body = [list(row) for row in rows]
    keep = [index for index in range(len(heads)) if index == 0 or any(row[index] != NONE for row in body)]
    lines = ["| " + " | ".join(heads[index] for index in keep) + " |"]
    lines.append("|" + "|".join(":--" if index == 0 else "--:" for index in keep) + "|")
    lines += ["| " + " | ".join(row[index] for index in keep) + " |" for row in body]
    return [*lines, ""]


class Report:
    """The results of a run while its report is written; it remembers what each table showed."""

    def __init__(self, results: Iterable[Result], facts: RunFacts) -> None:
        self.cells, self.facts = Cells(results), facts
        self._shown: list[Cell] = []

    def groups(self, table: str) -> list[tuple[str, str]]:
        """The (dataset, split) pairs of a table, in the report's order."""
        pairs = {(place.dataset, place.split) for place in self.cells.places(table)}
        return sorted(pairs, key=lambda pair: (set_rank(pair[0], self.facts), split_rank(pair[1])))

    def datasets(self, table: str) -> list[str]:
        """The sets of a table, in the report's order."""
        return list(dict.fromkeys(dataset for dataset, _ in self.groups(table)))

    def systems(self, table: str, dataset: str, split: str | None, metrics: Iterable[str]) -> list[str]:
        """The systems with one of these metrics on a set and split (None: any), in the report's order."""
        wanted = set(metrics)
        found = {
            place.system
            for place in self.cells.places(table)
            if place.dataset == dataset and split in (None, place.split) and place.metric in wanted
        }
        return self.sorted(found)

    def figures(self, table: str, dataset: str, split: str | None, metric: str) -> dict[str, Cell]:
        """The cells of a metric by system, in the report's order, only looked at."""
        found = {
            system: self.find(table, dataset, split, system, metric)
            for system in self.systems(table, dataset, split, [metric])
        }
        return {system: cell for system, cell in found.items() if cell}

    def model(self, system: str) -> str:
        """The model of a system; a system without results is its own."""
        return self.cells.name(system)[0]

    def reading(self, system: str) -> str:
        """How a system reads its model."""
        return self.cells.name(system)[1]

    def compared(self, system: str) -> tuple[str, ...]:
        """The models of a system, two where it is a difference."""
        model, _, versus = self.cells.name(system)
        return (model, self.model(versus)) if versus else (model,)

    def models(self, table: str) -> list[str]:
        """The models of a table, in the report's order."""
        return list(
            dict.fromkeys(map(self.model, self.sorted({place.system for place in self.cells.places(table)})))
        )

    def sorted(self, systems: Iterable[str]) -> list[str]:
        """Systems in the report's order."""
        return sorted(
            systems, key=lambda system: system_rank(system, *self.cells.name(system)[:2], self.facts)
        )

    def label(self, system: str) -> str:
        """A system's name; of one that came trained with the word that it was trained on other text."""
        trained = self.model(system) in {one.name for one in self.facts.pretrained}
        return f"{code(system)} (other text and size)" if trained else code(system)

    def find(self, table: str, dataset: str, split: str | None, system: str, metric: str) -> Cell | None:
        """A cell, only looked at; split None: of whichever split has it, in the order of splits."""
        place = self._place(table, dataset, split, system, metric)
        return None if place is None else self.cells.find(place)

    def difference(
        self, table: str, dataset: str, split: str, first: str, second: str, metric: str
    ) -> tuple[Cell, int] | None:
        """The kept difference of two systems of a table, and -1 where it was kept the other way round."""
        for pair, sign in ((system_name(first, versus=second), 1), (system_name(second, versus=first), -1)):
            if cell := self.find(f"{table}-pairs", dataset, split, pair, metric):
                return cell, sign
        if second == FIRST and (cell := self.find(table, dataset, split, first, metric)):
            return cell, 1
        return None

    def text(
        self,
        number: Number,
        table: str,
        dataset: str,
        split: str | None,
        system: str,
        metric: str,
        counted: bool = True,
        bounds: bool = True,
    ) -> str:
        """A cell as text, noted as shown; `NONE` where there is none.

        The caption speaks of it only if it is `counted`; its interval is shown only if `bounds`.
        """
        place = self._place(table, dataset, split, system, metric)
        cell = None if place is None else self.cells.take(place)
        if cell is None:
            return NONE
        if counted:
            self._shown.append(cell)
        return cell.text(number, bounds)

    def omit(self, table: str, dataset: str, split: str, metrics: Iterable[str]) -> None:
        """Note figures as shown that the text says are left out."""
        for place in self.cells.places(table):
            if (place.dataset, place.split) == (dataset, split) and place.metric in set(metrics):
                self.cells.take(place)

    def caption(self, interval: str, unit: str) -> list[str]:
        """What n, [low, high] and ± are of everything that was shown since the last caption.

        Args:
            interval: what the intervals of the table are; "" where it need have none.
            unit: of the items behind its figures.
        """
        shown, self._shown = self._shown, []
        if not shown:
            return []
        numbers = sorted({cell.n for cell in shown})
        parts = [
            "n = "
            + general(numbers[0])
            + (f" to {general(numbers[-1])}" if numbers[1:] else "")
            + f" {unit}."
        ]
        if any(cell.bounds for cell in shown):
            parts.append(f"[low, high]: {interval or '95 % interval'}{self._resampled(shown)}.")
        else:
            parts.append("No interval is given.")
        draws = self.facts.draws
        if (
            draws is not None
            and draws < LEAST_DRAWS
            and any(cell.difference and cell.bounds for cell in shown)
        ):
            parts.append(
                f"Intervals of differences are from {general(draws)} draws: too few for a p or a verdict."
            )
        if interval and not all(cell.bounds for cell in shown):
            parts.append(NO_INTERVAL)
        seeds = sorted({len(cell.rows) for cell in shown if len(cell.rows) > 1})
        if seeds:
            span = listing([str(number) for number in seeds])
            parts.append(f"With ±: mean and standard deviation over {span} seeds.")
            if any(cell.bounds for cell in shown if len(cell.rows) > 1):
                parts.append("[low, high] then runs from the lowest end of a seed's interval to the highest.")
        return [" ".join(parts), ""]

    @staticmethod
    def _resampled(shown: Iterable[Cell]) -> str:
        """How many of what was resampled for the intervals, where the results say it: " (33 speakers)"."""
        counts: dict[str, set[int]] = {}
        for row in (row for cell in shown for row in cell.rows):
            if row.units is not None:
                counts.setdefault(row.unit, set()).add(row.units)
        ranges = [
            f"{general(min(units))}{f' to {general(max(units))}' if units[1:] else ''} {unit}"
            for unit, units in ((unit, sorted(found)) for unit, found in counts.items())
        ]
        return f" ({listing(ranges)})" if ranges else ""

    def rest(self, table: str) -> list[str]:
        """Whatever of a table no column asked for, one figure a row."""
        places = sorted(
            self.cells.rest(table),
            key=lambda place: (
                set_rank(place.dataset, self.facts),
                split_rank(place.split),
                system_rank(place.system, *self.cells.name(place.system)[:2], self.facts),
                place.metric,
            ),
        )
        if not places:
            return []
        rows = []
        for place in places:
            cell = self.cells.take(place)
            assert cell is not None, place
            self._shown.append(cell)
            where = [code(place.system), place.dataset or NONE, place.split or NONE, place.metric]
            rows.append([*where, cell.text(general), general(cell.n)])
        lines = ["Other figures:", "", *grid(["system", "set", "split", "figure", "value", "n"], rows)]
        return lines + self.caption("", "items")

    def _place(
        self, table: str, dataset: str, split: str | None, system: str, metric: str
    ) -> FigureKey | None:
        if split is not None:
            return FigureKey(table, dataset, split, system, metric)
        splits = {place.split for place in self.cells.places(table) if place.dataset == dataset}
        places = [FigureKey(table, dataset, one, system, metric) for one in sorted(splits, key=split_rank)]
        return next((place for place in places if self.cells.find(place)), None)


def paper_table(name: str) -> tuple[PublishedTable, str]:
    """A published table and how a sentence names it: "T-TA paper, Table 3"."""
    table = published_figures().tables[name]
    return table, f"{published_figures().papers[table.paper].name}, {table.place}"


def named(systems: Iterable[str]) -> str:
    """Names as code, in a list."""
    return listing([code(system) for system in systems])


#: What a T-TA of single sentences is: the row of the T-TA paper that such a model stands beside. Models that came
#: trained (``pretrained:`` of params.yaml) read other text, at another size, than those of the experiment, so they are
#: never counted among these.
TTA = ("lae", "sentences")


def likes_of_tta(report: Report) -> list[str]:
    """The names of those that are T-TAs of single sentences."""
    return [one.name for one in report.facts.pretrained if (one.objective, one.reads) == TTA]


def described_pretrained(report: Report, tables: Iterable[str]) -> list[str]:
    """Each of those that have a figure in the tables, with its scale: "`tta-books` (13.89 M parameters, ...)"."""
    tables = list(tables)
    every = [place for table in report.cells.tables() for place in report.cells.places(table)]
    found = []
    for one in report.facts.pretrained:
        own = [place for place in every if report.model(place.system) == one.name]
        levels = [cell for place in own if (cell := report.cells.find(place)) and not cell.rows[0].versus]
        if levels and any(place.table in tables for place in own):
            found.append(f"{code(one.name)} ({plain(levels[0].rows[0].scale)})")
    return found


def pretrained_note(report: Report, table: str) -> list[str]:
    """A paragraph for the section of a table that has rows of such models; nothing where there are none."""
    found = described_pretrained(report, [table])
    if not found:
        return []
    many = len(found) > 1
    return [
        f"{listing(found)} {'were' if many else 'was'} trained elsewhere, on other text and at another size, "
        f"and the tokens read are not in {'their cards' if many else 'its card'}: "
        f"{'their' if many else 'its'} rows show what such a model is good for, and compare no objectives.",
        "",
    ]
