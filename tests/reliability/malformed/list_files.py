"""N-best lists and the files that they come with: those that do not go together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from quartet.nbest.formats import NBestFiles, read
from tests.reliability.malformed.case import Case
from tests.reliability.malformed.rows import valid


def reader(form: str, files: NBestFiles) -> Callable[[Path], object]:
    def found(folder: Path) -> object:
        placed = NBestFiles(
            folder / files.hypotheses,
            tuple((folder / path, weight) for path, weight in files.scores),
            None if files.references is None else folder / files.references,
            files.beam,
        )
        return read(form, placed)

    return found


def cases() -> Iterator[Case]:
    lists, kaldi = valid("nbest/mlm-scoring"), valid("nbest/kaldi")
    moses = b"0 ||| the cat ||| f= 1 ||| -1.5\n3 ||| a cat ||| f= 1 ||| -2.5\n"
    together: dict[str, tuple[str, NBestFiles, dict[str, bytes], str]] = {
        "costs of a format without": (
            "mlm-scoring",
            NBestFiles(Path("a"), ((Path("b"), 1.0),)),
            {"a": lists, "b": b"u1-1 1\n"},
            "has its scores in the same file",
        ),
        "a beam of a format without": (
            "mlm-scoring",
            NBestFiles(Path("a"), beam=2),
            {"a": lists},
            "tells its hypotheses",
        ),
        "no beam of a format with": (
            "nemo",
            NBestFiles(Path("a")),
            {"a": b"a\t-1\n"},
            "needs to be told the beam",
        ),
        "a cost too few": (
            "kaldi",
            NBestFiles(Path("a"), ((Path("b"), 1.0),)),
            {"a": kaldi, "b": b"u1-1 1.5\n"},
            'b: has no line "u1-2"',
        ),
        "a cost too many": (
            "kaldi",
            NBestFiles(Path("a"), ((Path("b"), 1.0),)),
            {"a": kaldi, "b": b"u1-1 1\nu1-2 2\nu1-3 3\n"},
            'a: has no line "u1-3"',
        ),
        "a cost that is none": (
            "kaldi",
            NBestFiles(Path("a"), ((Path("b"), 1.0),)),
            {"a": kaldi, "b": b"u1-1 one\nu1-2 2\n"},
            'b:1: a finite number was expected as the cost, not "one"',
        ),
        "costs that overflow": (
            "kaldi",
            NBestFiles(Path("a"), ((Path("b"), 1e300),)),
            {"a": kaldi, "b": b"u1-1 1e300\nu1-2 2\n"},
            "u1.*finite",
        ),
        "fewer references than sentences": (
            "moses",
            NBestFiles(Path("a"), references=Path("b")),
            {"a": moses, "b": b"the cat\na cat\n"},
            r"b: has 2 lines, and the lists go up to number 3",
        ),
        "another number of references": (
            "nemo",
            NBestFiles(Path("a"), references=Path("b"), beam=1),
            {"a": b"the cat\t-1\n", "b": b"the cat\na cat\n"},
            "b: has 2 lines for 1 lists",
        ),
    }
    for what, (form, files, texts, says) in together.items():
        yield Case("nbest/files", what, texts, reader(form, files), says)
