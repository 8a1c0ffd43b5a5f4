"""The translator: a Marian of transformers, and its folder.

An encoder and a decoder of Vaswani et al. (2017): embeddings scaled by the root of the width, fixed sinusoidal
positions, normalisation after each part. One table of embeddings for source, target and (tied) output, as appendix A.2
of the T-TA paper has it. The source ends with [EOS], the decoder starts from [BOS].
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from quartet.config.recognise import TranslatorConfig
from quartet.config.training import TrainingConfig
from quartet.errors import InputError
from quartet.files import read_card, write_json
from quartet.kernels.attention import attends_in_float32
from quartet.kernels.linear import quicken
from quartet.recognise.vocabulary import PieceTokenizer

if TYPE_CHECKING:
    from transformers import MarianMTModel

WEIGHTS, CARD, TOKENIZER = "model.safetensors", "translator.json", "tokenizer.json"

#: Under this name transformers finds our attention.
ATTENTION = "quartet"


def build(config: TranslatorConfig, vocabulary: int) -> MarianMTModel:
    """A network with fresh weights, on the device of the context (``with torch.device("meta")`` costs no memory).

    Args:
        vocabulary: number of ids.

    Raises:
        InputError: transformers is not installed.
    """
    try:
        from transformers import AttentionInterface, AttentionMaskInterface, MarianConfig, MarianMTModel
        from transformers.masking_utils import sdpa_mask
    except ImportError as error:
        raise InputError(
            "transformers", f"translators need it ({error})", "in Quartet's folder: pip install -e '.[hf]'"
        ) from error
    AttentionInterface.register(ATTENTION, _attend)
    AttentionMaskInterface.register(ATTENTION, sdpa_mask)
    tokenizer = PieceTokenizer
    settings = MarianConfig(
        attn_implementation=ATTENTION,
        vocab_size=vocabulary,
        d_model=config.dim,
        encoder_layers=config.layers,
        decoder_layers=config.layers,
        encoder_attention_heads=config.heads,
        decoder_attention_heads=config.heads,
        encoder_ffn_dim=config.inner,
        decoder_ffn_dim=config.inner,
        dropout=config.dropout,
        attention_dropout=config.attention_dropout,
        activation_dropout=config.inner_dropout,
        activation_function=config.activation,
        max_position_embeddings=config.max_length,
        init_std=config.init_std,
        scale_embedding=True,
        share_encoder_decoder_embeddings=True,
        tie_word_embeddings=config.tie_embeddings,
        pad_token_id=tokenizer.pad_id,
        bos_token_id=tokenizer.bos_id,
        eos_token_id=tokenizer.eos_id,
        decoder_start_token_id=tokenizer.bos_id,
        forced_eos_token_id=None,  # it would count an [EOS] that it forces as certain
    )
    network = MarianMTModel(settings)
    quicken(network)
    return network


def _attend(
    module: nn.Module,
    query_BHTK: Tensor,
    key_BHSK: Tensor,
    value_BHSK: Tensor,
    mask: Tensor | None,
    **settings: Any,
) -> tuple[Tensor, Tensor | None]:
    """transformers' fused attention, and in float32 where ours is."""
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    projected = query_BHTK, key_BHSK, value_BHSK
    found: tuple[Tensor, Tensor | None]
    if attends_in_float32(query_BHTK.device):
        with torch.autocast("cpu", enabled=False):
            found = sdpa_attention_forward(module, *(each.float() for each in projected), mask, **settings)
    else:
        found = sdpa_attention_forward(module, *projected, mask, **settings)
    return found


def masks(real_BS: Tensor, tokens: int) -> tuple[Tensor, Tensor | None]:
    """What transformers is to be given as the attention masks of source and target.

    On a CPU they are those that its documentation names. It looks at their numbers, to leave a mask out that hides
    nothing, and a GPU would have to be waited for: there the masks are whole ones, which it takes as they are.

    Args:
        tokens: of a target.
    """
    return (real_BS.long(), None) if real_BS.is_cpu else whole_masks(real_BS, tokens)


def whole_masks(real_BS: Tensor, tokens: int) -> tuple[Tensor, Tensor]:
    """(B, 1, 1, S) and (1, 1, T, T), True where a key may be seen."""
    causal_TT = torch.ones(tokens, tokens, dtype=torch.bool, device=real_BS.device).tril()
    return real_BS[:, None, None, :], causal_TT[None, None]


def compile_layers(network: MarianMTModel) -> None:
    """Let ``torch.compile`` make kernels of each layer, in place: parameters keep their names."""
    torch.compiler.reset()  # what an earlier training of this process compiled is of another network
    for layer in [*network.model.encoder.layers, *network.model.decoder.layers]:
        layer.compile(dynamic=True)


