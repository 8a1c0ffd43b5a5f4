"""Any causal or masked language model of Hugging Face as a scorer: texts in, token log-probabilities out."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from quartet.data.batch import Row
from quartet.errors import InputError
from quartet.pretrained import (
    Kind,
    content_hash,
    language_model_kind,
    local_folder,
    open_model,
    open_tokenizer,
    transformers,
)
from quartet.scoring.device import check_device
from quartet.scoring.halves import SAMPLE, Halves
from quartet.scoring.reading import TOKEN_BUDGET
from quartet.scoring.windows import Window, budgeted, cut

#: Tokens of one input for a model that has no longest one (relative or no positions).
UNBOUNDED_WINDOW = 1024
#: What tokenizers without a limit say is one.
_NO_LIMIT = 10**6

_CLASSES: dict[Kind, str] = {"masked": "AutoModelForMaskedLM", "causal": "AutoModelForCausalLM"}


@dataclass(frozen=True)
class _Asked:
    """A batch, and which of its outputs are asked about which tokens.

    Attributes:
        ids_BT: token ids, padded on the right.
        real_BT: False at padding; None: nothing has to be masked.
        rows_N, columns_N, targets_N: the outputs, by rising row, and the token ids.
        slots_N: where the answers go, counted over the tokens of all texts.
    """

    ids_BT: np.ndarray
    real_BT: np.ndarray | None
    rows_N: np.ndarray
    columns_N: np.ndarray
    targets_N: np.ndarray
    slots_N: np.ndarray


class PretrainedLM:
    """A language model of transformers, scored as ours are.

    A masked model reads a text between the special tokens of its own tokenizer, and hides each of the text's tokens in
    turn. A causal model reads it behind the beginning-of-text token (behind the end-of-text token where the tokenizer
    has no other, as GPT-2's), and the closing end-of-text token is part of the score, as it is for our CLM. What looks
    like a special token in a text is ordinary words. A text longer than the model's inputs is read in parts.

    Attributes:
        name: ``hf-`` and the model's name, for tables.
        masks: whether mask-and-predict and the intact input are two readings (masked models only).
        seed: None: it was not trained here.
        content: SHA-256 of the model's files.
    """

    seed: int | None = None

    def __init__(self, name: str, model: Any, tokenizer: Any, kind: Kind, content: str) -> None:
        """Args:
        model: of transformers, in evaluation mode, on its device.

        Raises:
            InputError: the tokenizer lacks a token that the scores need, or does not belong to the model, or a model
                that should be causal is not.
        """
        self.name = name
        self.masks = kind == "masked"
        self.content = content
        self.tokenizer = tokenizer
        self._before, self._after = self._frame()
        self._room = _longest_input(model, tokenizer) - len(self._before) - len(self._after)
        if self._room < SAMPLE:
            raise InputError(
                name, f"its inputs have room for {self._room} tokens, which is too few for a text"
            )
        self.halves = Halves(model)
        self.device = str(self.halves.device)
        if len(tokenizer) > self.halves.vocabulary:
            raise InputError(
                name,
                f"its tokenizer has {len(tokenizer)} tokens and its embedding table {self.halves.vocabulary} rows",
                "give files that belong together",
            )
        if not self.masks and not self.halves.is_causal():
            raise InputError(name, "its outputs depend on later tokens: it is no causal language model")

    @property
    def scale(self) -> str:
        """One line that goes beside every figure of this model."""
        model = self.halves.model
        count = sum(parameter.numel() for parameter in model.parameters())
        return f"{count / 1e6:.2f} M parameters, {type(model).__name__}, files {self.content[:12]}"

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that decides the scores: the model's files, the kind of device and the library's version."""
        parts = [self.content, str(self.masks), self.halves.device.type, transformers().__version__]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def token_logprobs(self, texts: Sequence[str], masked: bool = True) -> list[np.ndarray]:
        """Natural log-probabilities of each text's tokens, in order; for a causal model the closing token is the last.

        For a masked model they are pseudo-log-probabilities, log p(token | all other tokens of the text), and a text
        without tokens has none.

        Args:
            masked: False: a masked model reads the intact input (BERT\\M), whose values are no log-likelihoods.
        """
        distinct = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        if not distinct:
            return []
        encoded = self._encode(list(distinct))
        sizes = np.array([len(ids) + (not self.masks) for ids in encoded], dtype=np.int64)
        bases = np.concatenate([[0], np.cumsum(sizes)])
        values = np.full(int(bases[-1]), np.nan)
        rows = [
            Row(np.array(ids, dtype=np.int64), np.zeros((len(ids), 3), dtype=np.int64)) for ids in encoded
        ]
        windows = list(cut(rows, "spans", self._room, causal=not self.masks))
        for asked in (
            self._each_hidden(windows, bases) if self.masks and masked else self._intact(windows, bases)
        ):
            values[asked.slots_N] = self._answers(asked)
        assert not np.isnan(values).any(), "every token is scored once"
        found = np.split(values, bases[1:-1])
        return [found[distinct[text]].copy() for text in texts]

    def score(self, texts: Sequence[str], masked: bool = True) -> list[float]:
        """The sum of each text's token log-probabilities, in nats; 0 for a text without tokens and a masked model."""
        return [float(values.sum()) for values in self.token_logprobs(texts, masked)]

    def _encode(self, texts: list[str]) -> list[list[int]]:
        ids: list[list[int]] = self.tokenizer(
            texts, add_special_tokens=False, split_special_tokens=True, return_attention_mask=False
        )["input_ids"]
        return ids

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

    def _intact(self, windows: Iterable[Window], bases: np.ndarray) -> Iterator[_Asked]:
        """Inputs of like length, each read once; the outputs of a causal model are about the next token."""
        first = len(self._before) - (not self.masks)
        closing = [] if self.masks else [self.tokenizer.eos_token_id]
        pad = self.tokenizer.pad_token_id or 0
        for group in budgeted(windows, TOKEN_BUDGET, specials=len(self._before) + len(self._after)):
            width = len(group[0]) + len(self._before) + len(self._after)  # the longest comes first
            ids_BT = np.full((len(group), width), pad, dtype=np.int64)
            real_BT = np.zeros(ids_BT.shape, dtype=bool)
            parts = []
            for number, window in enumerate(group):
                inputs = [*self._before, *window.row.ids, *self._after]
                ids_BT[number, : len(inputs)] = inputs
                real_BT[number, : len(inputs)] = True
                ends_text = bases[window.text] + window.stop + len(closing) == bases[window.text + 1]
                targets = [*window.row.ids, *(closing if ends_text else [])]
                places = np.arange(len(targets))
                slots = bases[window.text] + window.start + places
                parts.append(np.stack([np.full_like(places, number), first + places, targets, slots]))
            # Padding stands on the right, where no causal output sees it.
            padded = self.masks and not real_BT.all()
            yield _Asked(ids_BT, real_BT if padded else None, *np.concatenate(parts, axis=1).astype(np.int64))

    def _each_hidden(self, windows: Iterable[Window], bases: np.ndarray) -> Iterator[_Asked]:
        """Copies of each input with one token hidden. Inputs of one length go together: nothing is padded."""
        ordered = sorted(windows, key=lambda window: (-len(window), window.text, window.start))
        for length, same in itertools.groupby(ordered, key=len):
            group = list(same)
            inputs_WT = np.array(
                [[*self._before, *window.row.ids, *self._after] for window in group], dtype=np.int64
            )
            starts_W = np.array([bases[window.text] + window.start for window in group])
            copies = length * len(group)
            step = max(1, TOKEN_BUDGET // inputs_WT.shape[1])
            for at in range(0, copies, step):
                which_N, places_N = np.divmod(np.arange(at, min(at + step, copies)), length)
                rows_N, columns_N = np.arange(len(which_N)), len(self._before) + places_N
                ids_BT = inputs_WT[which_N]
                targets_N = ids_BT[rows_N, columns_N]
                ids_BT[rows_N, columns_N] = self.tokenizer.mask_token_id
                yield _Asked(ids_BT, None, rows_N, columns_N, targets_N, starts_W[which_N] + places_N)

    def _answers(self, asked: _Asked) -> np.ndarray:
        def there(array: np.ndarray) -> torch.Tensor:
            return torch.from_numpy(array).to(self.halves.device)

        logprobs_N = self.halves.target_logprobs(
            there(asked.ids_BT),
            None if asked.real_BT is None else there(asked.real_BT),
            there(asked.rows_N),
            there(asked.columns_N),
            there(asked.targets_N),
        )
        answers: np.ndarray = logprobs_N.cpu().numpy().astype(np.float64)
        return answers


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
    name = (
        Path(reference).resolve().name if Path(reference).is_dir() else reference.split("@")[0].split("/")[-1]
    )
    return PretrainedLM(f"hf-{name}", model, open_tokenizer(folder), kind, content)
