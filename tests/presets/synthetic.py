"""Made-up data in the place and the format of everything that a paper's preset reads.

Nothing in the preset is pointed elsewhere: the files lie where its `source`, `folder` and `train` say, and what its
comments make by commands is made by these commands.
"""

from __future__ import annotations

import bz2
import gzip
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from quartet.tasks.glue.data import TASKS
from tests.imports import ROOT

#: Documents of a corpus; of WikiText's valid and test; sentences of parallel text; lists; hypotheses; scored pairs.
DOCUMENTS, HELD_OUT, SENTENCES, LISTS, HYPOTHESES, PAIRS = 26, 3, 60, 4, 5, 8
#: Different words, and how many sentences come again and again, so that long n-grams do too.
WORDS, SAYINGS = 1500, 40
#: A command in the comments of a preset.
COMMAND = re.compile(r"^  #   (.*)$", re.MULTILINE)
DUMP = "data/enwiki-latest-pages-articles.xml.bz2"


class Prose:
    """Words of made-up syllables, some much more frequent than others, as in any text."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        syllables = [f"{head}{vowel}" for head in "bdfgklmnprstvz" for vowel in "aeiou"]
        words: dict[str, None] = {}
        while len(words) < WORDS:
            words["".join(self.draw.choices(syllables, k=self.draw.randint(1, 4)))] = None
        self.words = list(words)
        self.weights = list(accumulate(1 / rank for rank in range(1, WORDS + 1)))
        self.sayings = [self._sentence() for _ in range(SAYINGS)]

    def _sentence(self) -> str:
        words = self.draw.choices(self.words, cum_weights=self.weights, k=self.draw.randint(4, 14))
        return " ".join(words).capitalize() + "."

    def sentence(self) -> str:
        """A new sentence, or one of those that everybody says."""
        if self.draw.random() < 0.4:
            return self.sayings[min(int(self.draw.expovariate(0.15)), SAYINGS - 1)]
        return self._sentence()

    def paragraph(self) -> str:
        return " ".join(self.sentence() for _ in range(self.draw.randint(2, 5)))

    def paragraphs(self) -> list[str]:
        return [self.paragraph() for _ in range(self.draw.randint(6, 9))]


def write(preset: Path, settings: dict[str, Any], folder: Path) -> None:
    """Put below `folder` what the settings read, as the file `preset` says it.

    Raises:
        ValueError: the preset reads something that nothing here makes.
    """
    prose = Prose(1)
    root = folder / settings["data"]["root"]
    for corpus in settings["corpora"].values():
        path = root / corpus["source"]
        path.parent.mkdir(parents=True, exist_ok=True)
        if corpus["kind"] == "wikipedia":
            write_dump(path, prose)
        elif corpus["kind"] == "wikitext":
            write_wikitext(path, prose)
        else:
            write_joined(preset, folder, prose)
        if not path.exists():
            raise ValueError(f"{preset.name}: its commands do not make {path}")
    for translator in settings["translators"].values():
        for split, count in {"train": SENTENCES, "dev": LISTS, "test": LISTS}.items():
            for path in translator[split]:
                write_lines(root / path, [prose.sentence() for _ in range(count)])
    for lists in settings["nbest"].values():
        if not lists["folder"].startswith("artifacts/"):  # else a translator makes them
            for split in ("dev", "test"):
                write_lists(root / lists["folder"] / lists[split], lists["format"], prose)
    for task in settings["tasks"].values():
        for role, source in task["files"].items():
            write_set(root / source["source"], task["kind"], task.get("format", ""), role, prose)


def write_dump(path: Path, prose: Prose) -> None:
    """A dump of Wikipedia's articles, with what is no article between them."""
    path.write_bytes(bz2.compress("\n".join(_dump(prose)).encode()))


def _dump(prose: Prose) -> Iterator[str]:
    yield '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en"><siteinfo>'
    yield '<sitename>Wikipedia</sitename><namespaces><namespace key="0" case="first-letter" />'
    yield '<namespace key="1" case="first-letter">Talk</namespace></namespaces></siteinfo>'
    for number in range(1, DOCUMENTS + 1):
        first, *rest = prose.paragraphs()
        text = f"'''Word {number}''' {first}<ref>A book.</ref>\n\n== Use ==\n" + "\n\n".join(rest)
        yield _page(f"Word {number}", 0, number, text + "\n[[Category:Words]]")
        yield _page(f"Talk:Word {number}", 1, DOCUMENTS + number, prose.sentence())
    yield _page("Word", 0, 3 * DOCUMENTS, "#REDIRECT [[Word 1]]", '<redirect title="Word 1" />')
    yield "</mediawiki>"


def _page(title: str, space: int, number: int, text: str, redirect: str = "") -> str:
    return (
        f"<page><title>{title}</title><ns>{space}</ns><id>{number}</id>{redirect}<revision><id>{1000 + number}</id>"
        f'<model>wikitext</model><text xml:space="preserve">{escape(text)}</text></revision></page>'
    )


