"""What makes texts comparable, before anything is scored or counted.

`plain` is one Unicode normalisation for all texts, `name_key` for the names of utterances; `Normalisation` adds a
setting of case and punctuation. Each is applied to hypotheses and references alike.
"""

from __future__ import annotations

import dataclasses
import html
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from html.entities import html5

from tokenizers.decoders import ByteLevel

from quartet.nbest.metrics import ERROR_RATES
from quartet.nbest.types import NBest

#: Signs that show nothing by themselves: soft hyphens, joiners, zero-width spaces, marks of direction, variation
#: selectors, a byte-order mark inside a text. (Of Unicode's Default_Ignorable_Code_Point what occurs in texts.)
INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)
#: What stands for an apostrophe between letters. The grave accent, of ASCII, is none.
APOSTROPHES = "'\u2019\u2018\u201b\u02bc\u00b4\u2032\uff07"

#: References to characters by name: HTML's, and Moses' own of signs that its files use otherwise.
CHARACTERS = html5 | {"bar;": "|", "bra;": "[", "ket;": "]"}
_ESCAPE = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
#: Characters that control a terminal or a printer; those that are white space stay.
_CONTROL = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
#: Whisper's marks of times, languages and tasks.
_WHISPER = re.compile(r"<\|[^|<>]{0,40}\|>")
#: Marks that are no words wherever they stand between words: ends, padding, blanks, silence.
_MARK = re.compile(
    r"(?<!\S)(?:<(?:s|/s|sos|eos|bos|pad|sos/eos|blank|blk|eps|sil)>|\[(?:CLS|SEP|PAD)\])(?!\S)",
    re.IGNORECASE,
)
_BEGIN = re.compile(r"(?:\s*(?:<s>|<sos>|<bos>|<pad>|<sos/eos>))+", re.IGNORECASE)
#: Of a text that is read backwards, so that it is found at its place or not at all: the time is linear in the length.
_END = re.compile(r"(?:\s*(?:>s/<|>soe<|>dap<|>soe/sos<))+\s*", re.IGNORECASE)
#: Signs inside a word that Moses (``@-@``) and WikiText (``@,@``) set apart.
_APART = re.compile(r" @([^\w\s@])@ ")
#: A bar between letters, or at a word's end: the word boundary of wav2vec's letters.
_BAR = re.compile(r"(?<=\w)\|+(?=\w|\s|$)")
#: SentencePiece's mark of a word's start, subword-nmt's of a word that goes on, OpenNMT's of two tokens in one word.
WORD_START, GOES_ON = "\u2581", re.compile(r"(?<=\S)@@(?:\s+|$)")
#: GPT-2's mark of a word's start in bytes, that of a word's end, and WordPiece's of a word that goes on.
BYTE_START, WORD_END, CONTINUES = "\u0120", "</w>", re.compile(r"(?<=\S)\s+##(?=\S)")
JOINER = re.compile("(?<!\\s)(?:\\s*\uffed)+\\s*")

# Runs of what is neither letter, digit nor space; and two letters, to `re`, that may stand for punctuation.
_CANDIDATES = re.compile("(?:[^\\w\\s]|[_\u02bc])+")


def plain_text(text: str) -> str:
    """The text in Unicode's composed form (NFC), without what no reader sees and no transcript means.

    Invisible and control signs go, and so do marks of tokenizers and recognisers that are no words (``<s>``, ``[CLS]``,
    ``<eps>``, ``<|0.00|>``). Sub-words become words (``@@``, ``##``, ``</w>``, ``\u2581``, ``\u0120``, ``\uffed``), and
    references to characters (``&apos;``, ``&#39;``) the characters.

    >>> plain_text("cafe\u0301 o@@ le\u0301 &quot; </s>")
    'caf\u00e9 ol\u00e9 "'
    """
    text = _CONTROL.sub("", text)
    if not text.isascii():
        text = INVISIBLE.sub("", text)
    if "<" in text:
        text = _without(_END, _without(_BEGIN, _WHISPER.sub(" ", text))[::-1])[::-1]
    if "<" in text or "[" in text:
        text = _MARK.sub("", text)
    text = _words_of_pieces(text)
    if "&" in text:
        text = _ESCAPE.sub(_character, text)
    return unicodedata.normalize("NFC", text)


def _character(match: re.Match[str]) -> str:
    """What a reference to a character stands for; itself where it is none."""
    number = match[0].startswith("&#")
    return html.unescape(match[0]) if number else CHARACTERS.get(match[0][1:], match[0])


