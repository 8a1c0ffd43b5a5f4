"""The page: one file, reachable parts, tables with captions and scopes, pictures in the page's colours."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from quartet.report.figures import draw
from quartet.report.html.page import pages
from quartet.report.html.pictures import inline
from quartet.report.html.render import MOST_ROWS, HtmlWriter
from quartet.report.tables import INDEX, ReportDocument, document
from quartet.results import Result
from tests.report.rendered import picture_data
from tests.report.synthetic import facts, loss_curves, results, row, wer_curves

#: Elements of HTML without an end.
VOID = {"meta", "br", "img", "hr", "link", "input"}
#: Links of the page to the files beside it.
TO_TIMES = {("href", "times/README.md"), ("href", "times/index.html")}


class Elements(HTMLParser):
    """The elements of a page: (tag, attributes, the tags around it), and whether all are closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None], tuple[str, ...]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs), tuple(self.open)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs), tuple(self.open)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes another element"

    def all(self, tag: str) -> Iterator[dict[str, str | None]]:
        return (attributes for name, attributes, _ in self.found if name == tag)


def drawn(folder: Path, rows: list[Result]) -> ReportDocument:
    """A document of the invented run with its pictures, which are drawn in the folder."""
    data = picture_data(rows, training=loss_curves(), weights=wer_curves())
    return document(rows, facts(), draw(folder, data))


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    return pages(drawn(folder, results()), folder, most=10**7)[INDEX]


@pytest.fixture(scope="module")
def elements(text: str) -> Elements:
    return Elements(text)


def test_every_element_is_closed(elements: Elements) -> None:
    assert elements.open == []


def test_the_same_rows_give_the_same_bytes(text: str, tmp_path: Path) -> None:
    assert pages(drawn(tmp_path, results()[::-1]), tmp_path, most=10**7)[INDEX] == text


def test_nothing_is_fetched(text: str, elements: Elements) -> None:
    assert "default-src 'none'" in text
    assert not {"script", "link", "iframe", "object"} & {tag for tag, _, _ in elements.found}
    for _, attributes, _ in elements.found:
        for key in ("src", "href", "xlink:href"):
            value = attributes.get(key)
            assert value is None or value.startswith(("#", "data:")) or (key, value) in TO_TIMES, value
    assert "@import" not in text and "url(http" not in text


def test_what_is_too_long_is_on_the_second_page_and_every_link_finds_it(
    text: str, elements: Elements, tmp_path: Path
) -> None:
    whole = drawn(tmp_path, results())
    most = len(text.encode()) * 2 // 3
    both = pages(whole, tmp_path, most)
    assert len(both[INDEX].encode()) < most
    parsed = {name: Elements(page) for name, page in both.items()}
    ids = {name: {one["id"] for _, one, _ in page.found if "id" in one} for name, page in parsed.items()}
    headings = {one["id"] for tag, one, _ in elements.found if tag in ("h2", "h3")}
    assert headings <= ids[INDEX], "every part has its anchor on the first page"
    for name, page in parsed.items():
        assert page.open == []
        for link in (str(one["href"]) for one in page.all("a")):
            other, _, place = link.partition("#")
            assert ("href", other) in TO_TIMES or not place or place in ids[other or name], link
    tables = {name: len(list(page.all("table"))) for name, page in parsed.items()}
    assert all(tables.values()) and sum(tables.values()) == len(list(elements.all("table")))


def test_ids_are_unique_and_every_link_leads_somewhere(elements: Elements) -> None:
    ids = Counter(attributes["id"] for _, attributes, _ in elements.found if "id" in attributes)
    assert [name for name, count in ids.items() if count > 1] == []
    links = {attributes["href"] for tag, attributes, _ in elements.found if tag in ("a", "use")}
    links -= {place for _, place in TO_TIMES}
    assert links and {link for link in links if link and link[1:] not in ids} == set()
    labels = {attributes["aria-labelledby"] for attributes in elements.all("section")}
    assert labels <= set(ids)


def test_every_table_has_a_caption_heads_and_a_box_that_scrolls(elements: Elements) -> None:
    tables = [(attributes, around) for tag, attributes, around in elements.found if tag == "table"]
    captions = sum(1 for tag, _, around in elements.found if tag == "caption" and around[-1] == "table")
    assert len(tables) == captions > 25
    assert all(around[-1] == "div" for _, around in tables)
    assert all(attributes.get("scope") in ("col", "row") for attributes in elements.all("th"))
    assert {attributes["class"] for tag, attributes, _ in elements.found if attributes.get("tabindex")} == {
        "box"
    }


def test_every_picture_says_what_it_shows(elements: Elements, tmp_path: Path) -> None:
    pictures = [attributes for tag, attributes, around in elements.found if tag == "svg"]
    drawn(tmp_path, results())
    assert len(pictures) == len(list(tmp_path.iterdir())) > 1
    assert all(attributes["role"] == "img" and attributes["aria-label"] for attributes in pictures)
    assert sum(1 for _ in elements.all("figcaption")) == len(pictures)


def test_headings_skip_no_level(elements: Elements) -> None:
    levels = [
        int(tag[1]) for tag, _, _ in elements.found if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit()
    ]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_light_and_dark_have_the_same_colours_to_set(text: str) -> None:
    light, dark = text.split("@media (prefers-color-scheme: dark)")[0], text.split("scheme: dark)")[1]
    for name in ("--page", "--card", "--ink", "--soft", "--rule", "--link", "--yes", "--no"):
        assert f"{name}:" in light and f"{name}:" in dark.split("}")[0]
    for used in ("var(--ink)", "var(--card)", "var(--rule)"):
        assert used in text