def parameter_count(network: MarianMTModel) -> int:
    """Trained numbers, each shared one counted once; the positions are fixed."""
    return sum(parameter.numel() for parameter in network.parameters() if parameter.requires_grad)


def weights(network: MarianMTModel) -> dict[str, Tensor]:
    """What a file has to hold: each tensor that is not fixed once, by the first of its names."""
    found: dict[str, Tensor] = {}
    seen: set[int] = set()
    fixed = {name for name, parameter in network.named_parameters() if not parameter.requires_grad}
    for name, tensor in network.state_dict().items():
        if name not in fixed and tensor.data_ptr() not in seen:
            seen.add(tensor.data_ptr())
            found[name] = tensor
    return found


def fill(network: MarianMTModel, tensors: Mapping[str, Tensor]) -> None:
    """Put what :func:`weights` gave into a network of the same sizes; shared tensors stay shared."""
    network.load_state_dict(dict(tensors), strict=False)


def logits(network: MarianMTModel, hidden_ND: Tensor) -> Tensor:
    """(N, vocabulary) logits of decoder states (N, dim)."""
    found: Tensor = network.lm_head(hidden_ND) + network.final_logits_bias
    return found


@dataclass(frozen=True, kw_only=True)
class TranslatorCard:
    """What a translator is, beside its weights.

    Attributes:
        name: its entry in params.yaml.
        languages: source and target.
        steps, weights_step: optimiser steps done, and those behind the weights, which may be the best on dev.
        pairs: sentence pairs that it was trained on.
        parameters: trained numbers, each shared one counted once.
    """

    name: str
    languages: tuple[str, str]
    seed: int
    steps: int
    weights_step: int
    pairs: int
    parameters: int
    model: TranslatorConfig
    training: TrainingConfig
    label_smoothing: float

    @property
    def scale(self) -> str:
        """One line that goes beside every figure of this translator."""
        return f"{self.parameters / 1e6:.2f} M parameters, {self.steps:,} steps, {self.pairs:,} pairs"


@dataclass(frozen=True)
class Translator:
    """A trained network with its tokenizer; `network` is in evaluation mode."""

    network: MarianMTModel
    tokenizer: PieceTokenizer
    card: TranslatorCard


def save_translator(folder: Path, translator: Translator) -> None:
    """Write a folder that :func:`load_translator` opens, and transformers' ``MarianMTModel.from_pretrained`` too."""
    save_weights(folder / WEIGHTS, weights(translator.network))
    translator.network.config.save_pretrained(folder)
    translator.tokenizer.save(folder / TOKENIZER)
    write_json(folder / CARD, dataclasses.asdict(translator.card))


def save_weights(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write what :func:`weights` gave, which may stand in the place of a translator's own."""
    whole = {name: tensor.detach().contiguous().cpu() for name, tensor in tensors.items()}
    save_file(whole, path, metadata={"format": "pt"})


def load_translator(folder: Path, device: str = "cpu") -> Translator:
    """Open the folder of a translator.

    Raises:
        InputError: a file is absent or damaged, or they are not of one training.
    """
    path = folder / CARD
    if not path.is_file():
        raise InputError(folder, f"not a translator: it has no {CARD}", "name a folder that translate wrote")
    card = read_card(TranslatorCard, path, "train the translator again")
    tokenizer = PieceTokenizer.load(folder / TOKENIZER)
    network = build(card.model, tokenizer.vocab_size)
    fill(network, _checked_weights(folder / WEIGHTS, network))
    return Translator(network.eval().to(device), tokenizer, card)


def _checked_weights(path: Path, network: MarianMTModel) -> dict[str, Tensor]:
    """The tensors in a file, which must be those of the network, shape by shape."""
    try:
        tensors = load_file(path)
    except (OSError, SafetensorError) as error:
        raise InputError(
            path, f"not a whole safetensors file ({error})", "train the translator again"
        ) from error
    expected = {name: tuple(tensor.shape) for name, tensor in weights(network).items()}
    found = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if expected != found:
        name = min(key for key in expected.keys() | found.keys() if expected.get(key) != found.get(key))
        raise InputError(
            path,
            f"tensor {name} has shape {found.get(name)} where {CARD} and {TOKENIZER} need {expected.get(name)}",
            "the files must come from one training",
        )
    for name, tensor in tensors.items():
        if not bool(tensor.isfinite().all()):
            raise InputError(path, f"tensor {name} holds NaN or infinity", "train the translator again")
    return tensors
