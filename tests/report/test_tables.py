"""The README of an experiment, made from invented results."""

from __future__ import annotations

import dataclasses
import random
import subprocess
import sys

import pytest

from quartet.report.facts import ListFacts
from quartet.report.sections import SECTIONS
from quartet.report.tables import ABSENT, markdown, readme, times
from quartet.results import Result
from tests.named import named
from tests.report.synthetic import facts, results, row, timings


def section(text: str, title: str) -> str:
    """A section of the page."""
    return text.split(f"\n## {title}\n")[1].split("\n## ")[0]


def table_row(text: str, system: str) -> list[str]:
    """The entries of the first row of a system, without its name."""
    line = next(line for line in text.splitlines() if line.startswith(f"| `{system}` |"))
    return [entry.strip() for entry in line.split("|")[2:-1]]


@pytest.fixture(scope="module")
def page() -> str:
    return markdown(results(), facts(figures={"sts": "figures/sts.png"}))


def test_the_same_results_in_any_order_give_the_same_text(page: str) -> None:
    rows, timed = results(), timings()
    random.Random(0).shuffle(rows)
    random.Random(1).shuffle(timed)
    assert markdown(rows, facts(figures={"sts": "figures/sts.png"})) == page
    assert times(timed, facts()) == times(timings(), facts())


def test_the_first_screen_says_what_was_run(page: str) -> None:
    screen = page.split("\n## What the numbers show\n")[0]
    for words in ("`sample`", "8 models", "one seed (1)", "a processor", "107 documents", "trained on the corpus",
                  "104 dev and 106 test", "3,000 entries", "600 steps"):  # fmt: skip
        assert words in screen


def test_all_sections_stand_in_order_and_every_table_fits_its_head(page: str) -> None:
    places = [page.index(f"\n## {one.title}\n") for one in SECTIONS.values()]
    assert places == sorted(places)
    widths: list[int] = []
    for line in page.splitlines():
        if not line.startswith("|"):
            widths = []
            continue
        widths.append(line.count("|"))
        assert len(set(widths)) == 1, line


def test_every_section_says_n_and_what_its_interval_is(page: str) -> None:
    for one in SECTIONS.values():
        body = section(page, one.title)
        assert "n = " in body
        assert "[low, high]: 95 %" in body or "No interval is given." in body


def test_perplexity_and_pseudo_perplexity_stand_in_tables_of_their_own(page: str) -> None:
    proper, pseudo = section(page, "Perplexity").split("**Pseudo-perplexity**")
    assert "| `unilm` |" in proper
    assert "| `unilm` |" not in pseudo
    assert "| `tta` |" in pseudo
    assert "| `tta` |" not in proper
    assert table_row(pseudo, "tta")[:3] == ["4.802", "1.13 [1.07, 1.19]", "121.7 [114.4, 129.0]"]
    for part in (proper, pseudo):
        assert table_row(part, "unigram")[:3] == ["5.934 [5.884, 5.984]", "–", "377.7 [359.7, 395.7]"]


def test_pairs_of_models_have_their_difference_and_its_percentage(page: str) -> None:
    rows = section(page, "Perplexity: models against each other")
    cells = ["+0.2000 [+0.1700, +0.2300]", "+22.1 % [+18.5, +25.9]"]
    assert table_row(rows, "unilm - transformer-xl") == cells


def test_a_measured_gain_is_shown_rather_than_one_computed() -> None:
    gain = row("perplexity", "tta", "wikipedia-sample", "test", "gain", 1.2, 13_200, 0.03)
    text = markdown([*results(), gain], facts())
    assert table_row(section(text, "Perplexity"), "tta")[1] == "1.20 [1.17, 1.23]"


def test_reranking_stands_beside_the_papers_row_of_the_same_system(page: str) -> None:
    body = section(page, "Reranking")
    assert table_row(body, "tta") == [
        "0.30", "12.74 [10.74, 14.74]", "13.84 [11.84, 15.84]", "-1.54 [-2.94, -0.14]", "0.012",
        "1.90", "13.44 (0.35)",
    ]  # fmt: skip
    assert "test-clean | 4.31 | 4.05 (-6.0 %) | 3.97 (-7.9 %) | 3.97 (-7.9 %) | 1.96 (-54.5 %) |" in body
    assert "other lists, other training text and other model sizes" in body


