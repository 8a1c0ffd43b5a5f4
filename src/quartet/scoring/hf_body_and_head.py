"""A Hugging Face language model in two halves: all tokens go through its body, the wanted ones to its head.

The head costs a (tokens x vocabulary) matrix, and a masked copy wants it at one token. Architectures keep it under
many names (``cls``, ``lm_head``, ``vocab_projector`` …) and some scale or cap what it gives, so no names are listed
here: the model's own ``forward`` runs, in a copy whose body returns the wanted representations
(:mod:`quartet.scoring.patched_module`). The model is not touched, so that threads may share it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from quartet.errors import InputError
from quartet.scoring.device import logit_budget
from quartet.scoring.network_reader import Layer
from quartet.scoring.patched_module import (
    at_places,
    last_layer,
    path_of,
    sets_positions,
    with_forward,
    with_own_positions,
)

#: Tokens of the sample on which a model is tried, and how far two ways to the same logits may be apart.
SAMPLE, TOLERANCE = 6, 1e-4


class BodyAndHead:
    """A model of transformers for causal or masked language modelling.

    Attributes:
        body: what makes the representations that the head reads. None: no part of the model could be found that does
            (each candidate is tried on a few tokens, and must give the same logits); then the whole model is run, which
            costs the logits of all tokens and gives the same values.
        last: the body's last layer, where it can run for one token a row (see
            :mod:`quartet.scoring.patched_module`); None: it runs for all.
    """

    def __init__(self, model: Any) -> None:
        """Try the model on a few tokens of its vocabulary."""
        self.model = model
        self.vocabulary = int(model.get_input_embeddings().num_embeddings)
        self.device = next(model.parameters()).device
        model.config.use_cache = False
        self._sets_positions = sets_positions(model)
        self._widths: dict[Layer, int] = {}
        self.body = next((body for body in self._candidates() if self._works(body)), None)
        self.last = None if self.body is None else self._tried(last_layer(self.body))

    @torch.inference_mode()
    def target_logprobs(
        self, ids_BT: Tensor, real_BT: Tensor | None, rows_N: Tensor, columns_N: Tensor, targets_N: Tensor
    ) -> Tensor:
        """Read a batch once and look up log softmax at some of its outputs.

        Args:
            ids_BT: token ids, padded on the right.
            real_BT: False at padding; None: nothing is to be masked.
            rows_N, columns_N: the outputs that are wanted, by rising row.
            targets_N: the token id that each is asked about.

        Returns:
            (N,) natural log-probabilities.
        """
        if self.body is None:
            return self._whole(ids_BT, real_BT, rows_N, columns_N, targets_N)
        output, wanted_ND = self._represented(self.body, ids_BT, real_BT, rows_N, columns_N)
        step = max(1, logit_budget(self.device.type) // self.vocabulary)
        parts = [
            _at_targets(self._head(self.body, output, wanted_ND[at : at + step]), targets_N[at : at + step])
            for at in range(0, len(targets_N), step)
        ]
        return torch.cat(parts) if parts else wanted_ND.new_zeros(0)

    def _represented(
        self, body: Any, ids_BT: Tensor, real_BT: Tensor | None, rows_N: Tensor, columns_N: Tensor
    ) -> tuple[Any, Tensor]:
        """The body's output, and of its last layer (N, D) at the wanted places, as cheaply as that can be had."""
        one_each = len(rows_N) == len(ids_BT) and torch.equal(
            rows_N, torch.arange(len(ids_BT), device=rows_N.device)
        )
        if self.last is not None and real_BT is None and one_each:
            output = at_places(body, self.last, columns_N)(**_inputs(ids_BT, None))
            return output, output.last_hidden_state[:, 0]
        output = self._runnable(body)(**_inputs(ids_BT, real_BT))
        return output, output.last_hidden_state[rows_N, columns_N]

    def logits(self, ids_BT: Tensor) -> Tensor:
        """(B, T) -> (B, T, V), the whole model at once."""
        logits: Tensor = self.model(input_ids=ids_BT).logits
        return logits

    @torch.inference_mode()
    def vectors(
        self, ids_BT: Tensor, real_BT: Tensor | None, rows_N: Tensor, columns_N: Tensor, layer: Layer
    ) -> Tensor:
        """(N, D): the base model's outputs, what goes into its first layer (``embed``), or rows of its bare table.

        Args:
            ids_BT, real_BT, rows_N, columns_N: as for :meth:`target_logprobs`.

        Raises:
            InputError: the model has no base model with outputs of its own.
        """
        if layer == "table":
            rows_ND: Tensor = self.model.get_input_embeddings()(ids_BT[rows_N, columns_N])
            return rows_ND
        base = self.model.base_model
        if base is self.model:
            raise InputError(
                type(base).__name__, "its layers cannot be told from its head: it gives no vectors"
            )
        if layer != "embed":
            if base is not self.body:
                output = self._runnable(base)(**_inputs(ids_BT, real_BT))
                found_ND: Tensor = output.last_hidden_state[rows_N, columns_N]
                return found_ND
            return self._represented(base, ids_BT, real_BT, rows_N, columns_N)[1]
        output = base(**_inputs(ids_BT, real_BT), output_hidden_states=True)
        embedded_ND: Tensor = output.hidden_states[0][rows_N, columns_N]
        return embedded_ND

    def width(self, layer: Layer) -> int:
        """How long the vectors of a layer are (a table may be narrower than the layers)."""
        if layer not in self._widths:
            first_1 = torch.zeros(1, dtype=torch.long, device=self.device)
            self._widths[layer] = self.vectors(self._sample(), None, first_1, first_1, layer).shape[-1]
        return self._widths[layer]

    @torch.inference_mode()
    def is_causal(self) -> bool:
        """Whether no output moves when a later token changes, tried on a few tokens."""
        ids_1T = self._sample()
        other_1T = ids_1T.clone()
        other_1T[0, -1] = ids_1T[0, 0]
        before, after = (self.logits(ids)[:, :-1] for ids in (ids_1T, other_1T))
        return torch.allclose(before, after, atol=TOLERANCE, rtol=TOLERANCE)

    @torch.inference_mode()
    def ignores_padding(self, pad_id: int) -> bool:
        """Whether padding behind a text moves no output, tried on a few tokens.

        A convolution or a Fourier transform over the tokens reads it whatever the mask says.
        """
        ids_1T = self._sample()
        padded_1T = torch.cat([ids_1T, torch.full_like(ids_1T, pad_id)], dim=1)
        real_1T = torch.arange(2 * SAMPLE, device=self.device)[None] < SAMPLE
        try:
            after = self.model(**_inputs(padded_1T, real_1T)).logits[:, :SAMPLE]
        except Exception:  # it wants other masks, or none
            return False
        return torch.allclose(after, self.logits(ids_1T), atol=TOLERANCE, rtol=TOLERANCE)

    def _whole(
        self, ids_BT: Tensor, real_BT: Tensor | None, rows_N: Tensor, columns_N: Tensor, targets_N: Tensor
    ) -> Tensor:
        """The same through the logits of all tokens, a bounded number of rows at a time."""
        step = max(1, logit_budget(self.device.type) // (self.vocabulary * ids_BT.shape[1]))
        parts, model = [], self._runnable(self.model)
        for at in range(0, len(ids_BT), step):
            part = slice(at, at + step)
            here_N = (rows_N >= at) & (rows_N < at + step)
            logits_BTV = model(**_inputs(ids_BT[part], None if real_BT is None else real_BT[part])).logits
            parts.append(_at_targets(logits_BTV[rows_N[here_N] - at, columns_N[here_N]], targets_N[here_N]))
        return torch.cat(parts)

    def _head(self, body: Any, output: Any, hidden_ND: Tensor) -> Tensor:
        """(N, D) representations -> (N, V) logits, by the model's own forward.

        Args:
            output: what the body returned; all but its last_hidden_state is handed on as it is.
        """
        given = type(output)(**{**output, "last_hidden_state": hidden_ND[None]})
        nothing_1N = torch.zeros(1, len(hidden_ND), dtype=torch.long, device=hidden_ND.device)
        model = with_forward(self.model, path_of(self.model, body), lambda *_, **__: given)
        logits_NV: Tensor = model(input_ids=nothing_1N).logits[0]
        return logits_NV

    def _runnable(self, module: Any) -> Any:
        """The module, or a copy for one call where it sets something in itself."""
        return with_own_positions(module) if self._sets_positions else module

    def _candidates(self) -> Iterator[Any]:
        """The base model; where that is an encoder-decoder's shell (OPT's), the decoder in it."""
        yield self.model.base_model
        yield getattr(self.model.base_model, "decoder", None)

    @torch.inference_mode()
    def _works(self, body: Any) -> bool:
        """Whether the logits of a few tokens are the same through `body` and the head."""
        if body is None or body is self.model:
            return False
        ids_1T = self._sample()
        expected_NV = self.logits(ids_1T)[0, 1::2]
        try:
            output = body(input_ids=ids_1T)
            found_NV = self._head(body, output, output.last_hidden_state[0, 1::2])
        except Exception:  # whatever a model may do with what it is given: it is no body, then
            return False
        return found_NV.shape == expected_NV.shape and torch.allclose(
            found_NV, expected_NV, atol=TOLERANCE, rtol=TOLERANCE
        )

    @torch.inference_mode()
    def _tried(self, layer: nn.Module | None) -> nn.Module | None:
        """The layer if its output at one token a row is that of the whole layer, tried on a few tokens."""
        if layer is None or self.body is None:
            return None
        ids_BT = self._sample().expand(SAMPLE, SAMPLE)
        each_B = torch.arange(SAMPLE, device=self.device)
        expected_BD = self.body(input_ids=ids_BT).last_hidden_state[each_B, each_B]
        try:
            found_BTD = at_places(self.body, layer, each_B)(input_ids=ids_BT).last_hidden_state
        except Exception:  # it is built otherwise than its names say: all tokens go through it, then
            return None
        same = found_BTD.shape[1] == 1 and torch.allclose(
            found_BTD[:, 0], expected_BD, atol=TOLERANCE, rtol=TOLERANCE
        )
        return layer if same else None

    def _sample(self) -> Tensor:
        """(1, SAMPLE) ids, spread over the vocabulary and none twice."""
        return torch.linspace(1, self.vocabulary - 1, SAMPLE, device=self.device).long()[None]


def _inputs(ids_BT: Tensor, real_BT: Tensor | None) -> dict[str, Tensor]:
    return (
        {"input_ids": ids_BT} if real_BT is None else {"input_ids": ids_BT, "attention_mask": real_BT.long()}
    )


def _at_targets(logits_NV: Tensor, targets_N: Tensor) -> Tensor:
    return -F.cross_entropy(logits_NV.float(), targets_N, reduction="none")
