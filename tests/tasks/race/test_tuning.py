"""Multiple choice: the inputs by hand in both orders, what is cut, and a toy task that is learnt."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from quartet.errors import InputError
from quartet.tasks.race.data import ChoiceQuestion
from quartet.tasks.race.tuning import MultipleChoiceModel, choose, read_choices
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from tests.data.test_passages import full_stops
from tests.scoring.test_language_model import random_model
from tests.small_corpus import OBJECTS, SUBJECTS, VERBS

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]


def question(
    passage: str, text: str, options: Sequence[str], answer: int = 0, name: str = "high1"
) -> ChoiceQuestion:
    return ChoiceQuestion(name, 0, passage, text, tuple(options), answer, "high")


def toy(count: int, seed: int) -> list[ChoiceQuestion]:
    """Who did it? One of four, who stands in the passage."""
    draw = random.Random(seed)
    found = []
    for number in range(count):
        options = draw.sample(SUBJECTS, 4)
        answer = draw.randrange(4)
        passage = f"{options[answer]} {draw.choice(VERBS)} {draw.choice(OBJECTS)}."
        found.append(question(passage, "who", options, answer, f"high{number}"))
    return found


def test_the_inputs_of_both_orders_by_hand(small_corpus: Small) -> None:
    tokenizer = small_corpus[0]
    model = random_model("segabert", tokenizer, max_length=40)
    asked = [question("a. b.\nc", "d", ["e", "f g", "h", "i"])]
    ((paper,), _) = read_choices(model, asked, 512, full_stops)
    rows = paper.rows(tokenizer.cls_id, tokenizer.sep_id)
    assert len(rows) == 4
    assert tokenizer.tokens(rows[1].ids) == ["[CLS]", "d", "f", "g", "[SEP]", *"a.b.c", "[SEP]"]
    assert rows[1].segments[:, 2].tolist() == [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2]
    assert rows[1].segments[:, 1].tolist() == [0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0]
    assert rows[1].segments[:, 0].tolist() == [0, 0, 1, 2, 2, 0, 1, 0, 1, 0, 0]
    ((released,), _) = read_choices(model, asked, 512, full_stops, passage_first=True)
    row = released.rows(tokenizer.cls_id, tokenizer.sep_id)[1]
    assert tokenizer.tokens(row.ids) == ["[CLS]", *"a.b.c", "[SEP]", "d", "f", "g", "[SEP]"]
    assert row.segments[:, 2].tolist() == [0, 0, 0, 0, 0, 1, 1, 2, 2, 2, 2]
    assert row.segments[:, 1].tolist() == [0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0]


def test_the_passages_end_is_cut_alike_for_all_options_and_counted(small_corpus: Small) -> None:
    tokenizer = small_corpus[0]
    model = random_model("segabert", tokenizer, max_length=30)
    passage = "a b c d e f g h i j k l m n o p q r s t u v w x y z"
    asked = [question(passage, "a b", ["c", "d e f", "g", "h"]), question("a b c", "a", ["b", "c", "d", "e"])]
    choices, cut = read_choices(model, asked, 512, full_stops)
    rows = choices[0].rows(tokenizer.cls_id, tokenizer.sep_id)
    assert max(len(row.ids) for row in rows) == 30
    assert tokenizer.decode(choices[0].passage.ids) == passage[: 2 * 22 - 1]
    assert (cut.questions, cut.tokens, cut.of, cut.texts) == (1, 4, 29, 0)
    assert all(
        len(row.ids) <= 16 for one in read_choices(model, asked, 16, full_stops)[0] for row in one.rows(2, 3)
    )
    long = [question("a b c", "a " * 50, ["b " * 20, "c", "d", "e"])]
    (only,), cut = read_choices(model, long, 512, full_stops)
    assert cut.texts == 4
    assert [len(ids) for ids in only.options] == [13, 13, 13, 13]
    assert tokenizer.tokens(only.options[0]) == ["b"] * 13
    assert tokenizer.tokens(only.options[1])[-1] == "c", "an option keeps its place before the question"
    assert len(only.passage.ids) == 3


def test_choices_do_not_depend_on_the_batch(small_corpus: Small) -> None:
    model = random_model("tta", small_corpus[0], max_length=48)
    chooser = MultipleChoiceModel(model).eval()
    read, _ = read_choices(model, toy(12, 3), 48, full_stops)
    together = choose(chooser, read)
    assert together == [one for part in read for one in choose(chooser, [part])]
    assert len(set(together)) > 1


def test_a_model_of_streams_is_refused(small_corpus: Small) -> None:
    with pytest.raises(InputError, match="reads streams"):
        MultipleChoiceModel(random_model("transformer-xl", small_corpus[0]))
