"""Our figures beside the language models of the Segatron paper (Bai et al. 2021): Tables 1 and 2, Figures 2 to 4."""

from __future__ import annotations

from quartet.report import loss as losses
from quartet.report.cells import Cell
from quartet.report.facts import ModelFacts
from quartet.report.numbers import fixed, loss, signed_points
from quartet.report.numbers import perplexity as perplexity_number
from quartet.report.order import set_rank
from quartet.report.papers.series import FigureLevel, Series, present
from quartet.report.published import published_figures
from quartet.report.run_report import Report, code

#: Rows that a set of positions stands for in Table 2.
POSITIONS = {
    frozenset({"sequence"}): "token",
    frozenset({"token"}): "token",
    frozenset({"token", "paragraph"}): "token-paragraph",
    frozenset({"token", "sentence"}): "token-sentence",
    frozenset({"token", "sentence", "paragraph"}): "token-sentence-paragraph",
}
#: From so many parameters on our two models stand beside the paper's large ones.
LARGE = 200_000_000
#: The paper's corpus, as our presets call it.
CORPUS = "wikitext-103"
#: Tokenizers whose tokens are the words that the corpus is cut into, as the paper counts them.
WORDS = ("whitespace",)
INPUT_LENGTH, TRAINING = "input-length", "training"
TOKENS = "-tokens"
RESET = "index reset"
signed_loss = fixed(3, sign=True)


def wikitext(report: Report) -> list[Series]:
    """Table 1: perplexity per token of the models with and without segments, on each corpus."""
    table = published_figures().tables["segatron-wikitext103"]
    found = []
    for dataset, split in report.groups(losses.TABLE):
        ours: dict[str, Cell] = {}
        printed: dict[str, float] = {}
        for model in _recurrent(report):
            cell = report.find(losses.TABLE, dataset, split, model.name, "ppl")
            if cell is None or len(model.positions) == 2:
                continue
            row = _row(model, dataset)
            ours[row] = cell
            size = "large" if model.parameters >= LARGE else "base"
            value = table.get(f"{row}-{size}", "ppl")
            if value is not None:
                printed[row] = value
        base, aware = printed.get("transformer-xl"), printed.get("segatron-xl")
        changes = {}
        if base and aware:
            change = 100 * (aware / base - 1)
            changes = {(name, "transformer-xl"): change for name in ours if name.startswith("segatron-xl")}
        if ours:
            found.append(_perplexities(report, dataset, split, "WikiText-103 test", ours, printed, changes))
    return found


def positions(report: Report) -> list[Series]:
    """Table 2: by the positions that a model sees, one index and exact offsets throughout."""
    table = published_figures().tables["segatron-position-ablation"]
    printed = table.column("ppl")
    found = []
    for dataset, split in report.groups(losses.TABLE):
        ours: dict[str, Cell] = {}
        for model in _recurrent(report):
            row = POSITIONS.get(frozenset(model.positions))
            cell = report.find(losses.TABLE, dataset, split, model.name, "ppl")
            if row and cell and not model.leaks and RESET not in model.variant:
                ours.setdefault(row, cell)
        if len(ours) > 1:
            found.append(_perplexities(report, dataset, split, table.title, ours, printed, {}))
    return found


def input_lengths(report: Report) -> list[Series]:
    """Figure 3: the two models at inputs of so many tokens; the paper prints no numbers."""
    found = []
    by_length = sorted(report.groups(INPUT_LENGTH), key=lambda group: int(group[1].removesuffix(TOKENS)))
    for dataset, split in sorted(by_length, key=lambda group: set_rank(group[0], report.facts)):
        ours = {
            _row(model, dataset): cell
            for model in _recurrent(report)
            if (cell := report.find(INPUT_LENGTH, dataset, split, model.name, "ppl"))
        }
        if ours:
            on = f"{code(dataset)}, {split.removesuffix(TOKENS)} tokens a window, perplexity"
            found.append(
                Series(ours_on=on, printed_on="", ours=ours, printed={}, number=perplexity_number,
                       signed=signed_points)
            )  # fmt: skip
    return found


def causal_losses(report: Report) -> list[Series]:
    """Figure 2: where the validation losses of the two language models ended."""
    return _losses(report, ("transformer-xl", "segatron-xl"))


def masked_losses(report: Report) -> list[Series]:
    """Figure 4: where the validation losses of the two masked models ended."""
    return _losses(report, ("bert-", "segabert"))


def _losses(report: Report, names: tuple[str, str]) -> list[Series]:
    found = []
    for dataset, split in report.groups(TRAINING):
        ours = present(
            (_row(model, dataset), report.find(TRAINING, dataset, split, model.name, "loss"))
            for model in report.facts.models
            if _row(model, dataset) in names
        )
        if len(ours) == len(names):
            found.append(
                Series(
                    ours_on=f"{code(dataset)} {split}, nats per token at the end",
                    printed_on="",
                    ours=ours,
                    printed={},
                    number=loss,
                    signed=signed_loss,
                )
            )
    return found


def _row(model: ModelFacts, dataset: str) -> str:
    """What the paper's tables would call a model: one named for its corpus, "segatron-xl-books", without that."""
    return model.name.removesuffix(f"-{dataset}")


def _recurrent(report: Report) -> list[ModelFacts]:
    return [model for model in report.facts.models if model.architecture == "transformer-xl"]


def _perplexities(
    report: Report,
    dataset: str,
    split: str,
    printed_on: str,
    ours: dict[str, Cell],
    printed: dict[str, float],
    changes: dict[tuple[str, str], float],
) -> Series:
    kinds = {one.name: one.kind for one in report.facts.tokenizers}
    words = all(kinds.get(model.tokenizer) in WORDS for model in _recurrent(report))
    systems = {row: cell.rows[0].system for row, cell in ours.items()}

    def paired(first: str, second: str) -> FigureLevel | None:
        if first not in systems or second not in systems:
            return None
        return losses.change(report, dataset, split, systems[first], systems[second])

    return Series(
        ours_on=f"{code(dataset)} {split}, perplexity per token",
        printed_on=printed_on,
        ours=ours,
        printed=printed,
        number=perplexity_number,
        signed=signed_points,
        same=dataset == CORPUS and words,
        changes=changes,
        paired=paired,
        paired_kind="relative",
    )
