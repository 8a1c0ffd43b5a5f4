"""An n-gram model of others: an ARPA file, or a binary that KenLM made of one."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quartet.config.ngram import TokenConfig
from quartet.errors import InputError
from quartet.files import sha256
from quartet.ngram.arpa import GZIP, PACKED, begins_as_arpa, has_arpa
from quartet.ngram.score import BINARY, NgramLM, load, open_arpa
from quartet.ngram.tokens import UNKNOWN, Splitter, splitter
from quartet.scoring.engine import as_pickled

#: The logarithm to the base of 10 that KenLM makes up for unknown words where a file has none.
MADE_UP = -99.0
#: Words are what white space separates: marks belong to them, as they do in most files.
TOKENS = TokenConfig(units="words", lowercase=False, punctuation="keep")


@dataclass(frozen=True, kw_only=True)
class NgramFileCard:
    """What is known of such a file.

    Attributes:
        name: of the file.
        order: words of the longest n-grams.
        sha256: of the file.
    """

    name: str
    order: int
    sha256: str

    @property
    def scale(self) -> str:
        """One line that goes beside every figure of this model."""
        return f"{self.order}-gram of words, file {self.sha256[:12]}"

    def to_json(self) -> dict[str, Any]:
        """All that decides the scores."""
        return {**dataclasses.asdict(self), "tokens": dataclasses.asdict(TOKENS), "case": "as known"}


def load_file(path: str | Path, seed: int = 0) -> NgramLM:
    """Open an ARPA file, plain or gzipped, or a binary of KenLM.

    A text's words are what white space separates. A word that the file lacks is looked up in lower case, then in upper
    case: many such files have one case alone.

    Raises:
        InputError: the file is neither, is broken, has no probability of unknown words, or KenLM is not installed.
    """
    path = Path(path)
    try:
        with open(path, "rb") as file:
            start = file.read(len(BINARY))
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})") from error
    for magic, (kind, command) in PACKED.items():
        if start.startswith(magic):
            raise InputError(path, f"is packed with {kind}, which KenLM does not read", f"{command} {path}")
    if start != BINARY and not begins_as_arpa(path):
        if has_arpa(path):
            reason = "KenLM reads no ARPA file with other text before its line \\data\\"
            program = r"s/^.*\\data\\/\\data\\/; /^\\data\\/,$p"
            shown = "zcat" if start.startswith(GZIP) else "cat"
            raise InputError(path, reason, f"cut it off: {shown} {path} | sed -n '{program}' > NEW")
        reason = "is neither an ARPA file nor a binary that KenLM made of one"
        raise InputError(path, reason, "give such a file, or the folder of a model")
    model = open_arpa(path)
    ((unknown, _, _),) = model.full_scores(UNKNOWN, bos=False, eos=False)
    if unknown < MADE_UP:
        reason = f"has no {UNKNOWN}: unknown words have no probability"
        raise InputError(path, reason, "make the file anew from an ARPA file that has one")
    return NgramLM(
        model,
        in_known_case(model, splitter(TOKENS)),
        NgramFileCard(name=path.name, order=model.order, sha256=sha256(path)),
        path,
        seed,
    )


def reopen_ngram(place: Path, fingerprint: str, seed: int) -> NgramLM:
    """The model that was pickled, from its file or folder.

    Raises:
        InputError: as :func:`load_file` and :func:`quartet.ngram.score.load`, or it is another one.
    """
    found = load_file(place, seed) if place.is_file() else load(place, seed)
    return as_pickled(found, place, fingerprint)


def in_known_case(model: Any, split: Splitter) -> Splitter:
    """Words as a model of KenLM knows them, and as they are where it knows them in no case."""

    def known(word: str) -> str:
        return next((form for form in (word, word.lower(), word.upper()) if form in model), word)

    return lambda text: [known(word) for word in split(text)]
