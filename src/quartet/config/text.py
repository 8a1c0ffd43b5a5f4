"""Text as it comes and what is made of it: sources, corpora, sentences, tokenizers."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Discriminator, Field, PlainSerializer, Tag
from pydantic.dataclasses import dataclass

from quartet.config.types import STRICT, ProperShare, Size, Text

Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
#: Tags are parts of pydantic's names for places; what begins so is left out of messages, see `loading.checked`.
WORD, MAP = "literal[word]", "literal[map]"
#: What a vocabulary is of: frequent pieces, words, or whatever stands between blanks.
Pieces = Literal["wordpiece", "word", "whitespace"]
SplitName = Literal["train", "valid", "test"]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Source:
    """One thing to fetch: ``package://…``, ``https://…``, ``hub://owner/name@revision/path`` or a path.

    ``sha256`` may be null for a path, and on the hub, where the revision stands for the content.
    """

    source: Text
    sha256: Sha256 | None

    def __post_init__(self) -> None:
        if self.sha256 is None and "://" in self.source and not self.source.startswith("hub://"):
            raise ValueError(
                f"sha256 is needed for {self.source}: only local files, folders and the hub may go without"
            )


@dataclass(frozen=True, kw_only=True, config=STRICT)
class HubConfig:
    """The key ``kind`` of a corpus that is a data set in the shape of those on the hub.

    Attributes:
        rows: ``documents``: each row is one, blank lines separate its paragraphs; ``wikitext``: each is a line of
            WikiText (see `wikitext_corpus`); ``lines``: each is a sentence (see `plain.draft_lines`).
        text: the column that is read.
        title, id: columns of a document; without them its number in its split.
        config: the configuration, where the data set's README.md gives several.
        splits: which split of the data set is which of ours; others are not read. None: all are, by their own names.
    """

    name: Literal["hub"] = "hub"
    rows: Literal["documents", "wikitext", "lines"] = "documents"
    text: Text = "text"
    title: Text | None = None
    id: Text | None = None
    config: Text | None = None
    splits: dict[SplitName, Text] | None = None

    def __post_init__(self) -> None:
        for key in ("title", "id"):
            if self.rows != "documents" and getattr(self, key) is not None:
                raise ValueError(f"{key} means nothing where rows are {self.rows}: take it out")


def _hub(value: object) -> object:
    """``hub`` alone stands for a data set of which nothing is to be said."""
    return {"name": "hub"} if value == "hub" else value


def _kind_form(value: Any) -> str:
    return MAP if isinstance(value, dict | HubConfig) else WORD


#: The kinds of raw text that one word names.
CorpusKindName = Literal["wikipedia", "text", "lines", "sentences", "wikitext", "hub"]

CorpusKind: TypeAlias = Annotated[
    Annotated[CorpusKindName, Tag(WORD)] | Annotated[HubConfig, Tag(MAP)],
    Discriminator(_kind_form),
    BeforeValidator(_hub),
]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class SplitShares:
    """Shares of the documents that are kept for validation and test."""

    valid: ProperShare
    test: ProperShare

    def __post_init__(self) -> None:
        if self.valid + self.test >= 1:
            raise ValueError(f"valid {self.valid} and test {self.test} leave nothing to train on")


def _shares_or_given(value: object) -> object:
    """``given`` as None, which nobody can write."""
    if not isinstance(value, dict) and value != "given":
        raise ValueError("shares, {valid: ..., test: ...}, or given were expected")
    return None if value == "given" else value


def _as_written(split: SplitShares | None) -> object:
    return "given" if split is None else dataclasses.asdict(split)


@dataclass(frozen=True, kw_only=True, config=STRICT)
class CorpusEntry(Source):
    """An entry of ``corpora:``.

    Attributes:
        kind: a word, or for a data set in the shape of those on the hub what its rows are.
        split: None where the file says ``given``: the corpus brings its splits, as ``wikitext`` always does and a
            folder of texts does in its folders ``train``, ``valid`` and ``test``.
        limit: the number of documents that are read (0: all); of each split where they are given.
    """

    kind: CorpusKind
    language: Text
    license: Text
    split: Annotated[SplitShares | None, BeforeValidator(_shares_or_given), PlainSerializer(_as_written)]
    limit: Size

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind == "wikitext" and self.split is not None:
            raise ValueError("kind wikitext brings its own splits: write split: given")
        if self.kind in ("wikipedia", "lines", "sentences") and self.split is None:
            raise ValueError(f"kind {self.kind} has no splits: write their shares")


@dataclass(frozen=True, kw_only=True, config=STRICT)
class TokenizerEntry:
    """An entry of ``tokenizers:``: trained on the training split of ``corpus``, or the vocabulary of a BERT.

    ``vocab_size``, ``lowercase`` and ``strip_accents`` are for what is trained. ``source`` is for kind ``pretrained``:
    a folder or ``owner/name@revision``; ``corpus`` is then the one that the vocabulary is used with, and decides
    nothing.
    """

    kind: Literal[Pieces, "pretrained"]
    corpus: Text
    vocab_size: Annotated[int, Field(ge=32)] | None = None
    lowercase: bool | None = None
    source: Text | None = None
    strip_accents: bool = False

    def __post_init__(self) -> None:
        trained = {"vocab_size": self.vocab_size, "lowercase": self.lowercase}
        taken = {"source": self.source}
        wanted, unwanted = (taken, trained) if self.kind == "pretrained" else (trained, taken)
        for key, value in wanted.items():
            if value is None:
                raise ValueError(f"kind {self.kind} needs {key}")
        for key, value in unwanted.items():
            if value is not None:
                raise ValueError(f"{key} means nothing for kind {self.kind}: take it out")
        if self.strip_accents and self.kind in ("pretrained", "whitespace"):
            raise ValueError(f"strip_accents means nothing for kind {self.kind}: take it out")


@dataclass(frozen=True, kw_only=True, config=STRICT)
class PunktSource(Source):
    """A Punkt model of the user's, see :func:`quartet.text.punkt_model.read_model`.

    Its sha256 is needed for a path too: the stages depend on that and not on the file, which may lie anywhere.
    """

    sha256: Sha256 | None = None

    def __post_init__(self) -> None:
        if self.sha256 is None:
            raise ValueError(
                f"sha256 is needed for {self.source}: `sha256sum FILE` prints that of a zip, "
                "`(cd FOLDER && sha256sum * | sha256sum)` that of a folder"
            )


def _punkt_form(value: Any) -> str:
    return MAP if isinstance(value, dict | PunktSource) else WORD


@dataclass(frozen=True, kw_only=True, config=STRICT)
class SegmentationSettings:
    """How NLTK's Punkt finds sentences.

    Attributes:
        punkt: ``published``, NLTK's model of the corpus's language; ``trained`` on the corpus; or the user's model.
        curated: add the curated abbreviations of the language to any of them.
    """

    punkt: Annotated[
        Annotated[Literal["published", "trained"], Tag(WORD)] | Annotated[PunktSource, Tag(MAP)],
        Discriminator(_punkt_form),
    ] = "published"
    curated: bool = True


@dataclass(frozen=True, kw_only=True, config=STRICT)
class ExecutorSettings:
    """Who segments and encodes text, and nothing about what comes out: no stage tracks it.

    Attributes:
        kind: ``local``: processes of this machine, as many as ``workers`` says; ``dask``: a cluster's workers.
        address: of the cluster's scheduler, such as ``tcp://node0:8786``.
    """

    kind: Literal["local", "dask"] = "local"
    address: str = ""

    def __post_init__(self) -> None:
        if self.kind == "dask" and not self.address:
            raise ValueError(
                "kind dask needs the address of the cluster's scheduler, such as tcp://node0:8786"
            )
        if self.kind == "local" and self.address:
            raise ValueError("address means nothing for kind local: take it out, or write kind: dask")

    @property
    def scheduler(self) -> str | None:
        """The cluster's scheduler; None for local processes."""
        return self.address or None
