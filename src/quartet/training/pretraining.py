"""A model of ours, from its settings and an encoded corpus to a folder that `quartet.load` opens."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from quartet import code
from quartet.config.model import CONFIG, ModelEntry
from quartet.files import atomic_dir, sha256, write_json
from quartet.hugging_face import content_hash, local_folder
from quartet.models.checkpoint import ModelCard, copy_model, load_card, save_model
from quartet.results import EvaluatedSystem, Measure, Result
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from quartet.training.callbacks import MetricReporter, Progress
from quartet.training.distributed import Machine
from quartet.training.fit import TrainedNetwork, fit
from quartet.training.kept_training import KeptTraining

#: The splits that a training reads.
READ = ("train", "valid")


class Pretraining(KeptTraining):
    """One seed's training of a model.

    Args:
        name, entry: of params.yaml's `models`.
        encoded, tokenizer: the folder of the encoded corpus, the tokenizer's file.
        seed: of the weights and of the data.
        device: ``cpu`` or ``cuda``.
        place: where this model's trainings of this seed are kept: …/<name>/seed-<seed>.
        settings: a text that two trainings share only where all settings that decide weights are the same: those of
            `entry`, and those of the process, such as its threads.
    """

    def __init__(
        self,
        name: str,
        entry: ModelEntry,
        encoded: Path,
        tokenizer: Path,
        seed: int,
        device: str,
        place: Path,
        settings: str,
    ) -> None:
        self.name = name
        self.entry = entry
        self.seed = seed
        self.device = device
        self._encoded = encoded
        self._tokenizer = tokenizer
        decides = [
            settings,
            *(sha256(encoded / f"{split}.{kind}") for split in READ for kind in ("arrow", "json")),
            sha256(tokenizer),
            code.fingerprint(__name__),
            str(seed),
            device,
        ]
        if entry.init_from is not None:
            decides.append(content_hash(local_folder(entry.init_from)))
        super().__init__(place, decides)

    def take_over(self) -> str | None:
        """Copy the same training from another name, such as one that the model had before; that name, or None."""
        models = self.folder.parent.parent.parent
        for found in sorted(models.glob(f"*/{self.folder.parent.name}/{self.folder.name}/model")):
            self.folder.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(found.with_name(self.record_path.name), self.record_path)
            with atomic_dir(self.model) as output:
                copy_model(found, output)
            return found.relative_to(models).parts[0]
        return None

    def fit(
        self, machine: Machine, progress: Progress | None = None, report: MetricReporter | None = None
    ) -> TrainedNetwork:
        """Train from the resume point, if there is one; every process of the machine takes part."""
        return fit(
            *(self.entry.config, self.entry.training, *self._data),
            seed=self.seed,
            resume=self.resume,
            device=self.device,
            machine=machine,
            progress=progress,
            report=report,
        )

    def keep(self, trained: TrainedNetwork, run: Mapping[str, Any]) -> None:
        """Write the record and the model.

        Args:
            run: see :meth:`KeptTraining.keep_record`.
        """
        tokenizer, train, _ = self._data
        assert train.origin is not None
        card = ModelCard(
            name=self.name,
            seed=self.seed,
            corpus=self.entry.corpus,
            corpus_words=int(train.sentence_words.sum()),
            steps=self.entry.training.steps,
            best_step=trained.best_step,
            parameters=trained.network.parameter_count,
            model=self.entry.config,
            training=self.entry.training,
            encoding=train.origin.sha256,
        )
        self.keep_record(trained.curve, run, targets=trained.targets, tokens=trained.tokens, cut=trained.cut)
        with atomic_dir(self.model) as output:
            save_model(output, {"last": trained.network.state_dict(), "best": trained.best}, card, tokenizer)

    def describe(self) -> None:
        """Let the card of the finished training have the name, and the settings that change no weight, of now."""
        card = load_card(self.model)
        now = dataclasses.replace(card, name=self.name, training=self.entry.training)
        if now != card:
            write_json(self.model / CONFIG, dataclasses.asdict(now))

    def rows(self, experiment: str) -> list[Result]:
        """What the finished training leaves: the last validation loss in nats per target, and the sizes behind it."""
        card, record = load_card(self.model), self.record()
        measures = {
            "loss": Measure(record["points"][-1][1], record["targets"]),
            "tokens": Measure(record["tokens"], 1),
            "parameters": Measure(card.parameters, 1),
        }
        system = EvaluatedSystem(self.name, self.device, card.scale, self.seed)
        return system.rows(
            measures, experiment=experiment, table="training", dataset=self.entry.corpus, split="valid"
        )

    @cached_property
    def _data(self) -> tuple[TextTokenizer, EncodedCorpus, EncodedCorpus]:
        """The tokenizer, and the encoded splits for training and validation."""
        train, valid = (EncodedCorpus.open(self._encoded, split) for split in READ)
        return TextTokenizer.load(self._tokenizer), train, valid
