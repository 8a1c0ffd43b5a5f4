"""Models of Hugging Face as scorers, against loops over `transformers` that score one token at a time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from quartet.errors import InputError
from quartet.hugging_face import _check_belongs
from quartet.scoring import device, hf_body_and_head
from quartet.scoring.cache import ScoreCache
from quartet.scoring.engine import score_all
from quartet.scoring.pretrained_lm import PretrainedLM, load_pretrained
from quartet.scoring.windows import even_parts, full_parts
from tests.bert import TEXTS, save_bert, save_bert_tokenizer, save_byte_level, transformers

MASKED, CAUSAL = ("bert", "roberta"), ("gpt2",)
#: Tokens that an input of each model may have, beside its special ones.
ROOM = {"bert": 38, "roberta": 38, "gpt2": 39}


def save(folder: Path, kind: str, **changes: Any) -> Any:
    """A tiny model and its tokenizer; roberta's 42 rows of positions hold 40 tokens."""
    folder.mkdir(exist_ok=True)
    return save_bert(folder, **changes) if kind == "bert" else save_byte_level(folder, kind, **changes)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    made = {kind: tmp_path_factory.mktemp("models") / kind for kind in (*MASKED, *CAUSAL)}
    for kind, folder in made.items():
        save(folder, kind)
    return made


@pytest.fixture(scope="module")
def models(folders: dict[str, Path]) -> dict[str, PretrainedLM]:
    return {kind: load_pretrained(str(folder)) for kind, folder in folders.items()}


@torch.no_grad()
def naive(folder: Path, kind: str, text: str, masked: bool = True) -> np.ndarray:
    """One input at a time, one token at a time, all logits each time; `text` in parts of at most ROOM tokens."""
    library = transformers()
    tokenizer = library.AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    found: list[float] = []
    if kind in CAUSAL:
        model = library.AutoModelForCausalLM.from_pretrained(folder).eval()
        for low, high in full_parts(len(ids), ROOM[kind]):
            targets = ids[low:high] + ([tokenizer.eos_token_id] if high == len(ids) else [])
            for place, target in enumerate(targets):
                past = torch.tensor([[tokenizer.bos_token_id, *ids[low : low + place]]])
                found.append(float(model(past).logits[0, -1].double().log_softmax(-1)[target]))
        return np.array(found)
    model = library.AutoModelForMaskedLM.from_pretrained(folder).eval()
    for low, high in even_parts(len(ids), ROOM[kind]):
        framed = torch.tensor([[tokenizer.cls_token_id, *ids[low:high], tokenizer.sep_token_id]])
        for place in range(1, 1 + high - low):
            inputs = framed.clone()
            inputs[0, place] = tokenizer.mask_token_id if masked else framed[0, place]
            found.append(float(model(inputs).logits[0, place].double().log_softmax(-1)[framed[0, place]]))
    return np.array(found)


READINGS = [*((kind, True) for kind in (*MASKED, *CAUSAL)), *((kind, False) for kind in MASKED)]


@pytest.mark.parametrize(("kind", "masked"), READINGS)
def test_the_values_are_those_of_the_naive_loop(
    folders: dict[str, Path], models: dict[str, PretrainedLM], kind: str, masked: bool
) -> None:
    values = models[kind].token_logprobs(TEXTS, masked)
    assert max(len(found) for found in values) > ROOM[kind], "a text of several inputs is among them"
    for text, found in zip(TEXTS, values, strict=True):
        expected = naive(folders[kind], kind, text, masked)
        assert found.dtype == np.float64 and found.shape == expected.shape
        assert np.allclose(found, expected, atol=1e-5)
    assert models[kind].score(TEXTS, masked) == [float(found.sum()) for found in values]
    assert np.concatenate(values).std() > 0.1, "all values alike would agree too"


@pytest.mark.parametrize(("kind", "masked"), READINGS)
def test_a_text_is_scored_alike_in_any_company(
    models: dict[str, PretrainedLM], kind: str, masked: bool
) -> None:
    together = models[kind].token_logprobs(TEXTS, masked)
    backwards = models[kind].token_logprobs(TEXTS[::-1], masked)[::-1]
    for text, first, second in zip(TEXTS, together, backwards, strict=True):
        assert np.allclose(first, models[kind].token_logprobs([text], masked)[0], atol=1e-5)
        assert np.allclose(first, second, atol=1e-5)
    assert np.array_equal(together[0], together[-1])
    together[0][:] = 0
    assert together[-1].any(), "two texts share one array"


