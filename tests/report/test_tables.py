"""The report of invented results: which figure stands in which cell, and that none is dropped."""

from __future__ import annotations

import itertools
import random
import re
import subprocess
import sys
from dataclasses import replace

import pytest
from pydantic import TypeAdapter, ValidationError

from quartet.report import tables
from quartet.report.facts import ListFacts, RunFacts, facts_json, read_facts
from quartet.report.numbers import FORMATS
from quartet.report.scale import with_read
from quartet.report.spec import ColumnSpec, SectionSpec, TableSpec, sections
from quartet.report.tables import ABSENT, document, readme, times
from quartet.results import Result
from tests.imports import ROOT
from tests.report.rendered import markdown, markdown_of, section, table_row, table_rows
from tests.report.synthetic import facts, results, row, timings

PICTURES = {"sts": "figures/sts.svg"}
UNTIMED = {name: one for name, one in sections().items() if not one.timed}


@pytest.fixture(scope="module")
def page() -> str:
    return markdown(results(), facts(), PICTURES)


def test_the_same_results_in_any_order_give_the_same_text(page: str) -> None:
    rows, timed = results(), timings()
    random.Random(0).shuffle(rows)
    random.Random(1).shuffle(timed)
    assert markdown(rows, facts(), PICTURES) == page
    assert times(timed, facts()) == times(timings(), facts())


def test_the_readme_is_short_and_has_the_claims_their_tables_and_pictures() -> None:
    text = readme(document(results(), facts(), {"overview-sts": "figures/overview-sts.svg"}))
    assert len(text.splitlines()) < 180
    for words in ("`sample`", "8 models", "a processor", "107 documents", "104 dev and 106 test", "3,000 entries",
                  "no paired difference kept", "index.html#t-ta-paper-table-1",
                  "(figures/overview-sts.svg)"):  # fmt: skip
        assert words in text
    assert table_row(section(text, "In figures"), "tta")[2] == "13.84 [11.84, 15.84]"
    assert "](#" not in text, "what it links to is on the pages"


def test_all_sections_stand_in_order(page: str) -> None:
    places = [page.index(f"\n## {one.title}\n") for one in UNTIMED.values()]
    assert places == sorted(places)
    assert len(places) > 10 and [one.order for one in UNTIMED.values()] == sorted(
        {one.order for one in UNTIMED.values()}
    )


def test_every_table_fits_its_head_and_stands_between_empty_lines(page: str) -> None:
    for text in (page, markdown_of(times(timings(), facts()))):
        for before, line in itertools.pairwise(text.splitlines()):
            if before.startswith("|") and line.startswith("|"):
                assert before.count("|") == line.count("|"), line
            elif before.startswith("|") or line.startswith("|"):
                assert not (before and line), f"{before}\n{line}"


def test_every_section_says_n_and_what_its_interval_is(page: str) -> None:
    for one in UNTIMED.values():
        body = section(page, one.title)
        assert "n = " in body
        assert one.interval in body


def test_a_column_names_what_there_is() -> None:
    """A misspelt figure or table of the results would leave out its column, or its table, without a word."""
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src" / "quartet").rglob("*.py"))
    words = set(re.findall("[a-z]+", code))
    known = {one.table for one in [*results(), *timings()]}
    for name, one in sections().items():
        for part in (part for part in one.body if isinstance(part, TableSpec)):
            for column in part.columns:
                assert set(column.formats) <= set(FORMATS), (name, column.head)
                assert (column.table or part.table or name) in known, (name, column.head)
                for dataset in column.each if column.dataset == "{for}" else (column.dataset,):
                    assert "{" in dataset or not part.sets or dataset in part.sets, (name, column.head)
            named = [
                *part.rows,
                *part.measures,
                *(metric for column in part.columns for metric in column.metrics),
            ]
            parts = {
                word for metric in named for word in re.findall("[a-z]+", re.sub("{[a-z]+}", "", metric))
            }
            assert not parts - words, name


@pytest.mark.parametrize("each", ["group", "set"])
def test_columns_are_not_made_of_the_letters_of_a_word(each: str) -> None:
    with pytest.raises(ValidationError, match="each"):
        TypeAdapter(ColumnSpec).validate_python({"head": "{for}", "each": each, "metric": "loss"})


