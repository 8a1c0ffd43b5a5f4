"""A network filled from a BERT is that BERT where the two are the same model, and starts from it where they are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from quartet.data.batch import Row, collate, framed
from quartet.errors import InputError
from quartet.hugging_face import content_hash
from quartet.models.architectures import build_for
from quartet.models.network import Network
from quartet.text.pretrained_vocabulary import read_vocabulary
from quartet.text.tokenizer import TextTokenizer, train_tokenizer
from quartet.training.from_bert import fill
from tests.bert import PIECES, TEXTS, save_bert, save_bert_tokenizer, transformers
from tests.models.shapes import small

#: What an entry of `models` says to start from tests.bert.save_bert.
MLM = {"max_length": 40, "norm_epsilon": 1e-12, "init_from": "a BERT"}
LAE = {**MLM, "objective": "lae", "architecture": "tta"}
SHORT = [text for text in TEXTS if 0 < len(text) < 100]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any, TextTokenizer]:
    """A saved BERT, the model itself, and our reading of its vocabulary."""
    folder = tmp_path_factory.mktemp("bert")
    model = save_bert(folder)
    return folder, model, read_vocabulary(folder)


def filled(folder: Path, tokenizer: TextTokenizer, **settings: Any) -> Network:
    torch.manual_seed(3)
    network = build_for(small(**settings), tokenizer).eval()
    fill(network, tokenizer, str(folder))
    return network


def logits(network: Network, tokenizer: TextTokenizer, texts: list[str], frame: tuple[int, int]) -> Tensor:
    """(B, T, V) log-probabilities of framed texts."""
    rows = []
    for text in texts:
        ids = tokenizer.encode(text)
        segments = np.zeros((len(ids), 3), dtype=np.int64)
        segments[:, 0] = np.arange(len(ids))
        rows.append(framed(Row(np.asarray(ids), segments), *frame))
    batch = collate(rows, tokenizer.pad_id)
    with torch.no_grad():
        hidden_BTD, _ = network(batch.ids_BT, batch.positions_BTP, batch.real_BT)
        return network.logprobs(hidden_BTD)


@pytest.mark.parametrize("reads", ["spans", "sentences"])
def test_a_filled_encoder_is_the_bert(bert: tuple[Path, Any, TextTokenizer], reads: str) -> None:
    """On the same pieces: our [BOS] and [EOS] start as [CLS] and [SEP], so single sentences agree too."""
    folder, model, tokenizer = bert
    network = filled(folder, tokenizer, **MLM, reads=reads)
    frame = (tokenizer.cls_id, tokenizer.sep_id) if reads == "spans" else (tokenizer.bos_id, tokenizer.eos_id)
    ours_BTV = logits(network, tokenizer, SHORT, frame)
    theirs = transformers().AutoTokenizer.from_pretrained(folder)
    inputs = theirs(SHORT, padding=True, return_tensors="pt")
    with torch.no_grad():
        expected_BTV = model(**inputs).logits.log_softmax(dim=-1)
    real_BT = inputs["attention_mask"].bool()
    assert ours_BTV.shape[:2] == expected_BTV.shape[:2]
    pieces = tokenizer.tokens(range(tokenizer.vocab_size))
    columns = torch.tensor([PIECES.index(piece) for piece in pieces if piece in PIECES])
    # Our vocabulary has two tokens more: compare over the pieces that both have.
    shared = torch.tensor([piece in PIECES for piece in pieces])
    ours_NV = ours_BTV[real_BT][:, shared].log_softmax(dim=-1)
    assert columns.sort().values.tolist() == list(range(len(PIECES)))
    assert torch.allclose(ours_NV, expected_BTV[real_BT][:, columns], atol=1e-5)
    assert ours_NV.std() > 0.1, "all logits alike would agree too"


def test_the_record_says_what_was_taken(bert: tuple[Path, Any, TextTokenizer]) -> None:
    folder, _, tokenizer = bert
    taken = fill(build_for(small(**LAE, layers=1), tokenizer), tokenizer, str(folder))
    assert (taken.rows, taken.vocabulary) == (tokenizer.vocab_size, tokenizer.vocab_size)
    assert (taken.layers, taken.bert_layers) == (1, 2)
    assert taken.content == content_hash(folder)
    assert str(taken).endswith(f": {len(PIECES) + 2} of {len(PIECES) + 2} token embeddings and 1 of 2 layers")


@pytest.mark.parametrize("first_query", ["position", "mask_token"])
@pytest.mark.parametrize("layers", [1, 2])
def test_a_filled_tta_has_the_weights_and_stays_self_unknown(
    bert: tuple[Path, Any, TextTokenizer], first_query: str, layers: int
) -> None:
    folder, model, tokenizer = bert
    network = filled(folder, tokenizer, **LAE, layers=layers, tta={"first_query": first_query})
    embeddings = model.bert.embeddings
    ids_BT = torch.tensor([[tokenizer.bos_id, *tokenizer.encode("the cat sat unlikely"), tokenizer.eos_id]])
    theirs = torch.tensor([[PIECES.index(p) for p in ["[CLS]", *tokenizer.tokens(ids_BT[0, 1:-1]), "[SEP]"]]])
    positions_BTP = torch.zeros(1, ids_BT.shape[1], 4, dtype=torch.long)
    positions_BTP[..., 0] = torch.arange(ids_BT.shape[1])
    with torch.no_grad():
        assert torch.allclose(network.embed(ids_BT, positions_BTP), embeddings(theirs), atol=1e-6)
        for ours, layer in zip(network.layers, model.bert.encoder.layer, strict=False):
            x_BTD = torch.randn(1, 5, 24)
            expected_BTD = layer(x_BTD)
            expected_BTD = expected_BTD[0] if isinstance(expected_BTD, tuple) else expected_BTD
            assert torch.allclose(ours(x_BTD, x_BTD, None), expected_BTD, atol=1e-5)
    real_BT = torch.ones_like(ids_BT, dtype=torch.bool)
    before_BTD, _ = network(ids_BT, positions_BTP, real_BT)
    for place in range(ids_BT.shape[1]):
        changed_BT = ids_BT.clone()
        changed_BT[0, place] = tokenizer.encode("mat")[0]
        after_BTD, _ = network(changed_BT, positions_BTP, real_BT)
        assert torch.equal(after_BTD[0, place], before_BTD[0, place])
        assert not torch.equal(after_BTD, before_BTD)


def test_pieces_that_the_bert_has_not_keep_their_fresh_rows(bert: tuple[Path, Any, TextTokenizer]) -> None:
    folder, model, _ = bert
    texts = ["the cat sat on the mat and the dog ran to the door"] * 5
    tokenizer = train_tokenizer("wordpiece", texts, 150, True)
    pieces = tokenizer.tokens(range(tokenizer.vocab_size))
    fresh = build_for(small(**MLM), tokenizer)
    network = build_for(small(**MLM), tokenizer)
    network.load_state_dict(fresh.state_dict())
    taken = fill(network, tokenizer, str(folder))
    table, weights = model.bert.embeddings.word_embeddings.weight, network.state_dict()
    for number, piece in enumerate(pieces):
        name = {"[BOS]": "[CLS]", "[EOS]": "[SEP]"}.get(piece, piece)
        row, bias = weights["tokens.weight"][number], weights["head.bias_V"][number]
        if name in PIECES:
            assert torch.equal(row, table[PIECES.index(name)])
            assert bias == model.cls.predictions.bias[PIECES.index(name)]
        else:
            assert torch.equal(row, fresh.state_dict()["tokens.weight"][number]) and bias == 0
    known = sum(piece in PIECES for piece in pieces)
    assert 0 < known < len(pieces) - 2
    assert taken.rows == known + 2


def test_segment_tables_keep_their_fresh_values(bert: tuple[Path, Any, TextTokenizer]) -> None:
    folder, _, tokenizer = bert
    settings = small(**LAE, reads="spans", positions=["sequence", "sentence", "paragraph"])
    torch.manual_seed(3)
    fresh = build_for(settings, tokenizer)
    torch.manual_seed(3)
    network = build_for(settings, tokenizer)
    fill(network, tokenizer, str(folder))
    same = {
        kind: torch.equal(
            *(made.state_dict()[f"positions.tables.{kind}.weight"] for made in (network, fresh))
        )
        for kind in ("sequence", "sentence", "paragraph")
    }
    assert same == {"sequence": False, "sentence": True, "paragraph": True}


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"dim": 26}, "dim is 26 and its hidden_size 24; set dim: 24"),
        ({"heads": 3}, "heads is 3 and its num_attention_heads 2; set heads: 2"),
        ({"inner": 48}, "inner is 48 and its intermediate_size 32; set inner: 32"),
        ({"layers": 3}, "layers is 3 and its num_hidden_layers 2; set layers: 2 or less"),
        (
            {"max_length": 41},
            "max_length is 41 and its max_position_embeddings 40; set max_length: 40 or less",
        ),
        (
            {"norm_epsilon": 1e-5},
            "norm_epsilon is 1e-05 and its layer_norm_eps 1e-12; set norm_epsilon: 1e-12",
        ),
        ({"dim": 32, "layers": 4}, "dim is 32 .*, layers is 4 .*; set dim: 24, layers: 2 or less"),
    ],
)
def test_sizes_that_differ_are_named_with_both_values(
    bert: tuple[Path, Any, TextTokenizer], settings: dict[str, Any], reason: str
) -> None:
    folder, _, tokenizer = bert
    network = build_for(small(**{**MLM, **settings}), tokenizer)
    with pytest.raises(InputError, match=reason):
        fill(network, tokenizer, str(folder))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"hidden_act": "relu"}, "its hidden_act is relu"),
        ({"tie_word_embeddings": False}, "its output matrix is not its embedding table"),
        ({"vocab_size": len(PIECES) - 1}, "its vocabulary goes up to row"),
        ({"is_decoder": True}, "it is a decoder"),
    ],
)
def test_a_bert_of_another_make_is_refused(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    save_bert(tmp_path, **changes)
    tokenizer = read_vocabulary(tmp_path)
    with pytest.raises(InputError, match=reason):
        fill(build_for(small(**MLM), tokenizer), tokenizer, str(tmp_path))


@pytest.mark.parametrize("kind", ["roberta", "gpt2", "distilbert"])
def test_other_models_are_refused(tmp_path: Path, kind: str) -> None:
    library = transformers()
    config = library.AutoConfig.for_model(kind, vocab_size=30)
    config.save_pretrained(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"")
    save_bert_tokenizer(tmp_path)
    tokenizer = read_vocabulary(tmp_path)
    with pytest.raises(InputError, match=f"its model_type is {kind}; only a bert can fill a model"):
        fill(build_for(small(**MLM), tokenizer), tokenizer, str(tmp_path))


def test_a_bert_without_its_head_is_refused(bert: tuple[Path, Any, TextTokenizer], tmp_path: Path) -> None:
    _, model, tokenizer = bert
    model.bert.save_pretrained(tmp_path)
    save_bert_tokenizer(tmp_path)
    with pytest.raises(InputError, match=r"lacks .* of the weights of BertForMaskedLM"):
        fill(build_for(small(**MLM), tokenizer), tokenizer, str(tmp_path))