@pytest.mark.parametrize("budget", [1, 64, 200])
@pytest.mark.parametrize(("kind", "masked"), READINGS)
def test_small_budgets_change_nothing(
    models: dict[str, PretrainedLM], kind: str, masked: bool, budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = models[kind].token_logprobs(TEXTS, masked)
    monkeypatch.setattr(device, "TOKEN_BUDGET", budget)
    monkeypatch.setattr(device, "LOGIT_BUDGET", 7 * budget)
    found = models[kind].token_logprobs(TEXTS, masked)
    assert all(np.allclose(one, other, atol=1e-5) for one, other in zip(found, expected, strict=True))


def test_batches_stay_within_the_budget(
    models: dict[str, PretrainedLM], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten texts of 70 tokens would be 700 copies at once."""
    monkeypatch.setattr(device, "TOKEN_BUDGET", 100)
    sizes: list[int] = []
    answers = hf_body_and_head.BodyAndHead.target_logprobs

    def measured(self: hf_body_and_head.BodyAndHead, ids_BT: Tensor, *rest: Any) -> Tensor:
        sizes.append(ids_BT.numel())
        return answers(self, ids_BT, *rest)

    monkeypatch.setattr(hf_body_and_head.BodyAndHead, "target_logprobs", measured)
    for model in models.values():
        model.token_logprobs([f"{text} {number}" for text in TEXTS for number in range(10)])
    assert max(sizes) <= 100
    assert len(sizes) > 100


def test_texts_of_like_length_are_read_together_where_padding_changes_nothing(
    models: dict[str, PretrainedLM],
) -> None:
    for model in models.values():
        for pads, shapes in ((model.inputs.pads, [2]), (False, [1, 1])):
            inputs = replace(model.inputs, pads=pads)
            windows = inputs.windows([[7] * 9, [8] * 10])
            bases = np.cumsum([0, *(len(window) + len(inputs.closing) for window in windows)])
            assert [len(each.ids_BT) for each in inputs.intact(windows, bases)] == shapes


def test_a_gpu_reads_more_at_once(models: dict[str, PretrainedLM], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "TOKEN_BUDGET", 100)
    texts = [" ".join(TEXTS[0].split()[:3])] * 200
    for model in models.values():
        sizes = {}
        for where in ("cpu", "cuda"):
            inputs = replace(model.inputs, device=where)
            windows = inputs.windows(model.tokenizer(texts, add_special_tokens=False)["input_ids"])
            bases = np.cumsum([0, *(len(window) + len(inputs.closing) for window in windows)])
            read = [
                inputs.intact(windows, bases),
                *([inputs.each_hidden(windows, bases)] if model.masks else []),
            ]
            sizes[where] = [max(each.ids_BT.size for each in batches) for batches in read]
        for few, many in zip(sizes["cpu"], sizes["cuda"], strict=True):
            assert few <= 100 < many <= 100 * device.ON_GPU


def test_a_causal_model_keeps_no_keys_and_values(models: dict[str, PretrainedLM]) -> None:
    body = models["gpt2"].body_and_head.body
    assert body is not None
    assert body(input_ids=torch.tensor([[5, 6, 7]])).past_key_values is None


@pytest.mark.parametrize("kind", [*MASKED, *CAUSAL])
def test_an_unknown_architecture_is_read_as_a_whole(
    models: dict[str, PretrainedLM], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = models[kind]
    assert model.body_and_head.body is not None
    expected = {masked: model.token_logprobs(TEXTS, masked) for masked in (True, False)}
    monkeypatch.setattr(model.body_and_head, "body", None)
    monkeypatch.setattr(device, "LOGIT_BUDGET", 20_000)
    for masked, values in expected.items():
        found = model.token_logprobs(TEXTS, masked)
        assert all(np.allclose(one, other, atol=1e-5) for one, other in zip(found, values, strict=True))


def test_a_head_that_reads_more_than_the_last_layer_is_not_taken_apart(folders: dict[str, Path]) -> None:
    library = transformers()

    class Peeking(library.BertForMaskedLM):  # type: ignore[misc, name-defined]
        def forward(self, input_ids: Any = None, **rest: Any) -> Any:
            output = super().forward(input_ids=input_ids, **rest)
            output.logits = output.logits + self.bert.embeddings.word_embeddings(input_ids).sum(
                -1, keepdim=True
            ).cumsum(-2)
            return output

    whole = Peeking.from_pretrained(folders["bert"]).eval()
    assert hf_body_and_head.BodyAndHead(whole).body is None


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("distilbert", {"dim": 24, "n_layers": 1, "n_heads": 2, "hidden_dim": 32}),
        ("electra", {"embedding_size": 16}),
        ("albert", {"embedding_size": 16}),
        ("opt", {"ffn_dim": 32, "word_embed_proj_dim": 24}),
        ("llama", {}),
        ("gemma2", {"head_dim": 12, "num_key_value_heads": 1, "query_pre_attn_scalar": 12}),
    ],
)
def test_other_architectures_come_apart_too(kind: str, settings: dict[str, Any]) -> None:
    """Heads in several modules, caps on the logits, a decoder within the base model."""
    library = transformers()
    sizes = {"hidden_size": 24, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    own = {
        "vocab_size": 50,
        "max_position_embeddings": 20,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
    }
    config = library.AutoConfig.for_model(
        kind, **{**(sizes if kind != "distilbert" else {}), **own, **settings}
    )
    make = (
        library.AutoModelForCausalLM if kind in ("opt", "llama", "gemma2") else library.AutoModelForMaskedLM
    )
    torch.manual_seed(1)
    model = make.from_config(config).eval()
    taken = hf_body_and_head.BodyAndHead(model)
    assert taken.body is not None
    assert taken.is_causal() == (kind in ("opt", "llama", "gemma2"))
    ids_BT = torch.randint(3, 50, (2, 6))
    rows_N, columns_N = torch.tensor([0, 1, 1]), torch.tensor([2, 0, 5])
    with torch.no_grad():
        expected_N = model(ids_BT).logits.log_softmax(-1)[rows_N, columns_N, ids_BT[rows_N, columns_N]]
    found_N = taken.target_logprobs(ids_BT, None, rows_N, columns_N, ids_BT[rows_N, columns_N])
    assert torch.allclose(found_N, expected_N, atol=1e-5)
    assert "forward" not in taken.body.__dict__, "the body is as it was"


def of_another_architecture(folder: Path, kind: str, **settings: Any) -> None:
    """A masked model with BERT's tokenizer."""
    library = transformers()
    tokenizer = save_bert_tokenizer(folder)
    sizes = {"hidden_size": 24, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 32}
    own = {"vocab_size": len(tokenizer), "max_position_embeddings": 40, "initializer_range": 0.3}
    torch.manual_seed(1)
    config = library.AutoConfig.for_model(kind, **{**sizes, **own, **settings})
    library.AutoModelForMaskedLM.from_config(config).eval().save_pretrained(folder)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [("fnet", {}), ("convbert", {"embedding_size": 24, "conv_kernel_size": 3, "head_ratio": 2})],
)
def test_the_intact_reading_does_not_depend_on_padding(
    kind: str, settings: dict[str, Any], tmp_path: Path
) -> None:
    """A Fourier transform and a convolution read padding whatever the mask says."""
    of_another_architecture(tmp_path, kind, **settings)
    model = load_pretrained(str(tmp_path))
    texts = [text for text in TEXTS if text]
    alone = [model.token_logprobs([text], masked=False)[0] for text in texts]
    for found, expected in zip(model.token_logprobs(texts, masked=False), alone, strict=True):
        assert np.allclose(found, expected, atol=1e-5)
    vectors = np.concatenate([model.embed([text], "last") for text in texts])
    assert np.allclose(model.embed(texts, "last"), vectors, atol=1e-5)


def test_a_model_for_inputs_of_one_length_is_refused(tmp_path: Path) -> None:
    of_another_architecture(tmp_path, "nystromformer", segment_means_seq_len=8, num_landmarks=4)
    with pytest.raises(InputError, match="cannot read an input of 6 tokens"):
        load_pretrained(str(tmp_path))


def test_an_empty_text_has_a_finite_score(models: dict[str, PretrainedLM]) -> None:
    for kind, model in models.items():
        (values,) = model.token_logprobs([""])
        assert len(values) == (1 if kind in CAUSAL else 0)
        assert np.isfinite(model.score([""])).all() and model.score([""])[0] <= 0
        assert model.token_logprobs([]) == [] and model.score([]) == []


@pytest.mark.parametrize(
    ("kind", "text"), [("bert", "a [MASK] [SEP]"), ("roberta", "a<mask> </s>"), ("gpt2", "<|endoftext|>")]
)
def test_special_tokens_in_a_text_are_words(models: dict[str, PretrainedLM], kind: str, text: str) -> None:
    model = models[kind]
    assert not set(model._encode([text])[0]) & {*model.tokenizer.all_special_ids} - {
        model.tokenizer.unk_token_id
    }


def test_the_surface_is_that_of_our_own_models(
    models: dict[str, PretrainedLM], folders: dict[str, Path]
) -> None:
    bert, gpt2 = models["bert"], models["gpt2"]
    assert (bert.name, bert.masks, gpt2.name, gpt2.masks) == ("hf-bert", True, "hf-gpt2", False)
    assert bert.scale == f"0.01 M parameters, BertForMaskedLM, files {bert.content[:12]}"
    assert (bert.device, bert.seed) == ("cpu", None)
    assert len({model.fingerprint for model in models.values()}) == len(models)
    assert load_pretrained(str(folders["bert"])).fingerprint == bert.fingerprint
    first, second = gpt2.token_logprobs(["the cat sat."]), gpt2.token_logprobs(["the cat sat."], masked=False)
    assert np.array_equal(first[0], second[0]), "a causal model has one reading"


@pytest.mark.parametrize("kind", ["bert", "gpt2"])
def test_scores_within_autocast_are_others_to_a_cache(
    folders: dict[str, Path], tmp_path: Path, kind: str
) -> None:
    model = load_pretrained(str(folders[kind]))
    with ScoreCache(tmp_path / "scores.db") as cache:
        with torch.autocast("cpu", torch.bfloat16):
            (near,) = score_all(model, TEXTS[:1], cache=cache)
        (exact,) = score_all(model, TEXTS[:1], cache=cache)
    assert not np.array_equal(near, exact)
    assert np.array_equal(exact, model.token_logprobs(TEXTS[:1])[0])


def test_positions_behind_the_padding_rows_are_not_counted(tmp_path: Path) -> None:
    """RoBERTa's 42 rows leave 40 positions: an input of 41 tokens would fail."""
    save(tmp_path, "roberta")
    model = load_pretrained(str(tmp_path))
    assert model.inputs.room == 38
    assert len(model.token_logprobs(["the cat " * 100])[0]) > 150


def test_a_device_that_is_not_there_is_refused(folders: dict[str, Path]) -> None:
    with pytest.raises(InputError, match="device nonsense: cannot be used"):
        load_pretrained(str(folders["bert"]), "nonsense")


@pytest.mark.parametrize(
    ("kind", "changes", "reason"),
    [
        (
            "roberta",
            {"architectures": ["RobertaForCausalLM"]},
            "depend on later tokens: it is no causal language model",
        ),
        ("bert", {"max_position_embeddings": 2}, "room for 0 tokens"),
        ("gpt2", {"vocab_size": 100}, "its tokenizer has .* tokens and its embedding table 100 rows"),
    ],
)
def test_models_that_do_not_fit_are_refused(
    tmp_path: Path, kind: str, changes: dict[str, Any], reason: str
) -> None:
    saved = save(tmp_path, kind, **changes)
    if "architectures" in changes:
        saved.config.architectures = changes["architectures"]
        saved.config.save_pretrained(tmp_path)
    with pytest.raises(InputError, match=reason):
        load_pretrained(str(tmp_path))


def test_the_tokenizer_of_another_model_is_refused(tmp_path: Path) -> None:
    """GPT-2 has 50,257 tokens, and its end of a text is the last; BERT has 30,522."""
    save(tmp_path, "gpt2", vocab_size=50257, bos_token_id=50256, eos_token_id=50256)
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.json", "merges.txt"):
        (tmp_path / name).unlink()
    berts = save_bert_tokenizer(tmp_path)
    with pytest.raises(InputError, match=rf"tokenizer has {len(berts)} tokens and its model 50257") as caught:
        load_pretrained(str(tmp_path))
    assert "copy both from one place" in str(caught.value)
    save(tmp_path, "gpt2")  # the remedy
    (tmp_path / "vocab.txt").unlink(missing_ok=True)
    load_pretrained(str(tmp_path))


@pytest.mark.parametrize(("rows", "fits"), [(50257, True), (50304, True), (51200, True), (60000, False)])
def test_tables_are_filled_up_to_round_sizes(rows: int, fits: bool) -> None:
    """As GPT-2's, Pythia's and Phi's are, of about 50,257 tokens."""
    tokens, settings = range(50257), {"vocab_size": rows, "eos_token_id": 50256}
    if fits:
        _check_belongs(tokens, settings, Path("model"))
    else:
        with pytest.raises(InputError, match="do not belong together"):
            _check_belongs(tokens, settings, Path("model"))
    with pytest.raises(InputError, match="do not belong together"):
        _check_belongs(range(50256), settings, Path("model"))


@pytest.mark.parametrize("kind", ["bart", "vit"])
def test_what_is_no_such_language_model_is_refused(tmp_path: Path, kind: str) -> None:
    transformers().AutoConfig.for_model(kind).save_pretrained(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(InputError, match="is neither a causal nor a masked language model"):
        load_pretrained(str(tmp_path))


def test_broken_folders_are_refused(folders: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a model of Hugging Face"):
        load_pretrained(str(tmp_path))
    save(tmp_path, "gpt2")
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.json", "merges.txt"):
        (tmp_path / name).unlink()
    with pytest.raises(InputError, match="has no vocabulary of a tokenizer"):
        load_pretrained(str(tmp_path))
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(InputError, match="its tokenizer cannot be opened"):
        load_pretrained(str(tmp_path))
    (tmp_path / "config.json").write_text('{"model_type": "of my own"}')
    with pytest.raises(InputError, match=r"config\.json: cannot be used"):
        load_pretrained(str(tmp_path))
