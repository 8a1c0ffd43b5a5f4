"""The written lists are read back by the reader of their format, in the search's order."""

from __future__ import annotations

from pathlib import Path

from quartet.files import read_json
from quartet.nbest.formats import NBestFiles, read
from quartet.recognise.hypotheses import Translation, write_translations
from quartet.recognise.parallel_text import ParallelText

TEXT = ParallelText(("Ein Hund", "„Ja“"), ("a dog", '"yes"'))
LISTS = [
    [Translation(f"dog {rank}", -0.5 * rank - 0.1234567, -2.0 * rank - 0.1234567, 4) for rank in range(12)],
    [Translation("", -1.0, -1.0, 1)],
]


def test_lists_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "test.json"
    write_translations(path, "test", TEXT, LISTS)
    first, second = read("mlm-scoring", NBestFiles(path)).lists
    assert (first.utterance, first.reference) == ("test-000001", "a dog")
    assert [each.text for each in first.hypotheses] == [f"dog {rank}" for rank in range(12)]
    assert first.first_pass[1] == -0.623457
    assert (second.utterance, second.reference) == ("test-000002", '"yes"')
    assert [(each.text, each.score) for each in second.hypotheses] == [("", -1.0)]


def test_what_the_reader_leaves_aside_is_there_for_others(tmp_path: Path) -> None:
    path = tmp_path / "test.json"
    write_translations(path, "test", TEXT, LISTS)
    entry = read_json(path)["test-000001"]
    assert entry["source"] == "Ein Hund"
    assert entry["hyp_2"] == {"score": -0.623457, "text": "dog 1", "log_probability": -2.123457, "tokens": 4}
    before = path.read_bytes()
    write_translations(path, "test", TEXT, LISTS)
    assert path.read_bytes() == before