def test_perplexity_and_pseudo_perplexity_stand_in_tables_of_their_own(page: str) -> None:
    proper, pseudo = section(page, "Perplexity").split("**Pseudo-perplexity**")
    assert "| `unilm` |" in proper
    assert "| `unilm` |" not in pseudo
    assert "| `tta` |" in pseudo
    assert "| `tta` |" not in proper
    assert table_row(pseudo, "tta")[:2] == ["4.802", "121.7 [114.4, 129.0]"]
    for part in (proper, pseudo):
        assert table_row(part, "unigram")[:2] == ["5.934 [5.884, 5.984]", "377.7 [359.7, 395.7]"]


def test_pairs_of_models_have_their_difference_and_its_percentage(page: str) -> None:
    cells = ["+0.2000 [+0.1700, +0.2300] p 0.012", "+22.1 % [+18.5 %, +25.9 %] p 0.012"]
    assert (
        table_row(section(page, "Perplexity: models against each other"), "unilm - transformer-xl") == cells
    )


def test_a_gain_over_the_unigram_is_the_kept_one() -> None:
    gain = row("perplexity", "tta", "wikipedia-sample", "test", "gain", 1.2, 13_200, 0.03)
    text = markdown([*results(), gain], facts())
    assert table_row(section(text, "Perplexity"), "tta")[1] == "1.20 [1.17, 1.23]"


def test_references_have_the_measure_and_the_error_of_the_same_lists(page: str) -> None:
    cells = table_rows(section(page, "Perplexity of references"), "tta")[1]
    assert (cells[0], cells[1], cells[-1]) == ("pPPL", "2,100", "13.84"), "test, after dev"


def test_reranking_has_its_choice_both_splits_and_the_change(page: str) -> None:
    body = section(page, "Reranking")
    assert table_row(body, "tta") == [
        "0.30", "12.74 [10.74, 14.74]", "13.84 [11.84, 15.84]", "-1.54 [-2.94, -0.14] p 0.012",
        "1.90", "13.44 (0.35)",
    ]  # fmt: skip


def test_lengths_stand_in_their_order_and_pairs_have_their_p(page: str) -> None:
    lengths = section(page, "Reranking by length")
    assert "| system | 0-5 words | 6-10 words | 21 words or more |" in lengths
    assert table_row(lengths, "first-pass")[0] == "17.00 [13.90, 20.10]"
    assert "n = 16 to 60 " in lengths
    pairs = section(page, "Reranking: systems against each other")
    assert table_row(pairs, "tta - unilm") == ["-1.20 [-2.20, -0.20] p 0.020", "20", "12", "1.50"]


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


def test_bleu_has_its_signature_and_the_mixture_of_two_models() -> None:
    known = ListFacts(name="mt", dev=400, test=500, ranked=True, refused=3, bleu="tok:13a|version:2.6.0")
    text = markdown(bleu_rows(), replace(facts(), lists=(known,)))
    assert table_row(section(text, "Reranking"), "tta-and-unilm") == ["0.40", "31.50", "0.25", "31.60 (0.50)"]
    assert "`tok:13a|version:2.6.0`" in text
    assert "`nbest/mt/refused.jsonl`" in text


def test_run_time_gives_the_ratio_at_20_words_beside_the_papers() -> None:
    whole = times(timings(), facts())
    body = section(readme(whole), "In figures")
    assert "| `bilm` / `tta`, sts | 1.06 | 1.77 | 2.75 | 4.91 | 12.5 | 27.0 | 12.7 |" in body
    assert "6.35 |" in body
    by_words, in_full, of_lists = table_rows(section(markdown_of(whole), "Run-time"), "bilm/sts")
    assert by_words == ["0.96", "1.70", "2.80", "5.60", "18.8", "56.8"]
    assert in_full == ["5.60 [5.32, 5.88]", "0.17", "4.91 [4.72, 5.11]", "1.32 [1.02, 1.62]", "125"]
    assert of_lists == ["2,100 [1,995, 2,205]", "16.2 [15.3, 17.1]"], "the paper timed no lists"


@pytest.mark.parametrize(("models", "said"), [(1, "One model,"), (2, "2 models,")])
def test_the_number_of_models_is_in_its_grammatical_number(models: int, said: str) -> None:
    told = replace(facts(), models=facts().models[:models])
    assert said in readme(document(results(), told))


