"""Recognisers: exact scores, the same from both engines; and what becomes of the transcripts that they find."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from quartet.config.recognise import Engine, RecogniserConfig, SpeechBeamConfig
from quartet.errors import InputError
from quartet.files import read_json, write_json
from quartet.hugging_face import open_model, open_tokenizer, transformers
from quartet.nbest.formats import NBestFiles, read
from quartet.recognise.audio import RATE, Samples
from quartet.recognise.hypotheses import Transcript, write_transcripts
from quartet.recognise.speech import admit, open_recogniser, recognise
from quartet.recognise.utterances import Utterance
from quartet.recognise.whisper import plain_text
from tests.recognise import speech_toy
from tests.recognise.speech_toy import MAX_TOKENS, sound, write_sound

SOUNDS = [sound(number, seconds) for number, seconds in ((1, 0.3), (2, 0.7), (3, 1.0), (4, 0.01))]
ENGINES: tuple[Engine, ...] = ("transformers", "ctranslate2")


def config(folder: Path, engine: Engine = "transformers", **beam: int | bool) -> RecogniserConfig:
    given: dict[str, int | bool] = {"size": 6, "max_tokens": MAX_TOKENS, **beam}
    return RecogniserConfig(engine=engine, source=str(folder), batch=2, beam=SpeechBeamConfig(**given))


def folder_of(engine: Engine, request: pytest.FixtureRequest) -> Path:
    """Of the toy, in the form of an engine."""
    name = "toy_whisper" if engine == "transformers" else "toy_converted"
    folder: Path = request.getfixturevalue(name)
    return folder


class TeacherForced:
    """log P(tokens | audio, prompt) in one plain forward pass of transformers' own model, one row, no cache.

    The choice of tokens is written down here once more, from what :mod:`speech_toy` saves.
    """

    def __init__(
        self, folder: Path, prompt: Sequence[str] = ("<|startoftranscript|>", "<|notimestamps|>")
    ) -> None:
        self.model = open_model(folder, "WhisperForConditionalGeneration")
        self.extractor = transformers().WhisperFeatureExtractor.from_pretrained(folder)
        self.tokenizer = open_tokenizer(folder)
        self.end = self.tokenizer.convert_tokens_to_ids("<|endoftext|>")
        self.prompt = [self.tokenizer.convert_tokens_to_ids(name) for name in prompt]
        self.banned = [*speech_toy.SUPPRESSED, *range(self.end + 1, self.model.config.vocab_size)]
        self.banned_first = [self.tokenizer.convert_tokens_to_ids("Ġ"), self.end]

    def __call__(self, samples: Samples, ids: Sequence[int]) -> float:
        features = self.extractor(samples, sampling_rate=RATE, return_tensors="pt")["input_features"]
        with torch.no_grad():
            logits_TV = self.model(
                input_features=features, decoder_input_ids=torch.tensor([[*self.prompt, *ids]])
            ).logits[0, len(self.prompt) - 1 : -1]
        logits_TV = logits_TV.double()
        logits_TV[:, self.banned] = -torch.inf
        logits_TV[0, self.banned_first] = -torch.inf
        return float(logits_TV.log_softmax(dim=-1).gather(1, torch.tensor(ids)[:, None]).sum())


@pytest.mark.parametrize("engine", ENGINES)
def test_scores_are_total_log_probabilities(
    engine: Engine, toy_whisper: Path, request: pytest.FixtureRequest
) -> None:
    expected = TeacherForced(toy_whisper)
    found = open_recogniser(config(folder_of(engine, request), engine), "cpu", 1).recognise(SOUNDS)
    lengths = set()
    for samples, transcripts in zip(SOUNDS, found, strict=True):
        assert len(transcripts) == len({each.ids for each in transcripts}) == 6
        for each in transcripts:
            assert each.ended and each.ids[-1] == expected.end
            assert math.isclose(each.score, expected(samples, each.ids), abs_tol=1e-4)
            assert each.text == " ".join(expected.tokenizer.decode(each.ids[:-1]).split())
            lengths.add(len(each.ids))
    assert len(lengths) > 1  # a mean over tokens would have shown


@pytest.mark.parametrize("engine", ENGINES)
def test_what_has_not_ended_says_so_and_its_score_is_of_its_own_tokens(
    engine: Engine, tmp_path: Path
) -> None:
    folder = speech_toy.save_whisper(tmp_path / "saved", towards_end=0.0)
    expected = TeacherForced(folder)
    if engine == "ctranslate2":
        folder = speech_toy.converted(folder, tmp_path / "converted")
    (found,) = open_recogniser(config(folder, engine, max_tokens=7), "cpu", 1).recognise(SOUNDS[:1])
    assert not any(each.ended for each in found)
    for each in found:
        assert len(each.ids) == 7
        assert math.isclose(each.score, expected(SOUNDS[0], each.ids), abs_tol=1e-4)


def test_both_engines_find_the_same(toy_whisper: Path, toy_converted: Path) -> None:
    lists = [
        open_recogniser(config(folder, engine), "cpu", 1).recognise(SOUNDS)
        for engine, folder in (("transformers", toy_whisper), ("ctranslate2", toy_converted))
    ]
    for first, second in zip(*lists, strict=True):
        assert [each.ids for each in first] == [each.ids for each in second]
        assert [each.score for each in first] == pytest.approx([each.score for each in second], abs=1e-4)


@pytest.mark.parametrize("engine", ENGINES)
def test_company_changes_nothing(engine: Engine, request: pytest.FixtureRequest) -> None:
    recogniser = open_recogniser(config(folder_of(engine, request), engine), "cpu", 1)
    together = recogniser.recognise(SOUNDS)
    for samples, expected in zip(SOUNDS, together, strict=True):
        (alone,) = recogniser.recognise([samples])
        assert [each.ids for each in alone] == [each.ids for each in expected]
        assert [each.score for each in alone] == pytest.approx([each.score for each in expected], abs=1e-4)


@pytest.mark.parametrize("engine", ENGINES)
def test_with_words_only_there_is_nothing_but_words(engine: Engine, request: pytest.FixtureRequest) -> None:
    folder = folder_of(engine, request)
    plain = open_recogniser(config(folder, engine), "cpu", 1).recognise(SOUNDS)
    words = open_recogniser(config(folder, engine, words_only=True), "cpu", 1).recognise(SOUNDS)

    def odd(lists: list[list[Transcript]]) -> int:
        return sum(
            not all(letter.isalpha() or letter in "'- �" for letter in each.text)
            for one in lists
            for each in one
        )

    assert odd(plain) > 0 == odd(words)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_beam_wider_than_the_choice_finds_all_that_there_is(engine: Engine, tmp_path: Path) -> None:
    """Two tokens and the end, four places: 2 + 4 + 8 transcripts that end, and 16 that do not."""
    folder = speech_toy.save_whisper(tmp_path / "saved")
    expected = TeacherForced(folder)
    chosen = [expected.tokenizer.convert_tokens_to_ids(letter) for letter in "ab"]
    expected.banned = [number for number in range(expected.model.config.vocab_size) if number not in chosen]
    expected.banned.remove(expected.end)
    path = folder / "generation_config.json"
    write_json(path, {**read_json(path), "suppress_tokens": expected.banned})
    if engine == "ctranslate2":
        folder = speech_toy.converted(folder, tmp_path / "converted")
    (found,) = open_recogniser(config(folder, engine, size=64, max_tokens=4), "cpu", 1).recognise(SOUNDS[:1])
    every = [ids for length in range(1, 5) for ids in itertools.product(chosen, repeat=length)]
    scores = {(*ids, expected.end)[:4]: expected(SOUNDS[0], (*ids, expected.end)[:4]) for ids in every}
    assert {each.ids for each in found} == set(scores)
    assert len(found) == len(scores) == 30
    assert sum(each.ended for each in found) == 14
    for each in found:
        assert math.isclose(each.score, scores[each.ids], abs_tol=1e-4)


def test_a_model_of_several_languages_is_told_which(tmp_path: Path) -> None:
    folder = speech_toy.save_whisper(tmp_path / "saved", multilingual=True)
    with pytest.raises(InputError, match="a model of several languages needs one; set language"):
        open_recogniser(config(folder), "cpu")
    with pytest.raises(InputError, match=r"has no <\|fr\|>"):
        open_recogniser(replace(config(folder), language="fr"), "cpu")
    found = {}
    for language in ("en", "de"):
        prompt = ("<|startoftranscript|>", f"<|{language}|>", "<|transcribe|>", "<|notimestamps|>")
        (found[language],) = open_recogniser(replace(config(folder), language=language), "cpu").recognise(
            SOUNDS[:1]
        )
        expected = TeacherForced(folder, prompt)
        for each in found[language]:
            assert math.isclose(each.score, expected(SOUNDS[0], each.ids), abs_tol=1e-4)
    assert found["en"] != found["de"]


def test_a_model_of_english_alone_takes_no_other_language(toy_whisper: Path) -> None:
    open_recogniser(replace(config(toy_whisper), language="en"), "cpu")
    with pytest.raises(InputError, match="a model of English alone, and language is de"):
        open_recogniser(replace(config(toy_whisper), language="de"), "cpu")


class Found:
    """A recogniser that finds what it is told."""

    seconds, content = 1, "0" * 64

    def __init__(self, *lists: list[Transcript]) -> None:
        self.lists = list(lists)

    def recognise(self, samples: Sequence[Samples]) -> list[list[Transcript]]:
        return [self.lists.pop(0) for _ in samples]


@pytest.fixture
def utterances(tmp_path: Path) -> list[Utterance]:
    return [
        Utterance(f"a-{number}", write_sound(tmp_path / f"{number}.flac", samples), reference)
        for number, (samples, reference) in enumerate(zip(SOUNDS[:3], ("a cat", None, ""), strict=True))
    ]


def test_equal_texts_are_one_with_the_best_score(utterances: list[Utterance], toy_whisper: Path) -> None:
    lists = [
        [Transcript("a", -3.0, (1, 9)), Transcript("b", -2.0, (2, 9)), Transcript("a", -1.0, (3, 9))],
        [Transcript("c", -9.0, (4, 9)), Transcript("d", -1.0, (5, 6), ended=False)],
        [Transcript("e", -2.0, (5, 6), ended=False), Transcript("", -1.0, (5, 7), ended=False)],
    ]
    steps: list[int] = []
    found = recognise(Found(*lists), utterances, config(toy_whisper), steps.append)
    assert [[(each.text, each.score) for each in one] for one in found.lists] == [
        [("a", -1.0), ("b", -2.0)],
        [("c", -9.0)],
        [("", -1.0), ("e", -2.0)],
    ]
    assert (found.merged, found.unended, found.lists_unended) == (1, 1, 1)
    assert steps == [2, 1]


def test_of_more_texts_than_the_beam_holds_the_best_are_kept(
    utterances: list[Utterance], toy_whisper: Path
) -> None:
    given = [Transcript(text, -score, (1, 9)) for text, score in (("a", 3.0), ("b", 1.0), ("c", 2.0))]
    found = recognise(Found(given), utterances[:1], config(toy_whisper, size=2))
    assert [[each.text for each in one] for one in found.lists] == [["b", "c"]]


def test_a_score_that_is_no_number_ends_it(utterances: list[Utterance], toy_whisper: Path) -> None:
    with pytest.raises(InputError, match='utterance "a-0": the score of "a" is nan; set precision: float32'):
        recognise(Found([Transcript("a", math.nan, (1, 9))]), utterances[:1], config(toy_whisper))


def test_audio_is_looked_at_before_anything_is_recognised(
    utterances: list[Utterance], tmp_path: Path
) -> None:
    found = admit(utterances, 1)
    assert found.samples == [len(each) for each in SOUNDS[:3]]
    assert found.hours == pytest.approx((0.3 + 0.7 + 1.0) / 3600)
    longer = Utterance("long-1", write_sound(tmp_path / "long.wav", sound(5, 1.01)))
    with pytest.raises(
        InputError, match=r'^utterance "long-1": .*long\.wav has 1\.01 s, and the model takes 1 s'
    ):
        admit([*utterances, longer], 1)
    found = admit([longer, *utterances], 1, skip_long=True)
    assert (found.utterances, found.too_long) == (utterances, ["long-1"])
    with pytest.raises(InputError, match="all audio is longer than 1 s"):
        admit([longer], 1, skip_long=True)
    with pytest.raises(InputError, match='utterance "b-1": there is no audio file'):
        admit([*utterances, Utterance("b-1", tmp_path / "b.wav")], 1)


def test_lists_are_read_back(utterances: list[Utterance], toy_whisper: Path, tmp_path: Path) -> None:
    chosen = admit(utterances, 1)
    recogniser = open_recogniser(config(toy_whisper), "cpu")
    found = recognise(recogniser, chosen.utterances, config(toy_whisper))
    path = tmp_path / "dev.json"
    write_transcripts(path, chosen.utterances, chosen.samples, found.lists)
    lists = read("mlm-scoring", NBestFiles(path)).lists
    assert [(one.utterance, one.reference) for one in lists] == [("a-0", "a cat"), ("a-1", None), ("a-2", "")]
    for one, transcripts in zip(lists, found.lists, strict=True):
        assert [each.text for each in one.hypotheses] == [each.text for each in transcripts]
        assert one.first_pass == pytest.approx([each.score for each in transcripts], abs=1e-6)
        assert list(one.first_pass) == sorted(one.first_pass, reverse=True)
    assert sum(map(len, found.lists)) + found.merged == 3 * 6
    before = path.read_bytes()
    write_transcripts(
        path,
        chosen.utterances,
        chosen.samples,
        recognise(recogniser, chosen.utterances, config(toy_whisper)).lists,
    )
    assert path.read_bytes() == before


def test_the_words_of_tokens_have_single_spaces(toy_whisper: Path) -> None:
    tokenizer = open_tokenizer(toy_whisper).backend_tokenizer
    ids = tokenizer.encode(" the  cat\n sat ", add_special_tokens=False).ids
    assert plain_text(tokenizer, ids) == "the cat sat"
