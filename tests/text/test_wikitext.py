"""What a reader sees of a wiki page is kept, and nothing of its mark-up."""

from __future__ import annotations

import pytest

from quartet.text.wikitext import paragraphs_of


def lines(wikitext: str) -> list[str]:
    return [("== " if paragraph.heading else "") + paragraph.text for paragraph in paragraphs_of(wikitext)]


def test_paragraphs_end_at_blank_lines_and_headings_stay() -> None:
    page = (
        "One line\nand its next.\n\nAnother.\n== Past ==\nLong ago.\n=== Early '''days''' ===\nVery long ago."
    )
    assert lines(page) == [
        "One line and its next.",
        "Another.",
        "== Past",
        "Long ago.",
        "== Early days",
        "Very long ago.",
    ]


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("A [[dog]] and a [[cat (animal)|cat]].", "A dog and a cat."),
        ("A [http://a.org site] and [http://b.org].", "A site and."),
        ("See http://a.org/x?y=1 for it.", "See for it."),
        ("It ''was'' '''so'''.<ref name=a>Smith {{cite|x}}</ref><ref name=a/>", "It was so."),
        ("Pots&nbsp;&amp; pans &lt;3.", "Pots & pans <3."),
        ("It is &#55357;&#56832; so &#xD800;and so.", "It is so and so."),
        ("In<!-- not [[this]] -->side.", "Inside."),
        ("Water is H<sub>2</sub>O, 10<sup>3</sup> g on the 19<sup>th</sup>.", "Water is H2O, 10^3 g on the 19th."),
        ("[[File:A.jpg|thumb|A [[dog]]. It barks.]]Text.", "Text."),
        ("[[Category:Dogs]][[fr:Chien]]A [[Category talk: an essay]] and [[:Category:Dogs|dogs]].", None),
        ("{{Infobox|a=1|b={{c}}}}\nText {{unknown|words}}here.", "Text here."),
        ("It is {{convert|1300|mi|km}} long.", "It is 1300 mi long."),
        ("It is {{convert|5|to|7|km2|sqmi}} large.", "It is 5 to 7 km² large."),
        ("He is {{cvt|5|ft|7|in|m}} tall, {{frac|2|1|2}} times {{frac|3}}.", "He is 5 ft 7 in tall, 2 1/2 times 1/3."),
        ("The {{lang|de|''Hund''}} ({{lang-ru|собака}}).", "The Hund (собака)."),
        ("{{As of|2014}} it rose, {{as of|2015|7|lc=y}} it fell.", "As of 2014 it rose, as of 2015 it fell."),
        ("Let {{nowrap|1=''n'' = 3}}.", "Let n = 3."),
        (r"Let <math>x_{i} = \alpha</math> be small.", "Let x_i = α be small."),
    ],
)  # fmt: skip
def test_markup_becomes_words(wikitext: str, text: str | None) -> None:
    assert lines(wikitext) == [text or "A Category talk: an essay and dogs."]


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("Tea ({{IPAc-en|t|i}}) is hot.", "Tea is hot."),
        ("Tea ({{IPAc-en|t|i}}; {{respell|TEE}}) is hot.", "Tea is hot."),
        ("Tea ({{IPAc-en|t|i}} or {{respell|TEE}}; Chinese) is hot.", "Tea (Chinese) is hot."),
        ("Tea (hot; from {{zzz}}, or cold) is good.", "Tea (hot, or cold) is good."),
        ("Tea ( ; ) is [] hot .", "Tea is hot."),
        ("Tea (a (nested {{zzz}}) hint) is fine.", "Tea (a (nested) hint) is fine."),
    ],
)
def test_brackets_emptied_by_a_removal_are_closed(wikitext: str, text: str) -> None:
    assert lines(wikitext) == [text]


def test_tables_galleries_code_and_preformatted_lines_leave_nothing() -> None:
    page = """Before the table.

{| class="wikitable"
! Head
|-
| A long cell that ends like a sentence. || 2
{| class="inner"
| Inner cell.
|}
|}

<gallery>
File:A.jpg|A caption that is a sentence.
</gallery>

<source lang="c">int main(void);</source>

<syntaxhighlight>print("x")</syntaxhighlight>

 preformatted words, with a space before them.

| A stray row of a broken table.

After the table."""
    assert lines(page) == ["Before the table.", "After the table."]


def test_list_items_are_kept_where_they_are_prose() -> None:
    page = "There are kinds:\n* Short\n* This one runs.\n** So does this.\n# And this!\n: Indented.\n; Term"
    expected = ["There are kinds:", "This one runs.", "So does this.", "And this!", "Indented."]
    assert lines(page) == expected


def test_reference_sections_go_with_what_is_below_them() -> None:
    page = "Text one.\n== See also ==\nNo one.\n=== Books ===\nNo two.\n== Legacy ==\nText two.\n== References ==\nNo."
    assert lines(page) == ["Text one.", "== Legacy", "Text two."]


def test_a_heading_needs_something_below_it() -> None:
    page = "== A ==\n== B ==\n=== C ===\nText one.\n=== D ===\n* item\n== E ==\n=== F ==="
    assert lines(page) == ["== B", "== C", "Text one."]


def test_a_paragraph_around_a_formula_that_needs_typesetting_goes() -> None:
    page = r"Let <math>\frac{1}{2}</math> be half." + "\n\nIt is half."
    assert lines(page) == ["It is half."]


def test_quotations_become_paragraphs_of_their_own() -> None:
    page = "She said: <blockquote>I am here.</blockquote> {{quote|Nobody knew.|author=B}} Then she left."
    assert lines(page) == ["She said:", "I am here.", "Nobody knew.", "Then she left."]


def test_labels_go_and_long_lines_without_a_stop_stay() -> None:
    page = "New York\n\nIt had been quiet for a very long time in there"
    assert lines(page) == ["It had been quiet for a very long time in there"]


@pytest.mark.parametrize(
    "text",
    [
        "茶は飲み物である。",
        "「茶は何ですか？」",
        "茶有以下几种：",
        "यह चाय है।",
        "هل هذا شاي؟",
        "یہ چائے ہے۔",
        "Սա թեյ է։",
        "ይህ ሻይ ነው።",
    ],
)
def test_prose_ends_as_it_does_in_each_script(text: str) -> None:
    assert [paragraph.text for paragraph in paragraphs_of(f"{text}\n\n茶\n\nचाय")] == [text]


def test_control_characters_cannot_pose_as_marks() -> None:
    assert lines("A \x02b\x03 2\x01 c\x04.") == ["A b 2 c."]


@pytest.mark.parametrize("number", ["1", "2", "3", "x4", "x05", "127"])
def test_control_characters_written_as_entities_are_no_marks_either(number: str) -> None:
    wikitext = f"&#{number};x is a long line, and it ends like&#{number}; any other."
    assert [p.text for p in paragraphs_of(wikitext)] == ["x is a long line, and it ends like any other."]


@pytest.mark.parametrize(
    "deep", ["(" * 3000 + ")" * 3000, "{{a|" * 200, "[[" * 3000, "{|\n|" * 2000, "<div>" * 900]
)
def test_deep_nesting_ends(deep: str) -> None:
    assert lines(deep + "\n\nText.")[-1:] in (["Text."], [])
