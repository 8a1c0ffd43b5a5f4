"""The reranked lists as JSON lines: one list a line, in the input's order, its hypotheses best first."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from quartet.config.nbest import BleuSettings
from quartet.errors import InputError
from quartet.files import json_line
from quartet.nbest.formats import strict, text_file
from quartet.nbest.metrics import Metric, bleu_settings
from quartet.nbest.normalise import Normalisation
from quartet.nbest.rerank import Candidates
from quartet.nbest.types import NBest
from quartet.user_files import open_for_writing

REMEDY = "take what quartet rescore wrote"
LINE_BREAK = re.compile(r"\s*[\r\n]+\s*")


@dataclass(frozen=True)
class CountingRule:
    """What the texts of a result were made for.

    Attributes:
        metric: its name.
        normalise: what was done to hypotheses and references.
        bleu: sacrebleu's settings, of BLEU alone; None: it does not say.
        own: the class of a normaliser of one's own; "": none.
    """

    metric: str
    normalise: Normalisation
    bleu: BleuSettings | None = None
    own: str = ""

    @classmethod
    def made(cls, metric: Metric, normalise: Normalisation) -> CountingRule:
        """The rule of texts that are made now."""
        settings = {each.name: getattr(normalise, each.name) for each in dataclasses.fields(Normalisation)}
        kind = type(normalise)
        return cls(
            metric.name,
            Normalisation(**settings),
            bleu_settings(metric),
            "" if kind is Normalisation else f"{kind.__module__}.{kind.__qualname__}",
        )

    def as_object(self) -> dict[str, Any]:
        """Its JSON."""
        own = {"normaliser": self.own} if self.own else {}
        bleu = {"bleu": asdict(self.bleu)} if self.bleu else {}
        return {"metric": self.metric, **asdict(self.normalise), **bleu, **own}

    @classmethod
    def of(cls, value: Any, place: str) -> CountingRule:
        """The rule that a JSON object is.

        Raises:
            InputError: it is none.
        """
        fields = strict.unique(value, place)
        metric = strict.text_of(fields.pop("metric", None), f"{place}, metric")
        own = strict.text_of(fields.pop("normaliser", ""), f"{place}, normaliser")
        bleu = _bleu_of(fields.pop("bleu"), f"{place}, bleu") if "bleu" in fields else None
        names = {each.name for each in dataclasses.fields(Normalisation)}
        if fields.keys() != names or not all(isinstance(each, bool) for each in fields.values()):
            raise InputError(place, f"{', '.join(sorted(names))} were expected, true or false", REMEDY)
        return cls(metric, Normalisation(**fields), bleu, own)

    def __str__(self) -> str:
        done = {
            "in lower case": self.normalise.lowercase,
            "without punctuation": self.normalise.strip_punctuation,
        }
        how = [name for name, is_so in done.items() if is_so] or ["as they were"]
        if self.bleu:
            how.append(f"tokenizer {self.bleu.tokenize}{', its case lowered' if self.bleu.lowercase else ''}")
        if self.own:
            how.append(f"normaliser {self.own}")
        return f"{self.metric} ({', '.join(how)})"


def _bleu_of(value: Any, place: str) -> BleuSettings:
    fields = strict.unique(value, place)
    try:
        return BleuSettings(**fields)
    except (TypeError, ValueError) as error:
        raise InputError(place, "lowercase and tokenize of sacrebleu were expected", REMEDY) from error


@dataclass(frozen=True)
class RescoredLine:
    """A line of a written result.

    Attributes:
        utterance, reference, best: as written.
        lm: by text, the language model's score of each hypothesis.
        counted: what its texts were made for; None: it does not say, as results of version 0.1.0 do not.
    """

    utterance: str
    reference: str | None
    best: str
    lm: dict[str, float]
    counted: CountingRule | None = None


def rescored_rows(
    candidates: Candidates,
    weight: float,
    normalise: Normalisation,
    given: Sequence[NBest] | None = None,
    missing: Collection[str] = (),
) -> Iterator[dict[str, Any]]:
    """One row a list: "utt", "ref" if known, "best", "hypotheses" ("text", "first_pass", "lm", "score"), "counted".

    The texts are those of the lists as they were scored and counted, so that another tool's word error rate
    of "best" against "ref" is the reported one. Where the first pass gave no scores, "first_pass" is minus
    the rank.

    Args:
        normalise: what was done to the lists' texts; with the metric it is "counted", see `CountingRule`.
        given: the same lists before they were normalised; "transcript" is then the chosen text as it stands there.
        missing: utterances whose list was lost; their rows have "missing": true.
    """
    counted = CountingRule.made(candidates.table.metric, normalise).as_object()
    scores = candidates.scores(weight)
    offsets = candidates.table.offsets
    sources = [None] * len(candidates.lists) if given is None else given
    rows = zip(candidates.lists, sources, offsets[:-1], candidates.ranking(weight), strict=True)
    for one, source, start, order in rows:
        hypotheses = [
            {
                "text": one.hypotheses[index].text,
                "first_pass": float(candidates.first_pass[start + index]),
                "lm": float(candidates.lm[start + index]),
                "score": float(scores[start + index]),
            }
            for index in order
        ]
        known = {} if one.reference is None else {"ref": one.reference}
        row = {"utt": one.utterance, **known, "best": hypotheses[0]["text"]}
        if source is not None:
            row["transcript"] = source.hypotheses[order[0]].text
        if one.utterance in missing:
            row["missing"] = True
        yield {**row, "hypotheses": hypotheses, "counted": counted}


def write_rescored(
    path: str | Path,
    candidates: Candidates,
    weight: float,
    normalise: Normalisation,
    given: Sequence[NBest] | None = None,
    missing: Collection[str] = (),
) -> None:
    """Write what `rescored_rows` gives as `quartet.user_files.open_for_writing` does; equal input gives equal bytes."""
    with open_for_writing(path) as file:
        file.writelines(map(json_line, rescored_rows(candidates, weight, normalise, given, missing)))


def write_texts(
    pairs: Iterable[tuple[str, str | None]], texts: str | Path | None, references: str | Path | None = None
) -> int:
    """Write chosen texts, a line each, and their references likewise: plain text. A line break in one is a space.

    With references, both files have the lists that have one, so that their lines go together: what
    ``jiwer -r REFERENCES -h TEXTS`` and ``sacrebleu REFERENCES -i TEXTS`` want, whose figures of texts as they were
    counted are then ours.
    (jiwer's command, as of version 4, drops lines of fewer than two letters from either file. Where there is one,
    its figure is of other lines, and only its Python functions give ours.)

    Args:
        pairs: a text and its reference, None where it has none.
        texts, references: where they go; None: nowhere.

    Returns:
        How many lines have fewer than two letters.
    """
    kept = [pair for pair in pairs if references is None or pair[1] is not None]
    short = 0
    for path, part in ((texts, 0), (references, 1)):
        if path is not None:
            lines = [LINE_BREAK.sub(" ", pair[part] or "") for pair in kept]
            with open_for_writing(path) as file:
                file.writelines(f"{line}\n" for line in lines)
            short += sum(len(line) < 2 for line in lines)
    return short


def read_rescored(path: str | Path) -> list[RescoredLine]:
    """The lines of a written result, in its order.

    Raises:
        InputError: a line is none, or an utterance occurs twice; it names the line.
    """
    found: list[RescoredLine] = []
    seen: set[str] = set()
    for number, line in text_file.lines(path, closed=False):
        place = f"{path}:{number}"
        if isinstance(line, InputError):
            raise line
        if not line.strip(text_file.BLANK):
            continue
        try:
            fields = strict.unique(strict.parse(line, path, number), place)
        except InputError as error:
            raise InputError(error.place, error.reason, REMEDY) from error
        one = _row(fields, place)
        if one.utterance in seen:
            raise InputError(place, f'utterance "{one.utterance}" occurs twice')
        seen.add(one.utterance)
        found.append(one)
    if not found:
        raise InputError(path, "holds no list")
    return found


def _row(fields: dict[str, Any], place: str) -> RescoredLine:
    for key in ("utt", "best", "hypotheses"):
        if key not in fields:
            raise InputError(place, f'has no "{key}"', REMEDY)
    lm = {}
    for index, entry in enumerate(strict.elements(fields["hypotheses"], f"{place}, hypotheses"), start=1):
        inner = f"{place}, hypothesis {index}"
        hypothesis = strict.unique(entry, inner)
        text = strict.text_of(hypothesis.get("text"), f"{inner}, text")
        lm[text] = strict.score_of(hypothesis.get("lm"), f"{inner}, lm")
    best = strict.text_of(fields["best"], f"{place}, best")
    if best not in lm:
        raise InputError(place, '"best" is none of its hypotheses')
    utterance = strict.text_of(fields["utt"], f"{place}, utt")
    counted = CountingRule.of(fields["counted"], f"{place}, counted") if "counted" in fields else None
    return RescoredLine(utterance, strict.reference_of(fields, place), best, lm, counted)