def write_wikitext(folder: Path, prose: Prose) -> None:
    """WikiText as it is unpacked: words and marks between blanks, rare words as <unk>."""
    folder.mkdir(parents=True, exist_ok=True)
    rare = set(prose.words[-100:])
    for split, count in {"train": DOCUMENTS, "valid": HELD_OUT, "test": HELD_OUT}.items():
        lines = []
        for number in range(count):
            lines += [f"= Word {number} =", "= = Use = =", *prose.paragraphs()]
        words = [
            [word if word not in rare else "<unk>" for word in re.sub(r"\.", " .", line).split()]
            for line in lines
        ]
        text = "".join(f" \n {' '.join(line)} \n" for line in words)
        (folder / f"wiki.{split}.tokens").write_text(text, encoding="utf-8")


def write_joined(preset: Path, folder: Path, prose: Prose) -> None:
    """What the commands in a preset's comments join: a dump with LibriSpeech's text or with books."""
    (folder / "data" / "books").mkdir(parents=True, exist_ok=True)
    write_dump(folder / DUMP, prose)
    write_lines(
        folder / "data" / "librispeech-lm-norm.txt.gz", [prose.sentence().upper()[:-1] for _ in range(2500)]
    )
    for number in range(3):
        text = "\n\n\n\n".join(prose.paragraphs())  # more blank lines than a paragraph's end has
        (folder / "data" / "books" / f"{number}.txt").write_text(text, encoding="utf-8")
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
    }
    commands = "\n".join(COMMAND.findall(preset.read_text(encoding="utf-8")))
    subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=folder, env=environment, check=True)


def write_lines(path: Path, lines: list[str]) -> None:
    """A line each, compressed where the name says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def write_lists(path: Path, form: str, prose: Prose) -> None:
    """N-best lists in mlm-scoring's format."""
    if form != "mlm-scoring":
        raise ValueError(f"no lists are made in the format {form}")
    found: dict[str, Any] = {}
    for number in range(LISTS):
        words = prose.sentence()[:-1].upper().split()
        found[f"utterance-{number}"] = {"ref": " ".join(words)}
        for place in range(1, HYPOTHESES + 1):
            heard = [word for word in words if prose.draw.random() > 0.1] or words
            found[f"utterance-{number}"][f"hyp_{place}"] = {"score": -float(place), "text": " ".join(heard)}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found), encoding="utf-8")


#: Published sets of which the repository has a made-up example, by their format or kind.
EXAMPLES = {"snli": "snli.{}.jsonl", "squad1": "squad.{}.json", "race": "race.{}.jsonl", "rte": "rte.{}.tsv"}


def write_set(path: Path, kind: str, form: str, role: str, prose: Prose) -> None:
    """A file of an evaluation set: the repository's example of the format, or made-up rows in it.

    Raises:
        ValueError: nothing here makes the format.
    """
    split = role.partition("_")[0]
    example = EXAMPLES.get({"mnli": "snli"}.get(form, form) if kind == "nli" else form or kind)
    if form == "squad2":
        return write_squad2(path, prose)
    if example:
        split = "dev" if split == "test" and kind == "race" else split
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / "data" / "examples" / example.format(split), path)
    elif kind == "glue":
        write_glue(path, form, split == "test", prose)
    else:
        write_pairs(path, form, prose)


def write_squad2(path: Path, prose: Prose) -> None:
    """Articles of version 2.0: of two questions the first has an answer."""
    articles = []
    for number in range(PAIRS):
        context = prose.paragraph()
        answer = {"text": context.split()[0], "answer_start": 0}
        asked = {"question": prose.sentence()}
        questions = [
            {**asked, "id": f"{path.stem}-{number}-0", "answers": [answer], "is_impossible": False},
            {**asked, "id": f"{path.stem}-{number}-1", "answers": [], "is_impossible": True},
        ]
        articles.append({"title": f"{number}", "paragraphs": [{"context": context, "qas": questions}]})
    write_lines(path, [json.dumps({"version": "v2.0", "data": articles})])


def write_glue(path: Path, form: str, hidden: bool, prose: Prose) -> None:
    """GLUE's own tables; the test split has a number in the place of the label."""
    task = TASKS[form]
    golds = task.labels or ("1.0", "3.5")
    texts = [[prose.sentence() for _ in task.tsv] for _ in range(PAIRS)]
    labels = [golds[number % len(golds)] for number in range(PAIRS)]
    if hidden:
        rows = [[task.index, *task.tsv], *([str(number), *each] for number, each in enumerate(texts))]
    elif form == "cola":  # which has no line of names
        rows = [["source", label, "", text] for (text,), label in zip(texts, labels, strict=True)]
    else:
        rows = [[*task.tsv, task.gold], *([*each, label] for each, label in zip(texts, labels, strict=True))]
    write_lines(path, ["\t".join(row) for row in rows])


def write_pairs(path: Path, form: str, prose: Prose) -> None:
    """Pairs of sentences with scores, as the STS Benchmark or SICK have them."""
    rows = [(prose.sentence(), prose.sentence(), 1.0 + number % 4) for number in range(PAIRS)]
    if form == "stsb":
        lines = [f"{first},{second},{score}" for first, second, score in rows]
    elif form == "semeval":
        lines = [f"{score}\t{first}\t{second}" for first, second, score in rows]
    elif form == "sick":
        lines = ["pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"]
        lines += [
            f"{number}\t{first}\t{second}\t{score}\tNEUTRAL"
            for number, (first, second, score) in enumerate(rows)
        ]
    else:
        raise ValueError(f"no pairs are made in the format {form}")
    write_lines(path, lines)