def test_what_was_not_run_is_marked_in_the_contents(text: str) -> None:
    contents = text.split('<nav id="contents"')[1].split("</nav>")[0]
    assert "Table 2 (not run)" in contents
    assert 'href="#t-ta-paper-table-1-word-error-rates-after-reranking-librispeech"' in contents


def test_an_experiment_without_pictures_or_figures_has_a_page(tmp_path: Path) -> None:
    text = pages(document([], facts()), tmp_path)[INDEX]
    assert Elements(text).open == []
    assert "In pictures" not in text
    assert "<svg" not in text


def test_a_name_cannot_break_the_page(tmp_path: Path) -> None:
    known = facts()
    rows = [row("strange", "<script>alert(1)</script>", "a & <b>", "test", "x", 1.0, 3, None, None)]
    text = pages(document(rows, known), tmp_path)[INDEX]
    assert "<script" not in text
    assert "a &amp; &lt;b&gt;" in text


def written(*lines: str) -> str:
    return HtmlWriter(lambda path, words: f"<figure>{path}: {words}</figure>\n").html(lines, "A part")


def test_the_paragraph_before_a_table_is_its_caption() -> None:
    html = written("**`lee`** test:", "", "| a | b |", "|:--|--:|", "| `x` | 1.2 [1.0, 1.4] |")
    assert "<caption><strong><code>lee</code></strong> test</caption>" in html
    assert 'aria-label="lee test"' in html
    assert '<th scope="row"><code>x</code></th>' in html
    assert '<td class="number">1.2 [1.0,\u00a01.4]</td>' in html
    assert "<p>" not in html


def test_a_table_without_one_is_named_after_its_part() -> None:
    html = written("Some words.", "", "| a | b |", "|:--|--:|", "| x | some text |")
    assert "<p>Some words.</p>" in html
    assert '<caption class="hidden">A part</caption>' in html
    assert "<td>some text</td>" in html


@pytest.mark.parametrize(("rows", "folded"), [(MOST_ROWS, False), (MOST_ROWS + 1, True)])
def test_a_long_table_is_folded(rows: int, folded: bool) -> None:
    html = written("Pairs:", "", "| a | b |", "|:--|--:|", *["| x | 1 |"] * rows)
    assert html.count("<details>") == html.count("</details>") == folded


NUMBERS = ("–", "1,234", "+0.50 [+0.40, +0.60]", "7.32 [5.58, 9.95] times", "0.53 M", "100 %", "3.97 (-7.9 %)",
           "12.3 ± 0.4 [11.0, 13.1]", "< 0.001", "1.2e+06")  # fmt: skip


@pytest.mark.parametrize("entry", NUMBERS)
def test_numbers_stand_to_the_right(entry: str) -> None:
    assert 'class="number"' in written("| a | b |", "|:--|--:|", f"| x | {entry} |")


@pytest.mark.parametrize("entry", ["20 words, a sentence vector", "sentences", "1 of them"])
def test_texts_stand_to_the_left(entry: str) -> None:
    assert 'class="number"' not in written("| a | b |", "|:--|--:|", f"| x | {entry} |")


def test_short_words_are_explained_where_they_first_stand() -> None:
    html = written("WER and WER, `WER`, XWER; pPPL.")
    assert html.count("<abbr") == 2
    assert html.startswith('<p><abbr title="word error rate')
    assert ">pPPL</abbr>" in html


def test_a_picture_alone_is_a_figure() -> None:
    assert written("![what it shows](figures/x.svg)") == "<figure>figures/x.svg: what it shows</figure>\n"


@pytest.mark.parametrize(
    ("entry", "mark"),
    [
        ("same direction, shown", "yes"),
        ("opposite direction, shown", "no"),
        ("not shown", "open"),
        ("alike, no difference shown", "open"),
        ("alike in the paper, better here", "open"),
        ("alike in the paper, worse here", "no"),
        ("another set (2 of 4), same direction, shown (2 of 4)", "open"),
    ],
)
def test_verdicts_have_a_class_beside_their_words(entry: str, mark: str) -> None:
    html = written(f"| a | {entry} |", "|:--|--:|", f"| x | {entry} |")
    assert f'<td class="{mark}">{entry}</td>' in html
    assert f"{entry}</th>" in html and html.count(f'"{mark}"') == 1, "a heading has none"


def test_a_picture_takes_the_pages_colours_and_ids_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / draw(tmp_path, picture_data(results()))["sts"]
    svg = inline(path, "one", 'says "this"')
    root = ElementTree.fromstring(svg)
    assert root.get("aria-label") == 'says "this"'
    assert root.get("width") is None and root.get("viewBox")
    assert "#000000" not in svg and "#ffffff" not in svg
    assert all(element.get("id", "one-").startswith("one-") for element in root.iter())
    assert "<metadata" not in svg and "<style" not in svg and "xlink" not in svg


def test_a_file_that_is_no_picture_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.svg"
    path.write_text("<html/>")
    with pytest.raises(ValueError, match="no SVG"):
        inline(path, "one", "nothing")