def _words_of_pieces(text: str) -> str:
    """Sub-words joined to words, by whichever mark they have."""
    if WORD_START in text:
        parts = text.split()
        if any(part.startswith(WORD_START) for part in parts):
            text = "".join(parts)  # pieces: what has no mark goes on with the word before
        text = text.replace(WORD_START, " ")
    if BYTE_START in text and any(part.startswith(BYTE_START) for part in text.split()):
        text = ByteLevel().decode(text.split())
    if WORD_END in text:
        text = "".join(text.split()).replace(WORD_END, " ")
    if "##" in text:
        text = CONTINUES.sub("", text)
    if "|" in text:
        parts = text.split()
        if "|" in parts and all(len(part) == 1 for part in parts):
            text = "".join(parts)  # letters
        text = _BAR.sub(" ", text)
    if "@" in text:
        text = GOES_ON.sub("", _APART.sub(r"\1", " ".join(text.split())))
    return JOINER.sub("", text)


def _without(start: re.Pattern[str], text: str) -> str:
    """The text behind what stands at its start."""
    match = start.match(text)
    return text[match.end() :] if match else text


def name_key(name: str) -> str:
    """What two spellings of an utterance's name have in common: NFC, without invisible signs and space around it."""
    return unicodedata.normalize("NFC", INVISIBLE.sub("", name)).strip()


@dataclass(frozen=True)
class Normalisation:
    r"""How texts are made comparable. They are made `plain`, and runs of white space become one space, always.

    Attributes:
        lowercase: lower the case.
        strip_punctuation: replace every punctuation mark (Unicode category P) by a space, so that
            "well-known" is two words on both sides; an apostrophe inside a word stays ("it's"), whichever of
            `APOSTROPHES` it is written with. Between Chinese or Japanese characters no space comes in its place.

    >>> Normalisation(lowercase=True, strip_punctuation=True).text("It\u2019s  a well-known 'fact'.")
    "it's a well known fact"
    >>> Normalisation(strip_punctuation=True).text("\u4f60\u597d\uff0c\u4e16\u754c\uff01")
    '\u4f60\u597d\u4e16\u754c'
    """

    lowercase: bool = False
    strip_punctuation: bool = False

    def text(self, text: str) -> str:
        """The normalised text; it may become empty."""
        text = plain_text(text)
        if self.strip_punctuation:
            text = _CANDIDATES.sub(_replace, text)
        if self.lowercase:
            text = unicodedata.normalize("NFC", text.lower())
        return " ".join(text.split())

    def lists(self, lists: Iterable[NBest]) -> list[NBest]:
        """The same lists with every text normalised; hypotheses that become equal all stay."""
        return [
            NBest(
                one.utterance,
                tuple(dataclasses.replace(each, text=self.text(each.text)) for each in one.hypotheses),
                None if one.reference is None else self.text(one.reference),
            )
            for one in lists
        ]


def default_normalisation(metric: str) -> Normalisation:
    """Without case and punctuation for error rates, as they are for any other metric."""
    errors = metric in ERROR_RATES
    return Normalisation(errors, errors)


def _replace(match: re.Match[str]) -> str:
    text, start, end = match.string, match.start(), match.end()
    unspaced = start > 0 and end < len(text) and _unspaced(text[start - 1]) and _unspaced(text[end])
    return "".join(_replacement(text, place, "" if unspaced else " ") for place in range(start, end))


def _replacement(text: str, place: int, gap: str) -> str:
    """The character of a place without punctuation, in whose place comes the gap."""
    found = text[place]
    if found in APOSTROPHES and _inside_word(text, place):
        return "'"
    return gap if unicodedata.category(found).startswith("P") or found == "|" else found


def _unspaced(letter: str) -> bool:
    """Whether it is of Chinese or Japanese: wide, and not Korean, which has spaces between its words."""
    wide = letter.isalnum() and unicodedata.east_asian_width(letter) == "W"
    return wide and not unicodedata.name(letter, "").startswith("HANGUL")


def _inside_word(text: str, place: int) -> bool:
    """Whether letters or digits are on both sides; an accent or vowel sign belongs to the letter before it."""
    before = place > 0 and (
        text[place - 1].isalnum() or unicodedata.category(text[place - 1]).startswith("M")
    )
    return before and place + 1 < len(text) and text[place + 1].isalnum()
