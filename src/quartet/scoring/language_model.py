"""A trained model for people who want scores and vectors: texts in, log-probabilities and embeddings out."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import torch
from torch import Tensor

from quartet.arguments import check_choice, checked_texts
from quartet.config.choices import ScoringPrecision, WeightsChoice
from quartet.config.model import TOKENIZER, WEIGHTS
from quartet.data.batch import Batch, Row
from quartet.data.passages import sentence_row
from quartet.data.segments import SegmentedTokens
from quartet.errors import InputError
from quartet.models.checkpoint import ModelCard, load_card, load_network
from quartet.models.network import Network
from quartet.models.transformer_xl import TransformerXL
from quartet.objectives import OBJECTIVES
from quartet.scoring.device import check_device, logit_budget
from quartet.scoring.network_reader import LAYERS, Layer, NetworkReader
from quartet.scoring.unknown import ScoresTexts, UnknownTokens, of_tokenizer
from quartet.scoring.windows import Progress, TextMeans
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer


class LanguageModel(ScoresTexts):
    """A network with its objective and tokenizer.

    A text is a string, read as one sentence of one paragraph. Documents, with their real sentences and paragraphs, come
    from an encoded corpus through :meth:`corpus_logprobs`. A text longer than the model's inputs is read in parts.

    Its network's weights may be changed. After a change through ``.data``, of which PyTorch keeps no count, call
    ``network.eval()``: T-TA keeps products of its weights.
    """

    def __init__(
        self,
        network: Network,
        tokenizer: TextTokenizer,
        card: ModelCard,
        device: str = "cpu",
        precision: ScoringPrecision = "fp32",
    ) -> None:
        self.precision = precision
        self.network = network.eval().to(device)
        self.tokenizer = tokenizer
        self.card = card
        self.device = device
        self.objective = OBJECTIVES[card.model.objective]()
        self._reader = NetworkReader(self.network, self.objective, tokenizer, device, card.model.max_length)

    @property
    def name(self) -> str:
        return self.card.name

    @property
    def seed(self) -> int:
        return self.card.seed

    @property
    def scale(self) -> str:
        return self.card.scale

    @property
    def masks(self) -> bool:
        """Whether mask-and-predict and the intact input are two readings (MLM only)."""
        return self.objective.masks

    @property
    def pseudo(self) -> bool:
        """Whether its values are pseudo-log-probabilities; where not, a text's last one is the closing token's."""
        return self.objective.pseudo

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The readings of :meth:`embed` that tell texts apart: all, but a causal model's first token."""
        causal = self.card.model.causal
        return tuple(layer for layer in LAYERS if not (causal and layer == "first"))

    @property
    def fingerprint(self) -> str:
        """A hash of all that decides the scores: weights, settings, tokenizer, lengths and kind of device.

        It is made anew each time, of the weights as they are then.
        """
        parts = hashlib.sha256(self.tokenizer.to_json().encode("utf-8"))
        settings = [self.card.model, self._reader.window, getattr(self.network, "memory_length", None)]
        settings += [] if self.precision == "fp32" else [self.precision]
        parts.update(repr([*settings, torch.device(self.device).type]).encode("utf-8"))
        for name, tensor in sorted(self.network.state_dict().items()):
            parts.update(name.encode("utf-8"))
            parts.update(tensor.cpu().contiguous().numpy().tobytes())
        return parts.hexdigest()

    @property
    def embedding_table(self) -> np.ndarray:
        """(V, D): the bare token table."""
        table: np.ndarray = self.network.table().detach().cpu().numpy()
        return table

    def at(self, window: int | None = None, memory: int | None = None) -> LanguageModel:
        """The same Transformer-XL, its weights shared, reading with other lengths than those of its training.

        A layer sees, of a token's past, what is in its window and `memory` tokens before the window. So with a memory
        as long as the text any window gives the same scores; and with `window` 1 every token has the same context, in
        all layers x memory tokens: the slowest reading. (Offsets ``released`` are not causal: there the scores change
        with the window.)

        Args:
            window: tokens that are read at once; None: as it is.
            memory: tokens that each layer keeps of earlier windows, 0 for none; None: as it is.

        Raises:
            InputError: the model has no memory, or a length cannot be.
        """
        if not isinstance(self.network, TransformerXL):
            raise InputError(
                self.name, "has no memory: only architecture transformer-xl reads at other lengths"
            )
        if window is not None and window < 1:
            raise InputError("window", f"{window} tokens cannot be read", "take 1 or more")
        if memory is not None and memory < 0:
            raise InputError("memory", f"{memory} tokens cannot be kept", "take 0 or more")
        network = copy.copy(self.network)
        network.memory_length = network.memory_length if memory is None else memory
        window = self._reader.window if window is None else window
        other = copy.copy(self)
        other.network = network
        other._reader = replace(self._reader, network=network, window=window)
        return other

    def token_logprobs(self, texts: Sequence[str], masked: bool = True) -> list[np.ndarray]:
        """Natural log-probabilities of each text's tokens, in order; for CLM the closing token is the last.

        For MLM and LAE they are pseudo-log-probabilities, log p(token | all other tokens of the text).

        Args:
            masked: False: an MLM reads the intact input (biLM\\M), whose values are no log-likelihoods.

        Raises:
            InputError: `texts` is one string, or holds what is no text.
        """
        rows = self._rows(texts)
        return self._logprobs(rows, int(self.objective.predicts_end), masked)

    def unknown_tokens(self, texts: Sequence[str]) -> list[UnknownTokens]:
        """Which tokens of each text the vocabulary lacks, and what each costs beside [UNK]."""
        return of_tokenizer(self.tokenizer, checked_texts(texts))

    def embed(
        self,
        texts: Sequence[str],
        layer: Layer = "context",
        masked: bool = True,
        progress: Progress | None = None,
    ) -> np.ndarray:
        """(len(texts), D): a vector a text, read as one sentence (Shin et al. 2020, section 5.4).

        The mean over the text's own tokens, specials left out, is zeros for a text without any. A model that reads
        streams has the text alone in its memory; where a text is cut in parts, the mean is over all of them.

        Args:
            layer: ``context``: the mean of the last layer's outputs, before the head; ``embed``: of the embedding
                layer's outputs; ``table``: of the tokens' rows in the bare table; ``first``, ``last``: the last layer's
                output at the special token before or behind the text. A causal model's first token has read nothing
                but itself: it is the same for all texts.
            masked: the context of an MLM is mask-and-predict's, each token's own vector with that token hidden; False:
                that of the intact input, as for the special tokens always.
            progress: called with the tokens done and all tokens.

        Raises:
            InputError: there is no such layer, or `texts` is no collection of texts.
        """
        check_choice(layer, LAYERS, "layer")
        rows = self._rows(texts)
        total = len(rows) if layer in ("first", "last") else sum(len(row.ids) for row in rows)
        means = TextMeans(len(rows), self.card.model.dim, total, progress)
        with self._products():
            for reading in self._reader.read(rows, layer, masked):
                vectors_ND = reading.vectors_ND if self.precision == "fp32" else reading.vectors_ND.float()
                means.add(reading.texts_N, vectors_ND.cpu().numpy())
        return means.means()

    def corpus_logprobs(
        self,
        corpus: EncodedCorpus,
        tokens_per_document: int = 0,
        progress: Progress | None = None,
        carry_memory: bool = False,
    ) -> list[np.ndarray]:
        """Log-probabilities of each document's own tokens, read as the model was trained: by sentence, span or stream.

        The closing tokens of CLM are left out, so that every model is measured on the same tokens. So is the [EOS]
        after each paragraph of a stream: it is read, and not counted.

        Args:
            tokens_per_document: stop at the first sentence end at or after so many tokens (0: whole documents).
            carry_memory: read all documents as one stream, in the order of the corpus, each with the memory and the
                running counters of those before it (as the papers do for WikiText); False: each on its own.

        Raises:
            InputError: memory is to be carried, and the model reads no streams; or the corpus is encoded with another
                tokenizer.
        """
        corpus.check_tokenizer(self.tokenizer, f"the model {self.name}")
        tokens = SegmentedTokens(corpus)
        documents = len(corpus.document_offsets) - 1
        rows = [tokens.document(index, tokens_per_document) for index in range(documents)]
        if not carry_memory:
            return self._logprobs(rows, 0, True, progress)
        if self.card.model.reads != "streams":
            raise InputError(self.name, f"reads {self.card.model.reads}: it has no memory to carry")
        stream = Row(
            np.concatenate([row.ids for row in rows]), np.concatenate([row.segments for row in rows])
        )
        ends = np.cumsum([len(row.ids) for row in rows])
        return np.split(self._logprobs([stream], 0, True, progress)[0], ends[:-1])

    def batch(self, texts: Sequence[str], max_length: int | None = None) -> Batch:
        """Texts as one input each, on the CPU; what is over the model's length is cut off at the end.

        Args:
            max_length: tokens that an input may have, specials included, where that is less than the model's.
        """
        return self.batch_of(self._rows(texts), max_length)

    def batch_of(self, rows: Sequence[Row], max_length: int | None = None) -> Batch:
        """As :meth:`batch`, of tokens that have their segment indices, without special tokens."""
        return self._reader.single(rows, max_length)

    def _rows(self, texts: Sequence[str]) -> list[Row]:
        """Each string as one sentence of one paragraph."""
        return [sentence_row(ids) for ids in self.tokenizer.encode_batch(checked_texts(texts))]

    def _logprobs(
        self, rows: list[Row], ends: int, masked: bool, progress: Progress | None = None
    ) -> list[np.ndarray]:
        if not rows:
            return []
        sizes = np.array([len(row.ids) for row in rows], dtype=np.int64)
        bases = np.concatenate([[0], np.cumsum(sizes + ends)])
        values = np.full(int(bases[-1]), np.nan)
        places: list[np.ndarray] = []
        found: list[Tensor] = []  # they stay on the device until all is read, which so never waits for a copy
        done = 0
        with self._products():
            for reading in self._reader.read(rows, "predict", masked):
                wanted = np.flatnonzero(reading.places_N < sizes[reading.texts_N] + ends)
                index = torch.from_numpy(wanted).to(reading.targets_N.device)
                found.append(self._target_logprobs(reading.vectors_ND[index], reading.targets_N[index]))
                places.append(bases[reading.texts_N[wanted]] + reading.places_N[wanted])
                done += len(wanted)
                if progress is not None:
                    progress(done, len(values))
        values[np.concatenate(places)] = torch.cat(found).cpu().numpy()
        assert not np.isnan(values).any(), "every token is scored once"
        return np.split(values, bases[1:-1])

    def _products(self) -> AbstractContextManager[object]:
        """Within, products are of the model's precision, whatever the caller's autocast says."""
        return torch.autocast(
            torch.device(self.device).type, torch.bfloat16, enabled=self.precision == "bf16"
        )

    @torch.inference_mode()
    def _target_logprobs(self, vectors_ND: Tensor, targets_N: Tensor) -> Tensor:
        """The scores of the targets, holding a bounded number of logits at a time."""
        step = max(1, logit_budget(self.device) // self.tokenizer.vocab_size)
        parts = [
            self.objective.token_scores(self.network, vectors_ND[at : at + step], targets_N[at : at + step])
            for at in range(0, len(targets_N), step)
        ]
        return torch.cat(parts) if parts else vectors_ND.new_zeros(0)


def load(
    folder: str | Path,
    device: str = "cpu",
    weights: WeightsChoice | None = None,
    precision: ScoringPrecision = "fp32",
) -> LanguageModel:
    """Open a trained model.

    Args:
        folder: what a training wrote: model.safetensors, best.safetensors, config.json and tokenizer.json.
        device: ``cpu`` or ``cuda``.
        weights: ``last`` or ``best``; None: those that the training's settings name.
        precision: ``fp32``, or ``bf16`` for products of numbers of 8 bits.

    Raises:
        InputError: the folder holds no model of ours, one of its files is broken, or there is no such device.
    """
    folder = Path(folder)
    check_device(device)
    check_choice(precision, get_args(ScoringPrecision), "precision")
    card = load_card(folder)
    if weights is not None:
        check_choice(weights, WEIGHTS, "weights")
        card = replace(card, training=replace(card.training, weights=weights))
    tokenizer = TextTokenizer.load(folder / TOKENIZER)
    return LanguageModel(load_network(folder, card, tokenizer), tokenizer, card, device, precision)
