"""The pieces: any text comes back as it was, and the same text gives the same vocabulary."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quartet.config.recognise import VocabularyConfig
from quartet.errors import InputError
from quartet.recognise.vocabulary import PieceTokenizer, train_pieces
from quartet.text.tokenizer import SPECIALS
from tests.recognise import toy

TEXTS = [*toy.TRAIN.source, *toy.TRAIN.target, "Ein „Zitat“, (in Klammern) – fürs Erste!"]
PIECES = train_pieces(TEXTS, VocabularyConfig(vocab_size=400, character_coverage=1.0))
#: Trains in a process of its own, whose hash maps have another seed.
PROGRAM = """
import sys
from quartet.config.recognise import VocabularyConfig
from quartet.recognise.vocabulary import train_pieces
print(train_pieces(sys.stdin.read().splitlines(), VocabularyConfig(vocab_size=340)).sha256)
"""


@given(st.text(st.characters(exclude_characters="\u2581", exclude_categories=("Cs",)), max_size=60))
def test_every_text_comes_back(text: str) -> None:
    text = " ".join(text.split())
    ids = PIECES.encode(text)
    assert PIECES.decode(ids) == text
    assert all(number >= len(SPECIALS) for number in ids)


def test_what_a_text_says_of_specials_and_bytes_is_text() -> None:
    text = "[EOS] <0x41> [PAD] 😀 für"
    assert PIECES.decode([PieceTokenizer.bos_id, *PIECES.encode(text), PieceTokenizer.eos_id]) == text
    assert len(PIECES.encode("😀")) == 1 + 4  # the space before it, and its bytes


def test_words_of_the_text_become_pieces() -> None:
    assert len(PIECES.encode("der Hund sah die Katze")) <= 6
    assert PIECES.encode_batch(["der Hund", "sah"]) == [PIECES.encode("der Hund"), PIECES.encode("sah")]


def test_the_same_text_gives_the_same_file_in_every_process() -> None:
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    text = "\n".join([*toy.TRAIN.source, *toy.TRAIN.target])
    found = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=environment,
            input=text,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for _ in range(2)
    }
    assert found == {toy.tokenizer().sha256}


def test_what_is_saved_is_opened_again(tmp_path: Path) -> None:
    PIECES.save(tmp_path / "tokenizer.json")
    opened = PieceTokenizer.load(tmp_path / "tokenizer.json")
    assert (opened.sha256, opened.vocab_size) == (PIECES.sha256, PIECES.vocab_size)
    assert opened.encode("[EOS] der Hund") == PIECES.encode("[EOS] der Hund")


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    for content in ("", "{}", PIECES.to_json()[:-9], json.dumps({"model": {"type": "WordPiece"}})):
        path.write_text(content)
        with pytest.raises(InputError, match=r"tokenizer\.json: not a translator's tokenizer"):
            PieceTokenizer.load(path)
    with pytest.raises(InputError, match="cannot be read"):
        PieceTokenizer.load(tmp_path / "absent.json")


def test_a_vocabulary_without_room_is_refused() -> None:
    with pytest.raises(InputError, match="270 leaves no room for 263 reserved ids and"):
        train_pieces(TEXTS, VocabularyConfig(vocab_size=270))


def test_rare_characters_get_no_piece() -> None:
    covered = train_pieces([*TEXTS, "ﷺ"], VocabularyConfig(vocab_size=340, character_coverage=0.999))
    assert len(covered.encode("ﷺ")) == 1 + 3
    assert covered.decode(covered.encode("ﷺ")) == "ﷺ"


@pytest.mark.parametrize(
    ("coverage", "known"), [(1.0, "abc"), (0.9, "abc"), (0.875, "ab"), (0.625, "a"), (0.6, "a")]
)
def test_as_few_characters_have_a_piece_as_make_up_the_share(coverage: float, known: str) -> None:
    """Of eight a five times, b twice and c once: 5 / 8, 7 / 8 and all."""
    pieces = train_pieces(["aaaaabbc"], VocabularyConfig(vocab_size=300, character_coverage=coverage))
    spelled = {letter: pieces.tokens(pieces.encode(letter))[-1].startswith("<0x") for letter in "abc"}
    assert [letter for letter, as_bytes in spelled.items() if not as_bytes] == list(known)
