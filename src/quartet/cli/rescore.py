"""`quartet rescore`: N-best lists reranked with a language model."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from quartet.cli.options import (
    BleuLowercaseOption,
    BleuTokenizationOption,
    CacheOption,
    DeviceOption,
    IntactOption,
    MetricOption,
    PrecisionOption,
    ScorerOption,
    UnknownOption,
    open_cache,
    progress,
    say_unknown,
)
from quartet.config.choices import ScoreMeaning, ScoreReduction
from quartet.errors import InputError
from quartet.paths import check_paths
from quartet.shipped_model import shipped_model
from quartet.user_files import STDOUT, dash_is_stdin, dash_is_stdout

if TYPE_CHECKING:
    from quartet.nbest.formats import IngestedLists, NBestFiles
    from quartet.nbest.rescoring import RescoredLists


#: How many missing utterances are named; "missing" in the output marks all.
SHOWN = 10


def rescore(
    nbest: Annotated[
        Path,
        typer.Option(
            help="N-best lists to rescore; -: standard input.", callback=dash_is_stdin, readable=False
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            help="Where the reranked lists go, as JSON lines; -: standard output.",
            callback=dash_is_stdout,
            readable=False,
        ),
    ],
    model: ScorerOption = None,
    tune: Annotated[
        Path | None,
        typer.Option(
            help="Lists with references on which the weight is chosen.",
            callback=dash_is_stdin,
            readable=False,
        ),
    ] = None,
    lm_weight: Annotated[
        float | None, typer.Option(help="The weight w in (1 - w) * first pass + w * language model.")
    ] = None,
    weight_step: Annotated[
        float | None,
        typer.Option(
            help="Choose of the weights 0, STEP, 2 STEP, ... and 1 alone [default: of all that there are].",
            metavar="STEP",
        ),
    ] = None,
    input_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="mlm-scoring, jsonl, espnet, hyporadise, moses, nemo or kaldi [default: told by the content]; "
            "packed files are fine.",
        ),
    ] = None,
    references: Annotated[
        Path | None,
        typer.Option(
            help="References of --nbest: JSON, TSV, CSV, TRN, STM, CTM, SGM, or text, a line an utterance.",
            callback=dash_is_stdin,
            readable=False,
        ),
    ] = None,
    tune_references: Annotated[
        Path | None,
        typer.Option(help="References of --tune, likewise.", callback=dash_is_stdin, readable=False),
    ] = None,
    scores: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE[=WEIGHT]", help="Costs beside the texts of --nbest (Kaldi); may be repeated."
        ),
    ] = None,
    tune_scores: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE[=WEIGHT]", help="Costs beside the texts of --tune, likewise."),
    ] = None,
    beam: Annotated[int | None, typer.Option(min=1, help="Hypotheses a list, for the format nemo.")] = None,
    skip_malformed: Annotated[
        bool, typer.Option("--skip-malformed", help="Leave malformed lists out, and say which and how many.")
    ] = False,
    skip_missing: Annotated[
        bool,
        typer.Option(
            "--skip-missing",
            help="Leave out utterances that have a reference and no list; else each counts as an empty hypothesis.",
        ),
    ] = False,
    scores_are: Annotated[
        ScoreMeaning | None,
        typer.Option(
            help="What the first pass's numbers are: scores, larger is better, or costs [default: as the format says]."
        ),
    ] = None,
    scoring: Annotated[
        ScoreReduction, typer.Option("--score", help="Sum or mean of a text's token log-probabilities.")
    ] = "sum",
    metric: MetricOption = "wer",
    bleu_tokenize: BleuTokenizationOption = "13a",
    bleu_lowercase: BleuLowercaseOption = False,
    lowercase: Annotated[
        bool | None, typer.Option(help="Lower the case of hypotheses and references [default: for WER, CER].")
    ] = None,
    strip_punctuation: Annotated[
        bool | None, typer.Option(help="Drop their punctuation [default: for WER, CER].")
    ] = None,
    device: DeviceOption = "cpu",
    precision: PrecisionOption = "fp32",
    intact: IntactOption = False,
    unknown: UnknownOption = "spread",
    cache: CacheOption = None,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="I/N",
            help="Score the I-th of N shares of the texts into --cache and write nothing: one of N processes. The same "
            "command without --shard then finds all scores.",
        ),
    ] = None,
    text_out: Annotated[
        Path | None,
        typer.Option(
            help="Where the chosen transcripts go too, as they stand in the lists, a line each.",
            callback=dash_is_stdout,
            readable=False,
        ),
    ] = None,
    ref_out: Annotated[
        Path | None,
        typer.Option(
            help="Where their references go, a line each; lists without one are then left out of both files.",
            callback=dash_is_stdout,
            readable=False,
        ),
    ] = None,
    counted_out: Annotated[
        Path | None,
        typer.Option(
            help="Where the same texts go as they were counted, without case and punctuation for WER and CER.",
            callback=dash_is_stdout,
            readable=False,
        ),
    ] = None,
    counted_ref_out: Annotated[
        Path | None,
        typer.Option(
            help="Where their references go as they were counted, likewise.",
            callback=dash_is_stdout,
            readable=False,
        ),
    ] = None,
) -> None:
    """Rerank N-best lists, with a weight that is given or chosen on other lists.

    Each line of the output is a list, in the order of the input: {"utt", "ref" if known, "best", "transcript",
    "hypotheses": [{"text", "first_pass", "lm", "score"}, ...] best first, "counted"}. The transcript is the best
    hypothesis as it stands in the lists; the other texts are as they were counted, and "counted" says how.

    Other tools have our figures of --counted-out and --counted-ref-out: jiwer -r REFS -h TEXTS (CER: with -c),
    sacrebleu REFS -i TEXTS.
    """
    import quartet
    from quartet.config.nbest import BleuSettings
    from quartet.nbest.formats import FORMATS, NBestFiles
    from quartet.nbest.metrics import metric_named, unspaced_words
    from quartet.nbest.normalise import Normalisation, default_normalisation
    from quartet.nbest.rerank import weight_grid
    from quartet.nbest.scores import texts_of
    from quartet.nbest.work_shares import WorkShare, score_share
    from quartet.scoring.unknown import UnknownTokensWarning, unknown_in

    if (tune is None) == (lm_weight is None):
        raise InputError(
            "quartet rescore", "the weight is needed once", "give either --tune LISTS or --lm-weight W"
        )
    if lm_weight is not None and not 0 <= lm_weight <= 1:
        raise InputError("--lm-weight", f"{lm_weight} is not between 0 and 1")
    if input_format is not None and input_format not in FORMATS:
        raise InputError(
            "--format", f"unknown format {input_format!r}", f"choose one of {', '.join(sorted(FORMATS))}"
        )
    if tune is None and (tune_references or tune_scores):
        raise InputError("--tune-references, --tune-scores", "mean nothing without --tune")
    if weight_step is not None and (tune is None or not 0 < weight_step <= 1):
        reason = (
            "means nothing without --tune" if tune is None else f"{weight_step} is not above 0 and at most 1"
        )
        raise InputError("--weight-step", reason)
    weights = None if weight_step is None else weight_grid(0.0, 1.0, weight_step)
    judge = metric_named(metric, BleuSettings(lowercase=bleu_lowercase, tokenize=bleu_tokenize))
    usual = default_normalisation(judge.name)
    normalise = Normalisation(
        usual.lowercase if lowercase is None else lowercase,
        usual.strip_punctuation if strip_punctuation is None else strip_punctuation,
    )
    test_files = NBestFiles(nbest, weighted(scores, "--scores"), references, beam)
    sets = {"--nbest": test_files}
    if tune is not None:
        sets["--tune"] = NBestFiles(tune, weighted(tune_scores, "--tune-scores"), tune_references, beam)
    reference = shipped_model() if model is None else model
    check_paths(
        named_paths(sets),
        [
            *(("--out", out), ("--text-out", text_out), ("--ref-out", ref_out)),
            *(("--counted-out", counted_out), ("--counted-ref-out", counted_ref_out)),
        ],
        cache,
        reference,
    )
    share = None if shard is None else WorkShare.parse(shard, "--shard")
    if share is not None and cache is None:
        raise InputError("--shard", "the scores would be lost", "give a --cache that all processes share")
    meaning: Literal["scores", "costs"] | None = None
    if scores_are is not None:
        meaning = "costs" if scores_are == "costs" else "scores"
    lists = {
        option: read_lists(input_format, files, skip_malformed, skip_missing, meaning)
        for option, files in sets.items()
    }
    scorer = quartet.load(reference, device, precision=precision)
    if share is not None:
        texts = texts_of(one for each in lists.values() for one in normalise.lists(each.lists))
        say_unknown(scorer.name, unknown_in(scorer, texts, unknown).share, unknown)
        with progress(f"{scorer.name}: hypotheses") as shown, open_cache(cache) as file:
            assert file is not None
            count = score_share(scorer, texts, share, file, not intact, shown)
        print(f"share {shard}: {count} of {len(texts)} hypotheses are scored -> {cache}", file=sys.stderr)
        return
    with progress(f"{scorer.name}: hypotheses") as shown, warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownTokensWarning)  # one line says it
        found = quartet.rescore(
            scorer,
            lists["--nbest"],
            weight=lm_weight,
            tune=lists.get("--tune"),
            weights=weights,
            metric=judge,
            normalise=normalise,
            score=scoring,
            masked=not intact,
            unknown=unknown,
            cache=cache,
            progress=shown,
        )
    say_unknown(scorer.name, found.unknown, unknown)
    found.write(out)
    short = found.write_texts(text_out, ref_out) + found.write_counted(counted_out, counted_ref_out)
    print(summary(found, tune, out), file=sys.stderr)
    if unspaced := unspaced_words(found.candidates.lists, judge):
        print(unspaced, file=sys.stderr)
    if found.in_tune:
        print(
            f"{found.in_tune} of the {len(found)} lists are among those of --tune: the weight is chosen on their "
            "references, and their figure is better than that of other lists",
            file=sys.stderr,
        )
    if short:
        print(
            f"{short} lines of text have fewer than two letters: jiwer's command leaves such lines out",
            file=sys.stderr,
        )


def named_paths(sets: dict[str, NBestFiles]) -> list[tuple[str, Path | None]]:
    """The files of the lists, each with the option that names it."""
    named: list[tuple[str, Path | None]] = []
    for option, files in sets.items():
        prefix = "--" if option == "--nbest" else f"{option}-"
        costs = [(f"{prefix}scores", path) for path, _ in files.scores]
        named += [(option, files.hypotheses), *costs, (f"{prefix}references", files.references)]
    return named


def weighted(texts: list[str] | None, option: str) -> tuple[tuple[Path, float], ...]:
    """Files of costs with their weights, from FILE or FILE=WEIGHT."""
    return tuple(file_and_weight(text, option) for text in texts or [])


def file_and_weight(text: str, option: str) -> tuple[Path, float]:
    """A file of costs and its weight. A = in the name of a folder is part of the name, and so is one in a file's.

    Raises:
        InputError: the weight is no finite number, or the text names two files that are there.
    """
    from quartet.nbest.formats.text_file import number_in

    name, equals, weight = text.rpartition("=")
    if not equals or "/" in weight or (Path(text).is_file() and not Path(name).is_file()):
        return dash_is_stdin(Path(text)) or Path(text), 1.0
    if Path(text).is_file():
        raise InputError(
            option, f"{name} and {text} are files: which?", f"write {text}=1 for the latter, or rename it"
        )
    return dash_is_stdin(Path(name)) or Path(name), number_in(weight, option, "weight")


def read_lists(
    name: str | None,
    files: NBestFiles,
    skip: bool,
    skip_missing: bool,
    scores_are: Literal["scores", "costs"] | None,
) -> IngestedLists:
    """The lists, with lines on stderr for entries that were refused, and for lists that are missing."""
    from quartet.nbest.formats import read
    from quartet.nbest.guards import stray_tokens

    reading = read(name, files, skip, skip_missing, scores_are)
    for error in (*reading.refused, *reading.references_refused):
        print(f"refused: {error}", file=sys.stderr)
    if skip:
        print(
            f"{files.hypotheses}: {reading.entries} lists in, {len(reading.lists)} read, "
            f"{len(reading.refused)} refused; {len(reading.references_refused)} references refused",
            file=sys.stderr,
        )
    if reading.missing:
        names = ", ".join(f'"{name}"' for name in reading.missing[:SHOWN])
        more = f" and {len(reading.missing) - SHOWN} more" if len(reading.missing) > SHOWN else ""
        print(
            f"{files.hypotheses}: {len(reading.missing)} of {len(reading.lists)} utterances have no list and count as "
            f"empty hypotheses: {names}{more}; --skip-missing leaves them out",
            file=sys.stderr,
        )
    for line in stray_tokens(reading.lists):
        print(f"{files.hypotheses}: {line}", file=sys.stderr)
    if skip_missing and reading.references_unused:
        print(
            f"{files.references}: {reading.references_unused} references without a list left out",
            file=sys.stderr,
        )
    return reading


def summary(found: RescoredLists, tune: Path | None, out: Path) -> str:
    """What was done, in a line."""
    from quartet.nbest.metrics import METRICS

    chosen = f", chosen on {tune}" if tune else ""
    place = "standard output" if out == STDOUT else out
    text = f"{len(found)} lists, weight {found.weight_text}{chosen} -> {place}"
    if found.first_pass is not None and found.value is not None:
        label = METRICS[found.candidates.table.metric.name].label
        text += f"; {label}: {found.first_pass:.2f} -> {found.value:.2f}"
        left_out = found.candidates.first_pass_selection.without_reference
        text += f" ({left_out} lists have no reference)" if left_out else ""
    if found.candidates.lists[0].ranked_only:
        text += "; no first-pass scores: the rank stands for them"
    return text