def test_lengths_stand_in_their_order_and_pairs_have_their_p(page: str) -> None:
    lengths = section(page, "Reranking by length")
    assert "| system | 0-5 words | 6-10 words | 21 words or more |" in lengths
    assert table_row(lengths, "first-pass")[0] == "17.00 [13.90, 20.10]"
    assert "n = 16 to 60 utterances in a column." in lengths
    pairs = section(page, "Reranking: systems against each other")
    assert table_row(pairs, "tta - unilm") == ["-1.20 [-2.20, -0.20]", "0.020", "20", "12", "1.50"]
    assert "1 of 2 differences in WER are shown to be other than 0: `tta - unilm`." in page


def bleu_rows() -> list[Result]:
    """Translations that two systems reranked, one of them two models together."""
    rows = [
        row("rerank", system, "mt", "test", "bleu", value, 500, 1.0, None)
        for system, value in (("first-pass", 30.0), ("oracle", 39.0))
    ]
    for metric, value in (
        ("bleu", 31.5),
        ("weight", 0.4),
        ("share", 0.25),
        ("bleu-best-on-test", 31.6),
        ("weight-best-on-test", 0.5),
    ):
        rows.append(row("rerank", "tta-and-unilm", "mt", "test", metric, value, 500))
    return rows


def test_bleu_has_its_signature_its_oracle_explained_and_the_mixture_of_two_models() -> None:
    known = ListFacts(name="mt", dev=400, test=500, ranked=True, refused=3, bleu="tok:13a|version:2.6.0")
    text = markdown(bleu_rows(), dataclasses.replace(facts(), lists=(known,)))
    body = section(text, "Reranking")
    assert table_row(body, "tta-and-unilm") == ["0.40", "31.50", "0.25", "31.60 (0.50)"]
    assert "sacrebleu's (`tok:13a|version:2.6.0`). Its oracle picks" in body
    assert "no first-pass scores: the rank stands for them" in text
    assert "3 malformed entries were left out (`nbest/mt/refused.jsonl`)" in text


def test_similarity_stands_beside_the_papers_reading_of_the_same_layer(page: str) -> None:
    body = section(page, "Semantic similarity (STS)")
    assert table_row(body, "tta/context")[2:] == ["71.9", "62.3", "69.5"]
    assert table_row(body, "tta/embed")[2:] == ["54.8", "44.7", "60.8"]
    assert table_row(body, "bilm/embed")[2:] == [
        "58.8",
        "49.1",
        "62.7",
    ]  # the paper's row of the intact input
    assert table_row(body, "word2vec")[2:] == ["70.0", "56.5", "–"]
    assert table_row(body, "segabert/context")[2:] == ["–", "–", "–"]
    assert "![Pearson correlation by model and layer, with intervals](figures/sts.png)" in body


def test_run_time_gives_the_ratio_at_20_words_beside_the_papers() -> None:
    body = section(readme(times(timings(), facts())), "Run-time")
    assert "| `bilm` / `tta`, sts | 1.06 | 1.77 | 2.75 | 4.91 | 12.5 | 27.0 | 12.7 |" in body
    assert "6.35 |" in body


def test_other_words_for_the_two_tasks_are_understood() -> None:
    names = {"sts": "embed-context", "rerank": "score"}
    rows = [
        dataclasses.replace(one, **named(f"{name}/{names[task]}"))
        for one in timings()
        for name, _, task in [one.system.partition("/")]
    ]
    assert "for a sentence vector `bilm` 4.91" in readme(times(rows, facts()))


def test_without_20_words_the_nearest_length_is_compared() -> None:
    rows = [one for one in timings() if one.dataset in ("1-words", "10-words")]
    assert "Time at 10 words: for a sentence vector `bilm` 2.75" in readme(times(rows, facts()))


