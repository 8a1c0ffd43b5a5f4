"""An exported ONNX graph for people who want scores and vectors, with the methods of a LanguageModel."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from quartet.arguments import checked_texts
from quartet.errors import InputError
from quartet.export.card import ExportCard
from quartet.export.inputs import AskedTokens, GraphBatch, batches, inputs_of, rows_of
from quartet.models.checkpoint import ModelCard
from quartet.objectives import OBJECTIVES
from quartet.objectives.base import IGNORED
from quartet.scoring.network_reader import Layer
from quartet.scoring.unknown import ScoresTexts, UnknownTokens, of_tokenizer
from quartet.scoring.windows import Progress, TextMeans
from quartet.text.tokenizer import TextTokenizer

#: The readings of `embed`; the embedding layer and the bare table are not among a graph's outputs.
READINGS: dict[Layer, AskedTokens] = {"context": "own", "first": "first", "last": "last"}


class ExportedLM(ScoresTexts):
    """A graph with its tokenizer and the model's card; it computes on the CPU.

    Texts are read as a :class:`quartet.scoring.language_model.LanguageModel` reads them.

    Attributes:
        made: how the export was made.
    """

    device = "cpu"

    def __init__(
        self, session: Any, tokenizer: TextTokenizer, card: ModelCard, made: ExportCard, folder: Path
    ) -> None:
        """Args:
        session: of onnxruntime.
        folder: what it was opened from.
        """
        self.folder = folder.resolve()  # the process may go to another folder
        self.session = session
        self.tokenizer = tokenizer
        self.card = card
        self.made = made
        self._inputs = {one.name for one in session.get_inputs()}

    def __reduce__(self) -> tuple[Any, ...]:
        from quartet.export.folder import reopen_export

        return reopen_export, (self.folder, self.fingerprint)

    @property
    def name(self) -> str:
        return self.card.name

    @property
    def seed(self) -> int:
        return self.card.seed

    @property
    def scale(self) -> str:
        """One line that goes beside every figure of this model."""
        return f"{self.card.scale}, exported as {self.made.form}"

    @property
    def masks(self) -> bool:
        """Whether mask-and-predict and the intact input are two readings (MLM only)."""
        return OBJECTIVES[self.card.model.objective].masks

    @property
    def pseudo(self) -> bool:
        """Whether its values are pseudo-log-probabilities; where not, a text's last one is the closing token's."""
        return OBJECTIVES[self.card.model.objective].pseudo

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The readings of :meth:`embed` that tell texts apart."""
        causal = self.card.model.causal
        return tuple(layer for layer in READINGS if not (causal and layer == "first"))

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that decides the scores: the files and the runtime's version."""
        import onnxruntime

        parts = [sorted(self.made.sha256.items()), onnxruntime.__version__]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def token_logprobs(self, texts: Sequence[str], masked: bool = True) -> list[NDArray[np.float64]]:
        """Natural log-probabilities of each text's tokens, in order; for CLM the closing token is the last.

        Args:
            masked: False: an MLM reads the intact input (biLM\\M), whose values are no log-likelihoods.
        """
        rows = rows_of(texts, self.tokenizer)
        ends = int(OBJECTIVES[self.card.model.objective].predicts_end)
        bases = np.cumsum([0, *(len(row.ids) + ends for row in rows)])
        values = np.full(int(bases[-1]), np.nan)
        for batch in batches(inputs_of(rows, self.card.model, "scored", masked and self.masks)):
            logprobs_BT = self._run("logprobs", batch, np.where(batch.asked_BT, batch.targets_BT, IGNORED))
            values[bases[batch.texts_N] + batch.places_N] = logprobs_BT[batch.asked_BT]
        assert not np.isnan(values).any(), "every token is scored once"
        return [values[low:high] for low, high in itertools.pairwise(bases)]

    def unknown_tokens(self, texts: Sequence[str]) -> list[UnknownTokens]:
        """Which tokens of each text the vocabulary lacks, and what each costs beside [UNK]."""
        return of_tokenizer(self.tokenizer, checked_texts(texts))

    def embed(
        self,
        texts: Sequence[str],
        layer: Layer = "context",
        masked: bool = True,
        progress: Progress | None = None,
    ) -> NDArray[np.float64]:
        """(len(texts), D): a vector a text, see :meth:`quartet.scoring.language_model.LanguageModel.embed`.

        Args:
            layer: ``context``, ``first`` or ``last``.

        Raises:
            InputError: the layer is none of these.
        """
        if layer not in READINGS:
            raise InputError(
                self.name,
                f"an exported graph gives {', '.join(READINGS)}, not {layer}",
                "take the model that was trained",
            )
        rows = rows_of(texts, self.tokenizer)
        total = sum(len(row.ids) for row in rows) if layer == "context" else len(rows)
        hide = masked and self.masks and layer == "context"
        means = TextMeans(len(rows), self.card.model.dim, total, progress)
        for batch in batches(inputs_of(rows, self.card.model, READINGS[layer], hide)):
            vectors_BTD = self._run("vectors", batch, np.full_like(batch.targets_BT, IGNORED))
            means.add(batch.texts_N, vectors_BTD[batch.asked_BT])
        return means.means()

    def _run(self, output: str, batch: GraphBatch, targets_BT: NDArray[np.int64]) -> NDArray[np.float32]:
        feed = {"targets": targets_BT, **batch.feed}
        given = {name: values for name, values in feed.items() if name in self._inputs}
        found: NDArray[np.float32] = self.session.run([output], given)[0]
        return found


def open_session(path: Path) -> Any:
    """A graph in onnxruntime.

    Raises:
        InputError: onnxruntime is not installed, or cannot read the file.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise InputError(
            "onnxruntime",
            f"an exported model needs it ({error})",
            "in Quartet's folder: pip install -e '.[export]'",
        ) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    options.log_severity_level = 4  # what goes wrong is raised, and said once
    # Processors without instructions for it would add products of 8 bits in 16, which overflow.
    options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # it has a class for each status and no common one
        reason = str(error).splitlines()[0]
        raise InputError(path, f"onnxruntime cannot read it ({reason})", "export the model again") from error
