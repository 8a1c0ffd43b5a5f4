"""References of every kind are read for what they are, or refused by name; texts by order meet the right lists."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quartet.errors import InputError
from quartet.nbest.formats import NBestFiles, read
from quartet.nbest.formats.references import named_lines

LISTS = [{"id": "utt-a", "input": ["hello world"]}, {"id": "utt-b", "input": ["c d"]}]
STM = ";; a comment\nutt-a 1 spk 1.20 2.00 <o,f0> world\nutt-a 1 spk 0.00 1.20 <o,f0> hello\nutt-b 1 7 0.00 0.5 c d\n"
CTM = "utt-a 1 0.50 0.2 world 0.9\nutt-a 1 0.10 0.2 hello 1.0\nutt-b 1 0.00 0.20 c 0.5\nutt-b 1 0.2 0.20 d 0.5\n"
MANIFEST = '{"audio_filepath": "wav/%s.wav", "duration": 1.5, "text": "%s"}\n'
SGM = (
    '<refset setid="s"><doc docid="d" sysid="r">\n<seg id="1">hello\nworld</seg>\n<seg id="2">c d</seg>\n'
    "</doc></refset>\n"
)
CAMPAIGN = (
    "<dataset><doc id='d'><src><p><seg id='1'>x</seg></p></src>"
    "<ref translator='A'><p><seg id='1'>%s</seg></p></ref></doc></dataset>\n"
)
KINDS = {
    "refs.stm": STM,
    "stm.txt": STM,
    "refs.ctm": CTM,
    "ctm.txt": CTM,
    "refs.TRN": "hello world (utt-a)\nc d (utt-b)\n",
    "trn.txt": ";; a comment\nhello world (utt-a)\nc d (utt-b)\n",
    "text": ";; a comment\nutt-a hello world\nutt-b c d\n",
    "lines": "hello world\nc d\n",
    "table.tsv": "client_id\tpath\tsentence\nx\tutt-a.mp3\thello world\ny\tutt-b.mp3\tc d\n",
    "table.csv": 'id,text\nutt-a,"hello world"\nutt-b,c d\n',
    "manifest.json": MANIFEST % ("utt-a", "hello world") + MANIFEST % ("utt-b", "c d"),
    "other.json": MANIFEST % ("x1", "hello world") + MANIFEST % ("x2", "c d"),
    "texts.json": '{"text": "hello world"}\n{"text": "c d"}\n',
    "refs.json": '{\n"utt-b": "c d",\n"utt-a": "hello world"\n}\n',
    "refs.sgm": SGM,
    "refs.xml": CAMPAIGN % "hello world" + CAMPAIGN % "c d",
}


def attached(tmp_path: Path, name: str, content: str, lists: object = LISTS) -> dict[str, str | None]:
    (tmp_path / "lists").write_text(json.dumps(lists))
    (tmp_path / name).write_text(content, encoding="utf-8")
    found = read("hyporadise", NBestFiles(tmp_path / "lists", references=tmp_path / name))
    assert (found.missing, found.references_unused) == ((), 0)
    return {one.utterance: one.reference for one in found.lists}


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_is_read(name: str, tmp_path: Path) -> None:
    assert attached(tmp_path, name, KINDS[name]) == {"utt-a": "hello world", "utt-b": "c d"}


@pytest.mark.parametrize("ids", [["0", "1", "2"], ["3", "1", "2"], [None, None, None]])
def test_line_n_belongs_to_the_nth_list_whatever_its_name(ids: list[str | None], tmp_path: Path) -> None:
    texts = ["a b", "c d", "e f"]
    lists = [
        {"input": [text]} | ({} if name is None else {"id": name})
        for name, text in zip(ids, texts, strict=True)
    ]
    assert (
        list(attached(tmp_path, "refs.txt", "".join(f"{text}\n" for text in texts), lists).values()) == texts
    )


def test_audio_files_that_are_called_by_numbers_name_no_list_that_has_none(tmp_path: Path) -> None:
    """NeMo's beams stand in the manifest's order: the first is that of 3.wav here, and no list is that of 30.wav."""
    lists, manifest = tmp_path / "beams.tsv", tmp_path / "manifest.json"
    lists.write_text("a\t-1\nb\t-2\nc\t-1\n")
    for files in (["3", "1", "2"], ["30", "2", "7"], ["0", "1", "2"]):
        manifest.write_text("".join(MANIFEST % (file, text) for file, text in zip(files, "abc", strict=True)))
        found = read("nemo", NBestFiles(lists, references=manifest, beam=1))
        assert [(one.hypotheses[0].text, one.reference) for one in found.lists] == [
            *zip("abc", "abc", strict=True)
        ]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        (
            "a.txt",
            "1\n00:00:00,000 --> 00:00:01,000\nhello world\n",
            "is a file of subtitles, which is not read",
        ),
        ("a.mlf", '#!MLF!#\n"utt-a.lab"\nhello\n.\n', "is a master label file of HTK"),
        (
            "a.txt",
            "hello (uh) world (utt-a)\nc d (utt-b)\n",
            r"a.txt:1: it leaves the choice whether \(uh\) is said",
        ),
        ("a.stm", "utt-a 1 s 0.0 1.0 a { b / c }\n", "a.stm:1: it leaves the choice between texts"),
        ("a.stm", "utt-a 1 s 0.0 1.0 a\nutt-a 2 s 0.0 1.0 b\n", 'a.stm:2: "utt-a" has two channels, 1 and 2'),
        ("a.txt", "utt-a hello world\nwith no name\n", "some of its lines begin with the name of a list"),
        ("a.txt", "hello world\n", "has 1 lines for 2 lists; write the text of each list alone on a line"),
        ("a.txt", ";; note\nhello world\nc d\n", "a.txt:1: a comment .* among lines that are counted"),
        (
            "a.tsv",
            "utt-a\t1\thello world\nutt-b\t2\tc d\n",
            "has 3 columns; begin it with a line of their names",
        ),
        ("a.csv", "utt-a,hello world\n", "its first line names no columns"),
        ("a.tsv", "id\ttext\ttranscript\nutt-a\ta\tb\nutt-b\ta\tb\n", "has texts under text and transcript"),
        ("a.sgm", SGM.replace("refset", "srcset"), "holds a source"),
        ("a.sgm", SGM.replace('seg id="1"', 'seg id="3"'), "segment 2 stands behind 3; put them"),
        ("a.sgm", SGM[:-12] + SGM[17:], "more than one reference"),
        (
            "a.xml",
            CAMPAIGN % "hello world" + CAMPAIGN.split("<ref ")[0] + "</doc></dataset>",
            "documents without a reference",
        ),
    ],
)
def test_what_is_not_sure_is_refused_by_name(name: str, content: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        attached(tmp_path, name, content)


@pytest.mark.parametrize("name", ["refs.stm", "refs.ctm", "refs.TRN", "text", "manifest.json"])
def test_a_line_in_another_code_is_refused_by_its_number_and_the_others_are_read(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / "lists").write_text(json.dumps(LISTS))
    first, rest = KINDS[name].encode().split(b"\n", 1)
    (tmp_path / name).write_bytes(first + b"\n\xff\n" + rest)
    files = NBestFiles(tmp_path / "lists", references=tmp_path / name)
    with pytest.raises(InputError, match="line 2: byte 0xff is not UTF-8"):
        read("hyporadise", files)
    found = read("hyporadise", files, skip=True)
    assert [one.reference for one in found.lists] == ["hello world", "c d"]
    assert len(found.references_refused) == 1


def test_lines_that_are_known_to_begin_with_names_are_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"a b  c\n\n;; d e\nf\ng\th i \n")
    assert named_lines(path) == {"a": "b  c", "f": "", "g": "h i"}
    for content, words in (
        (b"a b\n\xff c\n", "line 2: byte 0xff is not UTF-8"),
        (b"a b\nc d", "text:2: the last line does not end"),
        (b"a b\nc d\na e\n", 'text:3: utterance "a" occurs twice'),
    ):
        path.write_bytes(content)
        with pytest.raises(InputError, match=words):
            named_lines(path)


def test_costs_are_not_taken_for_scores(tmp_path: Path) -> None:
    path = tmp_path / "lists"
    for scores, words in (
        ([3.0, 12.0], "1 of 1 hypotheses have a better score"),
        ([12.0, 3.0], "no score is below 0"),
    ):
        path.write_text(json.dumps([{"input": ["x", "y"], "score": scores}]))
        with pytest.raises(InputError, match=words):
            read("hyporadise", NBestFiles(path))
        (one,) = read("hyporadise", NBestFiles(path), scores_are="costs").lists
        assert one.first_pass == [-3.0, -12.0]
        assert one.hypotheses[0].text == ("x" if scores[0] == 3.0 else "y")
        (same,) = read("hyporadise", NBestFiles(path), scores_are="scores").lists
        assert same.first_pass == [12.0, 3.0]
    path.write_text(json.dumps([{"input": ["x"]}]))
    with pytest.raises(InputError, match="has no scores that could be costs"):
        read("hyporadise", NBestFiles(path), scores_are="costs")