def test_absent_sections_say_so() -> None:
    text = markdown([row for row in results() if row.table == "sts"], facts())
    assert "not run in this experiment" in ABSENT
    for table, one in SECTIONS.items():
        assert (ABSENT in section(text, one.title)) == (table != "sts"), table


def test_nothing_measured_is_a_page_too() -> None:
    text = markdown([], dataclasses.replace(facts(), models=(), corpora=(), lists=(), tokenizers=()))
    assert text.count(ABSENT) == len(SECTIONS)
    assert "No figure that this report knows how to read" in text


def test_unknown_tables_metrics_and_splits_are_shown() -> None:
    odd = [
        row("made-up", "segabert", "cola", "dev", "matthews", 0.4321, 1043, 0.05),
        row("sts", "tta/context", "lee", "", "kendall", 0.321, 1225),
        row("rerank", "tta", "sample-speech", "other", "wer", 33.3, 10),
    ]
    text = markdown([*results(), *odd], facts())
    assert "| `segabert` | cola | dev | matthews | 0.4321 [0.3821, 0.4821] | 1,043 |" in section(
        text, "made-up"
    )
    assert "| kendall | 0.321 |" in section(text, "Semantic similarity (STS)")
    assert "| other | wer | 33.3 |" in section(text, "Reranking")


def test_every_value_reaches_the_page() -> None:
    """Each result with a number of its own is found in the text again, however it is rounded."""
    rows = [
        dataclasses.replace(one, metric=f"{one.metric}x", value=1000 + index, ci_low=None, ci_high=None)
        for index, one in enumerate(results())
    ]
    text = markdown(rows, facts())
    assert [one.key for one in rows if f"| {one.value:,.0f} |" not in text] == []


def test_several_seeds_are_a_mean_with_its_spread() -> None:
    seeds = (1, 2, 3)
    text = markdown(results(seeds), facts(seeds))
    assert "3 seeds (1, 2 and 3)" in text
    assert table_row(section(text, "Training"), "tta")[-4:] == [
        "600", "1.00 M", "1.30 M", "4.811 ± 0.010"
    ]  # fmt: skip
    body = section(text, "Reranking")
    assert table_row(body, "tta")[2] == "13.98 ± 0.14 [11.84, 16.12]"
    assert table_row(body, "first-pass")[2] == "15.38 [13.28, 17.48]"
    assert "With ±: mean and standard deviation over 3 seeds." in body
    assert "Every model was trained once." not in text
    luck = "what another seed of the training would change is not in them"
    assert luck in markdown(results(), facts())
    assert luck not in text and "A model is held against the other of the same seed" in text


def test_of_several_p_values_the_largest_is_given() -> None:
    rows = [
        row("rerank", "tta", "sample-speech", "test", metric, value, 106, None, seed)
        for seed, p in ((1, 0.01), (2, 0.2))
        for metric, value in (("wer", 14.0), ("p-value", p))
    ]
    assert table_row(section(markdown(rows, facts()), "Reranking"), "tta")[-1] == "0.200"


def test_the_tables_show_all_that_the_pipeline_measures(page: str) -> None:
    assert "Other figures" not in page


def test_the_text_needs_no_matplotlib() -> None:
    code = "import sys, quartet.report.tables as t; sys.exit('matplotlib' in sys.modules or 'torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_bleu_lists_read_the_papers_table_of_translation() -> None:
    rows: list[Result] = []
    for system, value in (("first-pass", 20.0), ("tta", 21.0)):
        rows.append(row("rerank", system, "multi30k", "test", "bleu", value, 500, 0.4))
    rows.append(row("rerank", "tta", "multi30k", "test", "bleu-difference", 1.0, 500, 0.3))
    text = markdown(rows, facts())
    assert "Shown to be better than it: `tta` (+1.00 [+0.70, +1.30])." in text
    assert "WMT13: de-en | 27.83 | 28.83 (+3.6 %) |" in section(text, "Reranking")
