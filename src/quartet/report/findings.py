"""The sentences of the first screen, by rules: a difference is called shown only where the intervals bear it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from quartet.nbest.metrics import METRICS
from quartet.report import loss
from quartet.report.blocks import durations, runtime
from quartet.report.cells import Cell, apart
from quartet.report.computed_cells import MEASURES, is_part
from quartet.report.numbers import FORMATS, listing, nats
from quartet.report.run_report import Report, code, named
from quartet.report.spec import FindingSpec
from quartet.results import system_name

#: As many systems as a sentence names.
FEW = 6
#: How a system lies to another, by `apart`.
SIDES = {1: "above", -1: "below", 0: "not shown to differ from"}


def sentences(report: Report, name: str, spec: FindingSpec) -> list[str]:
    """What a rule finds in a table of the results."""
    return list(RULES[spec.rule](report, spec.table or name, spec))


def _groups(report: Report, table: str, spec: FindingSpec) -> Iterator[tuple[str, str, str, dict[str, Cell]]]:
    """Yield (dataset, split, words for them, cells by system) of the sets that a rule is about."""
    datasets = report.datasets(table)
    for dataset, split in report.groups(table):
        if dataset in spec.without or is_part(dataset, spec.parts, datasets):
            continue
        cells = {
            system: cell
            for system, cell in report.figures(table, dataset, split, spec.metric).items()
            if report.reading(system) not in spec.without_readings
        }
        if cells:
            n = max(cell.n for cell in cells.values())
            yield dataset, split, f"{spec.what} `{dataset}` {split}".rstrip() + f" (n = {n:,})", cells


def _names(systems: list[str]) -> str:
    return named(systems) if len(systems) <= FEW else f"{len(systems)} systems"


def best(report: Report, table: str, spec: FindingSpec) -> Iterator[str]:
    """The highest system of each test set, which others it is shown above, and which models are above a baseline."""
    number = FORMATS[spec.format]
    for _, split, words, cells in _groups(report, table, spec):
        models = [system for system in cells if report.model(system) not in spec.against]
        if not models or (split == "dev" and not spec.against):
            continue
        first = max(models, key=lambda system: cells[system].value)
        sides: dict[int, list[str]] = {1: [], 0: [], -1: []}
        for system in models:
            if system != first:
                sides[apart(cells[first].bounds, cells[system].bounds)].append(system)
        text = f"{words}: {report.label(first)} is highest, {cells[first].text(number)}"
        for side, verdict in ((1, "shown to be below it"), (0, "no difference shown")):
            text += f"; {verdict}: {_names(sides[side])}" if sides[side] else ""
        bars = [
            (f"{code(one)} ({number(cells[one].value)})", cells[one].bounds)
            for one in cells
            if one not in models
        ]
        if spec.chance is not None:
            bars.append((f"chance ({number(spec.chance)})", (spec.chance, spec.chance)))
        for bar, bounds in bars:
            above = [one for one in models if apart(cells[one].bounds, bounds) > 0]
            below = [one for one in models if apart(cells[one].bounds, bounds) < 0]
            text += f"; above {bar}: {_names(above) if above else 'none'}"
            text += f"; below it: {_names(below)}" if below else ""
        yield f"{text}."


def pairs(report: Report, table: str, spec: FindingSpec) -> Iterator[str]:
    """How many of the differences of a set have an interval that leaves out 0."""
    for _, _, words, cells in _groups(report, table, spec):
        told = [pair for pair, cell in cells.items() if apart(cell.bounds, (0.0, 0.0))]
        shown = f": {named(told)}" if 0 < len(told) <= FEW else ""
        yield f"{words}: {len(told)} of {len(cells)} differences are shown{shown}."


def changes(report: Report, table: str, spec: FindingSpec) -> Iterator[str]:
    """For each set of lists the first pass and the oracle, and which systems test shows to differ from the first."""
    first, oracle = spec.against
    number, signed = FORMATS["two"], FORMATS["signed-two"]
    for dataset in report.datasets(table):
        for metric, error in METRICS.items():
            start = report.find(table, dataset, "test", first, metric)
            most = report.find(table, dataset, "test", oracle, metric)
            found = report.figures(table, dataset, "test", f"{metric}-difference")
            if start is None or not found:
                continue
            text = f"{spec.what} `{dataset}` test (n = {start.n:,}): {code(first)} {start.text(number)}"
            text += f", {code(oracle)} {number(most.value)}" if most else ""
            for side, words in ((error.better, "shown to be better"), (-error.better, "shown to be worse")):
                own = [
                    f"{report.label(system)} ({cell.text(signed)})"
                    for system, cell in found.items()
                    if apart(cell.bounds, (0.0, 0.0)) == side
                ]
                text += f"; {words}: {listing(own)}" if own else ""
            same = [system for system, cell in found.items() if not apart(cell.bounds, (0.0, 0.0))]
            yield f"{text}{f'; no difference shown: {named(same)}' if same else ''}."


def perplexity(report: Report, table: str, spec: FindingSpec) -> Iterator[str]:
    """Who is shown to be below the unigram entropy of its tokens, what leaks, and what segment positions change."""
    for dataset, split in report.groups(table):
        for metric, name in MEASURES.items():
            cells = {
                system: cell
                for system, cell in report.figures(table, dataset, split, metric).items()
                if report.facts.model(system)
            }
            if not cells:
                continue
            margins = {one: loss.margin(report, dataset, split, one, metric) for one in cells}
            known = {one: found for one, found in margins.items() if found}
            shown = [one for one, found in known.items() if apart(found.bounds, (0.0, 0.0)) > 0]
            others = [one for one in known if one not in shown]
            bases = [base for one in known if (base := loss.entropy(report, dataset, split, one))]
            text = f"{name} {spec.what} on `{dataset}` {split}: "
            if bases:
                text += (
                    f"unigram entropy {listing(list(dict.fromkeys(nats(one.value) for one in bases)))} nats"
                )
                text += f"; shown to be below it: {_names(shown)}" if shown else ""
                text += f"; not shown to be below it: {_names(others)}" if others else ""
            else:
                text += listing(
                    [f"{code(one)} {cell.text(FORMATS['perplexity'])}" for one, cell in cells.items()]
                )
            text += "."
            leaking = [system for system in cells if loss.leaks(report, system)]
            text += f" Of {named(leaking)}: {loss.LEAK}" if leaking else ""
            for pair in loss.of_positions(report, cells):
                verdict = loss.segment_change(report, dataset, split, pair, cells)
                text += f" With segment positions ({code(pair[0])} against {code(pair[1])}): {verdict}."
            yield text


def family(report: Report, table: str, spec: FindingSpec) -> Iterator[str]:
    """T-TAs beside the masked models that read the same kind of input, by one reading."""
    number = FORMATS[spec.format]
    for _, split, words, cells in _groups(report, table, spec):
        models = {
            system: model
            for system in cells
            if report.reading(system) == spec.reading and (model := report.facts.model(report.model(system)))
        }
        parts = [
            f"{code(ours)} ({cells[ours].text(number)}) is {verdict} {code(theirs)} ({cells[theirs].text(number)})"
            for ours, lae in models.items()
            for theirs, mlm in models.items()
            if (lae.objective, mlm.objective) == ("lae", "mlm")
            and (lae.reads, lae.segment_aware) == (mlm.reads, mlm.segment_aware)
            for verdict in (SIDES[apart(cells[ours].bounds, cells[theirs].bounds)],)
        ]
        if parts and split != "dev":
            yield f"{words}: {listing(parts)}."


def reading(report: Report, table: str, spec: FindingSpec) -> Iterator[str]:
    """Whether one reading of each model is shown to differ from the others of the same model."""
    number = FORMATS[spec.format]
    for _, _, words, cells in _groups(report, table, spec):
        parts = []
        for system, cell in cells.items():
            if report.reading(system) == spec.reading:
                text = f"{code(system)} {cell.text(number)}"
                for other in spec.against:
                    theirs = cells.get(system_name(report.model(system), other))
                    if theirs:
                        text += f", {SIDES[apart(cell.bounds, theirs.bounds)]} `{other}`"
                parts.append(text)
        if parts:
            yield f"{words}: {'; '.join(parts)}."


def readings(report: Report, table: str, spec: FindingSpec) -> Iterator[str]:
    """Which readings are shown to lie above or below a model's reading for comparison."""
    number = FORMATS[spec.format]
    for _, _, words, cells in _groups(report, table, spec):
        sides: dict[int, list[str]] = {1: [], -1: [], 0: []}
        for system, cell in cells.items():
            even = cells.get(system_name(report.model(system), spec.against[0]))
            if even and report.reading(system) not in spec.against:
                sides[apart(cell.bounds, even.bounds)].append(
                    f"{code(system)} ({number(cell.value)} against {number(even.value)})"
                )
        parts = [
            f"{verdict} `{spec.against[0]}`: {', '.join(sides[side])}"
            for side, verdict in ((1, "more than"), (-1, "less than"))
            if sides[side]
        ]
        if parts:
            yield f"{words}: {'; '.join(parts)}."


#: By the name that a section has.
RULES: dict[str, Callable[[Report, str, FindingSpec], Iterator[str]]] = {
    "best": best,
    "pairs": pairs,
    "changes": changes,
    "perplexity": perplexity,
    "family": family,
    "reading": reading,
    "readings": readings,
    "runtime": lambda report, *_: iter(runtime.findings(report)),
    "durations": lambda report, *_: iter(durations.findings(report)),
}