def test_absent_sections_say_so() -> None:
    text = markdown([row for row in results() if row.table == "wordsim"], facts())
    for table, one in UNTIMED.items():
        assert (ABSENT in section(text, one.title)) == (table != "wordsim"), table


def test_a_section_of_another_ones_figures_has_run(monkeypatch: pytest.MonkeyPatch) -> None:
    table = TableSpec(table="sts", unit="pairs", columns=(ColumnSpec(head="r", metric="pearson"),))
    borrowed = {
        "again": SectionSpec(order=99, title="Again", intro="The same.", body=(table,)),
        "odd": SectionSpec(
            order=99, title="Odd", intro="Of no section.", body=(replace(table, table="made-up"),)
        ),
        "bare": SectionSpec(
            order=99, title="Bare", intro="Of nothing.", body=(replace(table, table="absent"),)
        ),
    }
    monkeypatch.setattr(tables, "sections", lambda: {**sections(), **borrowed})
    rows = [row(name, "tta/context", "lee", "test", "pearson", 0.5, 1225) for name in ("sts", "made-up")]
    text = markdown(rows, facts())
    assert {name: ABSENT in section(text, name) for name in ("Again", "Odd", "Bare")} == {
        "Again": False, "Odd": False, "Bare": True,
    }  # fmt: skip
    assert table_row(section(text, "Again"), "tta/context") == ["50.0"]
    assert "## made-up" not in text, "all of it is shown"


def test_nothing_measured_is_a_page_too() -> None:
    text = markdown([], replace(facts(), models=(), corpora=(), lists=(), tokenizers=()))
    assert text.count(ABSENT) == len(UNTIMED)


def test_unknown_tables_metrics_and_splits_are_shown() -> None:
    odd = [
        row("made-up", "segabert", "cola", "dev", "matthews", 0.4321, 1043, 0.05),
        row("sts", "tta/context", "lee", "", "kendall", 0.321, 1225),
        row("rerank", "tta", "sample-speech", "other", "wer", 33.3, 10),
    ]
    text = markdown([*results(), *odd], facts())
    made_up = section(text, "made-up")
    assert "| `segabert` | cola | dev | matthews | 0.4321 [0.3821, 0.4821] | 1,043 |" in made_up
    assert "| kendall | 0.321 |" in section(text, "Semantic similarity (STS)")
    assert "| other | wer | 33.3 |" in section(text, "Reranking")


def test_every_value_reaches_the_page() -> None:
    """Each result with a number of its own is found in the text again, however it is rounded."""
    rows = [
        replace(one, metric=f"{one.metric}x", value=1000 + index, ci_low=None, ci_high=None, p=None)
        for index, one in enumerate(results())
    ]
    text = markdown(rows, facts())
    assert [one.key for one in rows if f"| {one.value:,.0f} |" not in text] == []


def test_several_seeds_are_a_mean_with_its_spread() -> None:
    seeds = (1, 2, 3)
    text = markdown(results(seeds), facts(seeds))
    assert "3 seeds (1, 2 and 3)" in text
    training = ["600", "1.00 M", "1.30 M", "4.811 ± 0.010"]
    assert table_row(section(text, "Training"), "tta")[-4:] == training
    body = section(text, "Reranking")
    assert table_row(body, "tta")[2] == "13.98 ± 0.14 [11.84, 16.12]"
    assert table_row(body, "first-pass")[2] == "15.38 [13.28, 17.48]"
    assert "over 3 seeds" in body and "over 3 seeds" not in markdown(results(), facts())


def test_of_several_p_values_the_largest_is_given() -> None:
    rows = [
        row("rerank", "tta", "sample-speech", "test", metric, value, 106, None, seed, of)
        for seed, p in ((1, 0.01), (2, 0.2))
        for metric, value, of in (("wer", 14.0, None), ("wer-difference", -1.0, p))
    ]
    assert table_row(section(markdown(rows, facts()), "Reranking"), "tta")[-1] == "-1.00 p 0.200"


def test_the_tables_show_all_that_the_pipeline_measures(page: str) -> None:
    assert "Other figures" not in page


