"""Similarity in the form of the papers' tables, and what of it belongs elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from quartet.results import Result
from tests.report.rendered import markdown, picture, picture_data, section
from tests.report.synthetic import facts, row

SYSTEMS = ("unilm/context", "unilm/eos", "bilm/cls", "bilm/embed", "tta/context", "tta/table", "glove")


def rows() -> Iterator[Result]:
    for place, system in enumerate(SYSTEMS):
        seed = 1 if "/" in system else None
        for dataset, split in (
            ("stsb", "dev"),
            ("stsb", "test"),
            ("sick", "dev"),
            ("sick", "test"),
            ("sts12", "test"),
        ):
            for shift, metric in enumerate(("pearson", "spearman")):
                value = 0.3 + place / 100 + shift / 1000
                yield row("sts", system, dataset, split, metric, value, 1500, 0.02, seed)
                if dataset == "sts12":
                    for step, way in enumerate(("mean", "weighted"), start=1):
                        yield row(
                            "sts",
                            system,
                            dataset,
                            split,
                            f"{metric}-{way}",
                            value + step / 10,
                            1500,
                            0.02,
                            seed,
                        )
        for metric in ("pearson-mean", "spearman-mean"):
            yield row("sts", system, "semeval", "test", metric, 0.7 + place / 100, 3000, 0.02, seed)
    yield row("sts", "glove", "stsb", "test", "coverage", 0.991, 20_000, None, None)
    yield row("sts", "tta/nli", "stsb", "test", "spearman", 0.777, 1379, 0.02)
    yield row("nli", "tta", "snli", "dev", "accuracy", 0.6, 9842, 0.01)


@pytest.fixture(scope="module")
def body() -> str:
    return section(markdown(list(rows()), facts()), "Semantic similarity (STS)")


def cells_of(body: str, title: str, system: str) -> list[str]:
    """The cells of a system in the table under a title."""
    table = body[body.index(f"**{title}") :].split("\n\n")[1]
    (line,) = (line for line in table.splitlines() if line.startswith(f"| `{system}` |"))
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def test_each_set_and_split_has_a_column(body: str) -> None:
    assert "| system | STSb dev | STSb test | SICK dev | SICK test |" in body
    for place, system in enumerate(SYSTEMS):
        found = cells_of(body, "Sentences, Pearson", system)
        assert found == [f"{30 + place}.0 [{28 + place}.0, {32 + place}.0]"] * 4


def test_years_have_their_usual_figure_and_the_two_means(body: str) -> None:
    assert cells_of(body, "SemEval, Pearson × 100, the pairs", "tta/context") == [
        "34.0 [32.0, 36.0]",
        "74.0 [72.0, 76.0]",
    ]
    assert cells_of(body, "SemEval, Spearman × 100, the mean", "tta/context") == ["44.1", "54.1"]


def test_words_without_a_vector_are_told(body: str) -> None:
    assert cells_of(body, "Words that have a vector", "glove") == ["99.1"]


def test_nothing_is_left_over_and_tuned_encoders_have_their_own_section(body: str) -> None:
    assert "Other figures" not in body
    assert "tta/nli" not in body


def test_a_bar_for_every_reading() -> None:
    drawn = picture("sts", picture_data(rows()))
    assert drawn is not None
    labels = {text.get_text() for text in drawn.legends[0].get_texts()}
    assert labels >= {"token table (table)", "first token (cls)", "last token (eos)", "word vectors"}
