"""Baselines of one vector a word: from a file (GloVe, Word2Vec), or trained on the models' own token ids.

A text's vector is the mean over its words (T-TA paper, Table 3).
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from quartet.arguments import checked_texts
from quartet.config.evaluation import VectorFormat, Word2VecSettings
from quartet.errors import InputError
from quartet.statistics.intervals import Floats
from quartet.statistics.perplexity import TokenIds

#: What gensim raises at files that are broken or of another format.
_BROKEN = (
    *(ValueError, EOFError, KeyError, IndexError, TypeError, AttributeError),
    *(MemoryError, OverflowError, OSError, zlib.error),
)
#: Bytes of a line or a word, and numbers of a vector: more is another kind of file.
LONGEST, MOST_NUMBERS, BLOCK = 1 << 20, 1 << 16, 1 << 20


@dataclass(frozen=True)
class TextVectors:
    """The vectors of T texts, and how much of them they stand on.

    Attributes:
        means: (T, d) the mean of the known words' vectors; zeros where no word is known.
        words: in all texts, repeated ones counted again.
        known: how many of them have a vector.
    """

    means: Floats
    words: int
    known: int


class WordVectors:
    """Vectors by word.

    A text is cut into words by NLTK's Treebank rules, as one sentence: marks stand apart, "don't" becomes "do" and
    "n't". Words without a vector are left out of the mean, and counted.

    Args:
        keyed: gensim's KeyedVectors.
        lowercase: lower-case texts first, for vectors of lower-cased words.
    """

    def __init__(self, keyed: Any, lowercase: bool) -> None:
        from nltk.tokenize import TreebankWordTokenizer

        self._keyed = keyed
        self._lowercase = lowercase
        self._tokenizer = TreebankWordTokenizer()

    @property
    def scale(self) -> str:
        """One line that goes beside every figure of these vectors."""
        case = "lower-cased" if self._lowercase else "case kept"
        return f"{len(self._keyed):,} words, {self._keyed.vector_size} dimensions, Treebank words, {case}"

    def words(self, text: str) -> list[str]:
        """The words of a text, as they are looked up."""
        found: list[str] = self._tokenizer.tokenize(text.lower() if self._lowercase else text)
        return found

    def embed(self, texts: Sequence[str]) -> TextVectors:
        """The mean vector of each text."""
        texts = checked_texts(texts)
        means = np.zeros((len(texts), self._keyed.vector_size))
        words = known = 0
        for row, text in enumerate(texts):
            found = self.words(text)
            rows = [self._keyed.key_to_index[word] for word in found if word in self._keyed.key_to_index]
            words, known = words + len(found), known + len(rows)
            if rows:
                means[row] = self._keyed.vectors[rows].mean(axis=0, dtype=np.float64)
        return TextVectors(means, words, known)


def load_vectors(path: str | Path, form: VectorFormat, lowercase: bool) -> WordVectors:
    """Read a file of word vectors; text may be gzipped (.gz). Of a word that occurs again the first vector counts.

    Args:
        path: the file.
        form: how it is written.
        lowercase: whether texts are lower-cased before they are looked up.

    Raises:
        InputError: the file is missing, broken or of another format, or a vector is not finite.
    """
    from gensim.models import KeyedVectors

    path = Path(path)
    try:
        if form == "glove":
            keyed = _read_glove(path, *_check_lines(path, headed=False))
        else:
            if form == "word2vec":
                _check_lines(path, headed=True)
            else:
                _check_binary(path)
            keyed = KeyedVectors.load_word2vec_format(str(path), binary=form == "word2vec-binary")
    except InputError:
        raise
    except _BROKEN as error:
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise InputError(
            path, f"cannot be read as word vectors of the format {form} ({reason})", "check its format"
        ) from error
    if not len(keyed):
        raise InputError(path, "holds no word vectors")
    if not np.isfinite(keyed.vectors).all():
        raise InputError(path, "holds a vector that is not finite")
    return WordVectors(keyed, lowercase)


def _opened(path: Path) -> IO[bytes]:
    """The bytes of a file, unpacked where its name ends in .gz."""
    return gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb")  # type: ignore[return-value]


def _check_lines(path: Path, headed: bool) -> tuple[int, int]:
    """The number of words and that of numbers in a vector, which all lines share: of one gensim would make a vector.

    Without a first line that tells them a word may hold blanks, as ". . ." and "at name@domain.com" of glove.840B do,
    but no number behind one. A first line must tell the right ones: gensim leaves out what is more.

    Raises:
        InputError: a line has another number of numbers, or is none of text.
    """
    cells = number = 0
    stated: tuple[int, int] | None = None
    with _opened(path) as file:
        while line := file.readline(LONGEST + 1):
            number += 1
            place = f"{path}:{number}"
            if len(line) > LONGEST:
                raise InputError(
                    place, f"a line of more than {LONGEST >> 20} MiB", "this is no file of word vectors"
                )
            if b"\0" in line:
                raise InputError(place, "a NUL byte", "the file is damaged, or is no text")
            found = line.rstrip().count(b" ")
            if headed and number == 1:
                stated = _header(line, path)
            elif number == 1 + headed:
                cells = found
                if not cells:
                    raise InputError(place, "a word, a blank and numbers were expected", "check its format")
            elif found < cells or (
                found > cells and (headed or not _is_word(line.split(b" ")[: found - cells + 1]))
            ):
                raise InputError(place, f"{found} numbers, {cells} were expected")
    if stated and stated != (number - 1, cells):
        words = f"holds {number - 1} words of {cells} numbers, its first line says {stated[0]} of {stated[1]}"
        raise InputError(path, words, "fetch it again")
    return number - headed, cells


def _is_word(parts: Sequence[bytes]) -> bool:
    """Whether what stands between blanks may be one word: there is no number in it but at its start."""
    for part in parts[1:]:
        try:
            float(part)
        except ValueError:
            continue
        return False
    return True


def _read_glove(path: Path, words: int, numbers: int) -> Any:
    """The vectors of a checked file: the last numbers of each line, and before them the word."""
    from gensim.models import KeyedVectors

    rows: dict[str, int] = {}
    table = np.empty((words, numbers), dtype=np.float32)
    with _opened(path) as file, np.errstate(over="ignore"):  # what is too large is refused as infinite
        for line in file:
            word, *values = line.rstrip().decode().rsplit(" ", numbers)
            row = len(rows)
            if rows.setdefault(word, row) == row:
                table[row] = np.array(values).astype(np.float32)
    keyed = KeyedVectors(numbers)
    if rows:
        keyed.add_vectors(list(rows), table[: len(rows)])
    return keyed


def _header(line: bytes, path: Path) -> tuple[int, int]:
    """The number of words, and that of numbers in a vector."""
    parts = line.split()
    if len(parts) != 2 or not all(part.isdigit() and len(part) < 12 for part in parts) or b"0" in parts:
        raise InputError(
            f"{path}:1",
            "the number of words and that of numbers in a vector were expected",
            "check its format",
        )
    count, numbers = map(int, parts)
    if numbers > MOST_NUMBERS:
        raise InputError(f"{path}:1", f"vectors of {numbers:,} numbers", "this is no file of word vectors")
    return count, numbers


def _check_binary(path: Path) -> None:
    """Raise InputError unless the file holds as many words and vectors as its first line says, and no more."""
    with _opened(path) as file:
        count, numbers = _header(file.readline(LONGEST), path)
        width = 4 * numbers
        buffer, at = b"", 0
        for word in range(count):
            space = buffer.find(b" ", at)
            while space < 0 or len(buffer) < space + 1 + width:
                more = file.read(BLOCK)
                if not more:
                    raise InputError(path, f"cut short after {word:,} of {count:,} words", "fetch it again")
                buffer, at = buffer[at:] + more, 0
                space = buffer.find(b" ")
                if space < 0 and len(buffer) > LONGEST:
                    raise InputError(path, f"word {word + 1:,} does not end", "check its format")
            at = space + 1 + width
        if (buffer[at:] + file.read(BLOCK)).strip():
            raise InputError(
                path, f"holds more than the {count:,} words that its first line says", "check its format"
            )


def train_word2vec(
    sentences: Iterable[TokenIds], vocabulary: int, config: Word2VecSettings, seed: int
) -> Floats:
    """(vocabulary, dimension) vectors, a row a token id; zeros where an id never (or too rarely) occurs.

    Args:
        sentences: token ids, a sequence a sentence. They are gone through several times: pass a list or an
            object that can be iterated anew, not a generator. gensim cuts a sentence after 10,000 tokens.
        vocabulary: the number of ids.
        config: the settings.
        seed: the same one gives the same vectors (one thread).

    Raises:
        InputError: no token occurs often enough.
        ValueError: `sentences` is a generator.
    """
    from gensim.models import Word2Vec as Model  # only this baseline needs gensim

    if iter(sentences) is sentences:
        raise ValueError("sentences can be gone through only once: pass a list")
    corpus = _Sentences(sentences)
    model = Model(
        vector_size=config.dimension,
        window=config.window,
        negative=config.negative,
        sg=int(config.skip_gram),
        min_count=config.minimum_count,
        seed=seed,
        workers=1,
    )
    model.build_vocab(corpus)
    if not len(model.wv):
        raise InputError(
            "params.yaml: word2vec.minimum_count",
            f"no token occurs {config.minimum_count:,} times",
            "write a smaller number",
        )
    model.train(corpus, total_examples=model.corpus_count, epochs=config.epochs)
    table: Floats = np.zeros((vocabulary, config.dimension))
    for token, row in model.wv.key_to_index.items():
        table[int(token)] = model.wv.vectors[row]
    return table


class _Sentences:
    """Token ids as the texts that gensim wants, one sentence at a time."""

    def __init__(self, sentences: Iterable[TokenIds]) -> None:
        self.sentences = sentences

    def __iter__(self) -> Iterator[list[str]]:
        return ([str(int(token)) for token in sentence] for sentence in self.sentences)