def test_the_text_needs_no_matplotlib() -> None:
    code = "import sys, quartet.report.tables as t; sys.exit('matplotlib' in sys.modules or 'torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_causal_model_that_sees_the_future_is_named_below_its_table() -> None:
    models = tuple(replace(model, leaks=model.name == "segatron-xl") for model in facts().models)
    text = markdown(results(), replace(facts(), models=models))
    assert section(text, "Perplexity").count("`segatron-xl`: the offsets") == 1
    assert "the offsets of" not in section(markdown(results(), facts()), "Perplexity")


def test_an_n_gram_model_is_named_below_tables_of_other_tokens() -> None:
    rows = [
        *results(),
        *(
            replace(one, model="ngram-5", value=3.0, ci_low=2.0, ci_high=4.0)
            for one in results()
            if (one.table, one.system, one.metric) == ("perplexity", "unilm", "ppl")
        ),
    ]
    body = section(markdown(rows, facts()), "Perplexity")
    assert "`ngram-5`: " in body and "| `ngram-5` |" in body


def test_facts_are_written_and_read_again(tmp_path) -> None:  # type: ignore[no-untyped-def]
    known: RunFacts = facts()
    path = tmp_path / "facts.json"
    path.write_text(facts_json(known), encoding="utf-8")
    assert read_facts(path) == known


def test_durations_have_a_row_a_training_and_a_row_a_stage() -> None:
    took = {
        ("pretrain", "unilm"): {"total": 20.0},
        ("pretrain", "tta"): {
            "train/seed-1": 30.0,
            "total": 40.0,
            "start-up": 5.0,
            "mlflow": 2.0,
            "dvc": 1.0,
        },
        ("sts", "tta"): {"total": 3.0, "start-up": 2.0, "lee": 0.5},
    }
    rows = [
        row("duration", stage, name, part, "seconds", value, 1)
        for (stage, name), parts in took.items()
        for part, value in parts.items()
    ]
    rows.append(row("duration", "pretrain", "tta", "train/seed-1", "tokens-per-second", 1000.0, 1))
    body = section(markdown_of(times(rows, facts())), "Durations")
    assert table_rows(body, "tta") == [["seed-1", "cpu", "30.0", "1,000"]]
    assert table_rows(body, "pretrain") == [["2", "60.0", "5.0", "2.0", "1.0"]]
    assert table_rows(body, "sts") == [["1", "3.0", "2.0", "–", "–"]]
    assert "| all | 3 | 63.0 | 7.0 | 2.0 | 1.0 |" in body
    assert body.index("`pretrain`") < body.index("`sts`"), "the longest first"


def test_pairs_without_a_section_are_a_table_the_main_readings_first() -> None:
    rows = [
        row("sts-pairs", f"tta/{reading} - {other}", "lee", "test", "pearson-difference", value, 1225, half)
        for reading, other, value, half in (
            ("context", "bilm/context", 0.2, 0.1),
            ("table", "bilm/context", 0.1, 0.3),
        )
    ]
    rows = [replace(one, units=50, unit="texts") for one in rows]
    body = section(
        markdown([*results(), *rows], facts()), "Semantic similarity (STS): systems against each other"
    )
    first, other = body.index("`tta/context`"), body.index("`tta/table`")
    assert first < other
    cells = table_row(body, "tta/context")
    assert cells == [
        "`bilm/context`",
        "+20.0 [+10.0, +30.0]",
        "0.012",
        "lee",
        "test",
        "pearson × 100",
        "50 texts",
    ]


@pytest.mark.parametrize(("steps", "told"), [(600, True), (0, False)])
def test_a_trained_models_scale_says_what_it_read(steps: int, told: bool) -> None:
    one = facts().models[0]
    scale = f"{steps:,} steps, {one.corpus} ({one.corpus_words / 1e6:.2f} M words), tuned"
    rows = [replace(each, scale=f"1 M parameters, {scale}") for each in results() if each.model == one.name]
    found = {each.scale for each in with_read(rows, facts())}
    assert {"1.30 M tokens" in each and each.endswith(", tuned") for each in found} == {told}


def test_what_the_models_read_stands_beside_their_comparison(page: str) -> None:
    assert "1.30 M tokens" in page.splitlines()[0]
    for title in ("Reranking", "Perplexity", "Reranking: systems against each other"):
        assert "1.30 M tokens" in section(page, title)
