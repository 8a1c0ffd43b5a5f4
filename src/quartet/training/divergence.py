"""When a training goes wrong: a loss or gradient that is no number stops it, a loss that jumps is told."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pytorch_lightning as pl
import torch
from torch import Tensor, nn

from quartet.errors import InputError
from quartet.training import distributed

#: A loss has jumped where it is above the mean of those before it, of steps of its kind, by so many times their noise
#: (the root of half the mean square of the differences from one to the next, which a loss that falls leaves small), ...
NOISES = 6.0
#: ... and by this share of the mean, ...
SHARE = 0.2
#: ... which is said after so many steps, and so many of its kind.
FIRST = 20
FIRST_OF_KIND = 5
#: A single step may read a text that is harder than all others. So many in a row that are above are a jump.
IN_A_ROW = 2
#: A GPU computes on while its losses and gradients wait to be seen together after so many steps: to look at one is to
#: wait until it is there. On a CPU every step is seen at once.
SEEN_TOGETHER = 50
#: What a loss counts for in the means, one step later.
FADING = 0.98
#: The name of the metric: one point at the first step of each jump.
METRIC = "loss_jump"
#: What to do about a training of params.yaml.
REMEDY = "lower training.learning_rate, lengthen training.warmup, or set training.clip"

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Loss:
    """The loss of a part of a step, on its device, with what it is compared by."""

    summed: Tensor
    step: int
    part: int
    parts: int
    targets: float
    rows: float
    kind: int


@dataclass(frozen=True)
class _Gradient:
    """The norms of a step's gradient, on its device: of all of it, and of each parameter's."""

    norm: Tensor
    norms: Tensor
    names: list[str]
    step: int


class DivergenceWatch:
    """Sees every loss and gradient of one training.

    A jump is told as a warning of the logger ``quartet.training.divergence``, whose record has an attribute `metric`:
    (name, value, step).
    """

    def __init__(
        self,
        name: str,
        batches: int,
        remedy: str,
        metric: str = METRIC,
        usual: tuple[float, float] = (1.0, 1.0),
        together: int = 1,
    ) -> None:
        """Args:
        name: what the training calls a step, ``"training step"``.
        batches: of an epoch.
        remedy: what to do where it stops.
        metric: the name of the metric of jumps.
        usual: targets and texts of a mean step. Tokens of one text are alike: a step is as much less than usual as its
            texts or its tokens are fewer.
        together: steps that are seen at once. A loss that is no number stops the training so much later at most, and
            the error names the step that it was in.
        """
        self.name = name
        self.batches = batches
        self.remedy = remedy
        self.metric = metric
        self.usual = usual
        self.together = together
        self._unseen: list[_Loss | _Gradient] = []
        #: of the steps of each kind: the mean, the last one, and how many
        self._kinds: dict[int, tuple[float, float, int]] = {}
        self._squared = 0.0
        self._seen = 0
        #: steps in a row that are above, and of the first of them: step, mean before it, loss
        self._above = 0
        self._first = (0, 0.0, 0.0)
        self._parts: list[tuple[float, float, float]] = []

    def loss(
        self,
        loss: Tensor,
        step: int,
        part: int = 0,
        parts: int = 1,
        targets: float = 1.0,
        rows: float = 1.0,
        kind: int = 0,
    ) -> None:
        """See a part of a step.

        Args:
            loss: summed over its targets in this process, a scalar.
            targets: how many the part has in this process.
            rows: texts of the part in this process.
            kind: steps are compared with those of their kind. Long sentences may be harder than short ones.

        Raises:
            InputError: the loss is NaN or infinite.
        """
        self._unseen.append(_Loss(loss.detach(), step, part, parts, targets, rows, kind))
        if self.together == 1:
            self.look()

    def gradient(
        self, parameters: Iterable[tuple[str, nn.Parameter]], step: int, clip: float | None = None
    ) -> None:
        """See the gradient of a step, and scale it down to the norm `clip`.

        Raises:
            InputError: it is NaN or infinite.
        """
        given = [(name, each, each.grad) for name, each in parameters if each.grad is not None]
        norms = distributed.whole_tensor(torch.stack(torch._foreach_norm([grad for _, _, grad in given])))
        norm = torch.linalg.vector_norm(norms)
        self._unseen.append(_Gradient(norm, norms, [name for name, _, _ in given], step))
        if (step + 1) % self.together == 0:
            self.look()
        if clip:
            torch.nn.utils.clip_grads_with_norm_([each for _, each, _ in given], clip, norm)

    def look(self) -> None:
        """See what has not been seen yet; all processes of a training look at the same time.

        Raises:
            InputError: a loss or a gradient is NaN or infinite.
        """
        unseen, self._unseen = self._unseen, []
        if not unseen:
            return
        values = torch.stack(
            [(each.summed if isinstance(each, _Loss) else each.norm).double() for each in unseen]
        ).tolist()
        losses = [
            (value, each.targets, each.rows)
            for value, each in zip(values, unseen, strict=True)
            if isinstance(each, _Loss)
        ]
        summed = iter(distributed.sum_over_processes([number for found in losses for number in found]))
        for value, each in zip(values, unseen, strict=True):
            if isinstance(each, _Gradient):
                if not math.isfinite(value):
                    wrong = (~each.norms.isfinite()).nonzero().flatten().tolist()
                    where = f" of {each.names[wrong[0]]}" if wrong else ""
                    self._stop(each.step, f"the gradient{where} is not finite")
                continue
            loss, targets, rows = next(summed), next(summed), next(summed)
            share = min(targets / self.usual[0], rows / self.usual[1])
            self._see(loss, each, targets, share)

    def _see(self, loss: float, of: _Loss, targets: float, share: float) -> None:
        """A part of a step, whose loss and targets are those of all processes.

        Args:
            share: of a usual step that the part is. The mean loss of a smaller step is expected to vary more.
        """
        if not math.isfinite(loss):
            place = f", part {of.part + 1} of {of.parts}" if of.parts > 1 else ""
            self._stop(of.step, f"the loss is {loss}", place)
        self._parts = [*self._parts[: of.part], (loss, targets, share)]
        if of.part == of.parts - 1:
            summed, count, whole_share = (sum(values) for values in zip(*self._parts, strict=True))
            if count:
                self._compare(summed / count, min(1.0, whole_share), of.kind, of.step)

    def validation(self, value: float, step: int) -> None:
        """See the loss of a validation after `step` steps.

        Raises:
            InputError: it is NaN or infinite.
        """
        self.look()
        if not math.isfinite(value):
            self._stop(step - 1, f"the validation loss after it is {value}")

    def weights(self, weights: Iterable[tuple[str, Tensor]], step: int) -> None:
        """See the weights after `step` steps.

        Raises:
            InputError: one is NaN or infinite.
        """
        self.look()
        for name, tensor in weights:
            if not bool(torch.isfinite(tensor).all()):
                self._stop(step - 1, f"{name} is not finite after it")

    def state(self) -> dict[str, Any]:
        """What a resumed training needs."""
        self.look()
        return {
            "kinds": {kind: list(values) for kind, values in self._kinds.items()},
            "squared": self._squared,
            "seen": self._seen,
            "above": self._above,
            "first": list(self._first),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a :meth:`state`."""
        self._kinds = {kind: (mean, before, seen) for kind, (mean, before, seen) in state["kinds"].items()}
        self._squared, self._seen, self._above = state["squared"], state["seen"], state["above"]
        step, mean, value = state["first"]
        self._first = (step, mean, value)

    def _compare(self, value: float, share: float, kind: int, step: int) -> None:
        """Compare a step's mean loss with those before it.

        Args:
            share: of a usual step. The noise of a mean goes with the root of what it is a mean of.
        """
        mean, before, seen = self._kinds.get(kind, (value, value, 0))
        noise = math.sqrt(self._squared / 2 / share)
        highest = mean + max(NOISES * noise, SHARE * abs(mean))
        above = self._seen >= FIRST and seen >= FIRST_OF_KIND and value > highest
        if above and self._above == 0:
            self._first = (step, mean, value)
        self._above = self._above + 1 if above else 0
        if self._above == IN_A_ROW:
            first, usual, reached = self._first
            _LOG.warning(
                "%s: the loss jumped from about %.4g to %.4g",
                *(self._place(first), usual, reached),
                extra={"metric": (self.metric, reached, first)},
            )
        counted = min(value, highest) if above else value
        mean += max(1 - FADING, 1 / (seen + 1)) * (counted - mean)  # at first the plain mean
        weight = max(1 - FADING, 1 / (self._seen + 1))
        self._squared += weight * (share * (counted - before) ** 2 - self._squared)
        self._kinds[kind] = (mean, counted, seen + 1)
        self._seen += 1

    def _place(self, step: int) -> str:
        epoch, batch = divmod(step, self.batches)
        return f"{self.name} {step} (epoch {epoch + 1}, batch {batch + 1} of {self.batches})"

    def _stop(self, step: int, reason: str, part: str = "") -> None:
        raise InputError(f"{self._place(step)}{part}", reason, self.remedy)


class WatchedModule(pl.LightningModule):
    """A training whose `watch` sees the gradient of each optimiser step.

    Attributes:
        watch: set by the subclass.
    """

    watch: DivergenceWatch

    def configure_gradient_clipping(
        self,
        optimizer: torch.optim.Optimizer,
        gradient_clip_val: float | None = None,
        gradient_clip_algorithm: str | None = None,
    ) -> None:
        """Clip here but for fp16, whose scaled gradients only Lightning can: it refuses a fused optimiser's.

        In fp16 a gradient may overflow: the step is skipped and the next loss is scaled by half as much. With nothing
        left to halve it is an error as elsewhere.
        """
        scaler = getattr(self.trainer.precision_plugin, "scaler", None)
        if scaler is not None:
            self.clip_gradients(optimizer, gradient_clip_val, gradient_clip_algorithm)
            self.watch.look()  # Lightning waits for the scaler anyway
            if scaler.get_scale() > 1:
                return
            gradient_clip_val = None
        self.watch.gradient(self.named_parameters(), self.global_step, gradient_clip_val)


class CurveModule(WatchedModule):
    """A training that adds a point to its curve at each validation.

    Attributes:
        curve: (step, validation loss in nats per target).
    """

    curve: list[tuple[int, float]]
