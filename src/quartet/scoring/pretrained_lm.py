"""Any causal or masked language model of Hugging Face as a scorer: texts in, token log-probabilities out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from quartet.arguments import check_choice, checked_texts
from quartet.errors import InputError
from quartet.hugging_face import (
    LanguageModelKind,
    content_hash,
    first_sentence,
    language_model_kind,
    local_folder,
    open_model,
    open_tokenizer,
    transformers,
)
from quartet.kernels.linear import quicken
from quartet.scoring.device import check_device
from quartet.scoring.hf_body_and_head import SAMPLE, BodyAndHead
from quartet.scoring.network_reader import LAYERS, Layer
from quartet.scoring.pretrained_inputs import PretrainedInputs, TargetOutputs, WantedOutputs
from quartet.scoring.unknown import ScoresTexts, UnknownTokens, of_transformers
from quartet.scoring.windows import Progress, TextMeans

#: Tokens of one input for a model that has no longest one (relative or no positions).
UNBOUNDED_WINDOW = 1024
#: What tokenizers without a limit say is one.
_NO_LIMIT = 10**6

_CLASSES: dict[LanguageModelKind, str] = {"masked": "AutoModelForMaskedLM", "causal": "AutoModelForCausalLM"}


class PretrainedLM(ScoresTexts):
    """A language model of transformers, scored as ours are.

    A masked model reads a text between the special tokens of its own tokenizer, and hides each of the text's tokens in
    turn. A causal model reads it behind the beginning-of-text token (behind the end-of-text token where the tokenizer
    has no other, as GPT-2's), and the closing end-of-text token is part of the score, as it is for our CLM. What looks
    like a special token in a text is ordinary words. A text longer than the model's inputs is read in parts.

    Attributes:
        name: ``hf-`` and the model's name, for tables.
        masks: whether mask-and-predict and the intact input are two readings (masked models only).
        pseudo: whether its values are pseudo-log-probabilities (masked models only); where not, a text's last one is
            the closing token's.
        seed: None: it was not trained here.
        content: SHA-256 of the model's files.
    """

    seed: int | None = None

    def __init__(self, name: str, model: Any, tokenizer: Any, kind: LanguageModelKind, content: str) -> None:
        """Args:
        model: of transformers, in evaluation mode, on its device.

        Raises:
            InputError: the tokenizer lacks a token that the scores need, or does not belong to the model, or a model
                that should be causal is not.
        """
        self.name = name
        self.masks = self.pseudo = kind == "masked"
        self.content = content
        self.tokenizer = tokenizer
        before, after = self._frame()
        # transformers sets the tokenizer to the way in which it is asked: here, while there is one thread.
        self._encode(["a"])
        self.inputs = PretrainedInputs(
            before,
            after,
            closing=[] if self.masks else [tokenizer.eos_token_id],
            mask_id=tokenizer.mask_token_id if self.masks else None,
            pad_id=tokenizer.pad_token_id or 0,
            room=_longest_input(model, tokenizer) - len(before) - len(after),
            device=next(model.parameters()).device.type,
        )
        if self.inputs.room < SAMPLE:
            raise InputError(
                name, f"its inputs have room for {self.inputs.room} tokens, which is too few for a text"
            )
        quicken(model)
        try:
            self.body_and_head = BodyAndHead(model)
            if self.masks and not self.body_and_head.ignores_padding(self.inputs.pad_id):
                self.inputs = replace(self.inputs, pads=False)
        except Exception as error:  # whatever one of many architectures may raise
            raise InputError(
                name,
                f"cannot read an input of {SAMPLE} tokens: {first_sentence(error)}",
                "give a model that reads texts of any length",
            ) from error
        self.device = str(self.body_and_head.device)
        if len(tokenizer) > self.body_and_head.vocabulary:
            raise InputError(
                name,
                f"its tokenizer has {len(tokenizer)} tokens and its embedding table "
                f"{self.body_and_head.vocabulary} rows",
                "give files that belong together",
            )
        if not self.masks and not self.body_and_head.is_causal():
            raise InputError(name, "its outputs depend on later tokens: it is no causal language model")

    @property
    def scale(self) -> str:
        """One line that goes beside every figure of this model."""
        model = self.body_and_head.model
        count = sum(parameter.numel() for parameter in model.parameters())
        return f"{count / 1e6:.2f} M parameters, {type(model).__name__}, files {self.content[:12]}"

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The readings of :meth:`embed` that tell texts apart: all, but special tokens that are not there, or first in
        a causal model, where they have read nothing.
        """
        there = {
            "first": self.inputs.before if self.masks else [],
            "last": self.inputs.after or self.inputs.closing,
        }
        return tuple(layer for layer in LAYERS if there.get(layer) != [])

    @property
    def fingerprint(self) -> str:
        """A hash of all that decides the scores: the model's files, the kind of device and the library's version.

        Within the caller's autocast it is another.
        """
        kind = self.body_and_head.device.type
        parts = [self.content, str(self.masks), kind, transformers().__version__]
        if torch.is_autocast_enabled(kind):
            parts.append(str(torch.get_autocast_dtype(kind)))
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def token_logprobs(self, texts: Sequence[str], masked: bool = True) -> list[np.ndarray]:
        """Natural log-probabilities of each text's tokens, in order; for a causal model the closing token is the last.

        For a masked model they are pseudo-log-probabilities, log p(token | all other tokens of the text), and a text
        without tokens has none.

        Args:
            masked: False: a masked model reads the intact input (BERT\\M), whose values are no log-likelihoods.

        Raises:
            InputError: `texts` is one string, or holds what is no text.
        """
        texts = checked_texts(texts)
        distinct = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        if not distinct:
            return []
        encoded = self._encode(list(distinct))
        sizes = np.array([len(ids) + (not self.masks) for ids in encoded], dtype=np.int64)
        bases = np.concatenate([[0], np.cumsum(sizes)])
        values = np.full(int(bases[-1]), np.nan)
        hide = self.masks and masked
        windows = self.inputs.windows(encoded)
        for asked in (self.inputs.each_hidden if hide else self.inputs.intact)(windows, bases):
            values[asked.slots_N] = self._answers(asked)
        assert not np.isnan(values).any(), "every token is scored once"
        found = np.split(values, bases[1:-1])
        return [found[distinct[text]].copy() for text in texts]

    def unknown_tokens(self, texts: Sequence[str]) -> list[UnknownTokens]:
        """Which tokens of each text the vocabulary lacks, and what each costs beside [UNK]."""
        return of_transformers(self.tokenizer, self._encoded, checked_texts(texts))

    def embed(
        self,
        texts: Sequence[str],
        layer: Layer = "context",
        masked: bool = True,
        progress: Progress | None = None,
    ) -> np.ndarray:
        """(len(texts), D): a vector per text, with the same readings as a model that was trained here.

        See :meth:`quartet.scoring.language_model.LanguageModel.embed`. The embedding layer's output is what goes
        into the first layer. The last token of a causal model is the end-of-text token behind the text.

        Raises:
            InputError: there is no such layer, no special token stands there, the model has no base model with outputs
                of its own, or `texts` is no collection of texts.
        """
        check_choice(layer, LAYERS, "layer")
        texts = checked_texts(texts)
        inputs = self.inputs
        special = {"first": inputs.before, "last": inputs.after + inputs.closing}.get(layer)
        if special == []:
            raise InputError(self.name, f"its tokenizer puts no special token there: it has no {layer} one")
        encoded = self._encode(texts) if texts else []
        lengths = np.array([len(ids) for ids in encoded], dtype=np.int64)
        windows = inputs.windows(encoded, closed=layer == "last")
        outputs: Iterator[WantedOutputs] = inputs.of_tokens(windows, lengths, layer)
        if self.masks and masked and layer == "context":
            outputs = inputs.each_hidden(windows, np.concatenate([[0], np.cumsum(lengths)]))
        total = len(encoded) if special else int(lengths.sum())
        means = TextMeans(len(encoded), self.body_and_head.width(layer), total, progress)
        for output in outputs:
            vectors_ND = self.body_and_head.vectors(
                self._there(output.ids_BT),
                self._mask(output.real_BT),
                self._there(output.rows_N),
                self._there(output.columns_N),
                layer,
            )
            means.add(output.texts_N, vectors_ND.float().cpu().numpy())
        return means.means()

    def _encode(self, texts: list[str]) -> list[list[int]]:
        ids: list[list[int]] = self._encoded(texts)["input_ids"]
        return ids

    def _encoded(self, texts: list[str], offsets: bool = False) -> Any:
        return self.tokenizer(
            texts,
            add_special_tokens=False,
            split_special_tokens=True,
            return_attention_mask=False,
            return_offsets_mapping=offsets,
        )

    def _frame(self) -> tuple[list[int], list[int]]:
        """The special tokens before and after a text in the input."""
        tokenizer = self.tokenizer
        if not self.masks:
            if tokenizer.eos_token_id is None:
                raise InputError(
                    self.name, "its tokenizer has no end-of-text token, which belongs to each score"
                )
            first = tokenizer.eos_token_id if tokenizer.bos_token_id is None else tokenizer.bos_token_id
            return [first], []
        if tokenizer.mask_token_id is None:
            raise InputError(self.name, "its tokenizer has no mask token", "give a masked language model")
        own, whole = (tokenizer("a", add_special_tokens=special)["input_ids"] for special in (False, True))
        starts = [at for at in range(len(whole)) if whole[at : at + len(own)] == own]
        if not own or not starts:
            raise InputError(self.name, "its tokenizer puts special tokens elsewhere than around a text")
        return whole[: starts[0]], whole[starts[0] + len(own) :]

    def _answers(self, asked: TargetOutputs) -> np.ndarray:
        logprobs_N = self.body_and_head.target_logprobs(
            self._there(asked.ids_BT),
            self._mask(asked.real_BT),
            self._there(asked.rows_N),
            self._there(asked.columns_N),
            self._there(asked.targets_N),
        )
        answers: np.ndarray = logprobs_N.cpu().numpy().astype(np.float64)
        return answers

    def _there(self, array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(array).to(self.body_and_head.device)

    def _mask(self, real_BT: np.ndarray | None) -> torch.Tensor | None:
        return None if real_BT is None else self._there(real_BT)


def _longest_input(model: Any, tokenizer: Any) -> int:
    """Tokens that an input may have, special tokens included."""
    limits = [getattr(model.config, "max_position_embeddings", None), tokenizer.model_max_length]
    for name, module in model.named_modules():
        # RoBERTa's first rows stand for padding: its positions count from behind them.
        if (
            name.endswith("position_embeddings")
            and isinstance(module, nn.Embedding)
            and module.padding_idx is not None
        ):
            limits.append(module.num_embeddings - module.padding_idx - 1)
    known = [int(limit) for limit in limits if limit is not None and 0 < limit < _NO_LIMIT]
    return min(known, default=UNBOUNDED_WINDOW)


def load_pretrained(reference: str, device: str = "cpu") -> PretrainedLM:
    """Open a model of Hugging Face for scoring.

    Args:
        reference: a folder, or a name on the hub with its revision, ``owner/name@revision``.
        device: ``cpu`` or ``cuda``.

    Raises:
        InputError: there is no such model or device, the model is neither causal nor masked, its files are broken or
            incomplete, or `transformers` is not installed.
    """
    check_device(device)
    folder = local_folder(reference)
    content = content_hash(folder)
    kind = language_model_kind(folder)
    model = open_model(folder, _CLASSES[kind]).to(device)
    for weight, tensor in model.named_parameters():
        if not bool(torch.isfinite(tensor).all()):
            raise InputError(
                folder, f"its weight {weight} holds NaN or infinity", "give files that are whole"
            )
    name = (
        Path(reference).resolve().name if Path(reference).is_dir() else reference.split("@")[0].split("/")[-1]
    )
    return PretrainedLM(f"hf-{name}", model, open_tokenizer(folder), kind, content)
