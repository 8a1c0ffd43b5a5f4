"""A translator of ours, from its settings and parallel text to a folder, and the N-best lists that it makes."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from quartet import code
from quartet.config.recognise import BeamConfig, TranslatorEntry
from quartet.files import atomic_dir, atomic_path, read_json, sha256, write_json
from quartet.recognise import beam, translation
from quartet.recognise.hypotheses import write_translations
from quartet.recognise.parallel_text import ParallelText, encode_pairs
from quartet.recognise.training import TrainedTranslator, fit_translator
from quartet.recognise.vocabulary import train_pieces
from quartet.results import Measure
from quartet.training.callbacks import MetricReporter, Progress
from quartet.training.kept_training import KeptTraining

#: What only the search of a trained translator's lists is made by.
SEARCH = ("quartet.recognise.beam", "quartet.recognise.hypotheses")
#: The splits that decide the weights.
READ = ("train", "dev")
#: Beside the model with its last weights: those of the lowest point of the curve.
BEST = "best.safetensors"


class TranslatorTraining(KeptTraining):
    """The training of a translator. The beam, the test text and settings that change no weight do not name it.

    Args:
        name, entry: of params.yaml's `translators`.
        files, texts: by split, the two files and what they hold.
        device: ``cpu`` or ``cuda``.
        place: where this translator's trainings are kept.
        decisive: as `settings` of :class:`quartet.training.pretraining.Pretraining`.
    """

    def __init__(
        self,
        name: str,
        entry: TranslatorEntry,
        files: Mapping[str, Sequence[Path]],
        texts: Mapping[str, ParallelText],
        device: str,
        place: Path,
        decisive: str,
    ) -> None:
        self.name = name
        self.entry = entry
        self.device = device
        self._texts = texts
        super().__init__(
            place,
            [
                decisive,
                *(sha256(path) for split in READ for path in files[split]),
                code.fingerprint(__name__, without=SEARCH),
                device,
            ],
        )

    def train(
        self, computed_on: Callable[[], str], progress: Progress, report: MetricReporter
    ) -> TrainedTranslator:
        """Train from the resume point, if there is one, and keep the last weights, the best ones and the record.

        Args:
            computed_on: the device in words, when it has computed.
        """
        entry, text = self.entry, self._texts["train"]
        tokenizer = train_pieces([*text.source, *text.target], entry.tokenizer)
        pairs = {split: encode_pairs(self._texts[split], tokenizer, entry.max_length) for split in READ}
        trained = fit_translator(
            entry.config,
            entry.training,
            tokenizer.vocab_size,
            pairs["train"],
            pairs["dev"],
            label_smoothing=entry.label_smoothing,
            seed=entry.seed,
            resume=self.resume,
            device=self.device,
            progress=progress,
            report=report,
        )
        card = translation.TranslatorCard(
            name=self.name,
            languages=entry.languages,
            seed=entry.seed,
            steps=entry.training.steps,
            weights_step=entry.training.steps,
            pairs=len(pairs["train"]),
            parameters=translation.parameter_count(trained.network),
            model=entry.config,
            training=entry.training,
            label_smoothing=entry.label_smoothing,
        )
        self.keep_record(
            trained.curve,
            {
                "seconds": trained.seconds,
                "device": computed_on(),
                "steps": trained.steps,
                "tokens": trained.run_tokens,
            },
            best_step=trained.best_step,
            targets=trained.targets,
            tokens=trained.tokens,
            dropped={split: each.dropped for split, each in pairs.items()},
        )
        with atomic_path(self.folder / BEST) as temporary:
            translation.save_weights(temporary, trained.best)
        with atomic_dir(self.model) as output:
            translation.save_translator(output, translation.Translator(trained.network, tokenizer, card))
        return trained

    def copy_to(self, output: Path) -> None:
        """Copy the finished training, with the weights that the settings ask for now."""
        shutil.copytree(self.model, output, dirs_exist_ok=True)
        card = read_json(output / translation.CARD)
        if self.entry.training.weights == "best":
            shutil.copyfile(self.folder / BEST, output / translation.WEIGHTS)
            card["weights_step"] = self.record()["best_step"]
        training = dataclasses.asdict(self.entry.training)
        write_json(output / translation.CARD, {**card, "training": training})


def translate_split(
    translator: translation.Translator,
    settings: BeamConfig,
    split: str,
    text: ParallelText,
    path: Path,
    progress: Callable[[int], None],
) -> dict[str, Any]:
    """Write the N-best lists of a split; what a manifest says of them, `bleu` of the best hypotheses."""
    from sacrebleu.metrics.bleu import BLEU

    found = beam.search(translator, text.source, settings, progress)
    write_translations(path, split, text, found.lists)
    bleu = BLEU()
    score = bleu.corpus_score([one[0].text for one in found.lists], [list(text.target)]).score
    return {
        "sha256": sha256(path),
        "lists": len(found.lists),
        "hypotheses": sum(map(len, found.lists)),
        "merged_hypotheses": found.merged,
        "hypotheses_at_length_limit": found.ended,
        "cut_sources": found.cut,
        "bleu": score,
        "bleu_signature": str(bleu.get_signature()),
    }


def translator_measures(
    record: Mapping[str, Any], manifest: Mapping[str, Any], card: translation.TranslatorCard
) -> dict[str, dict[str, Measure]]:
    """By split, the validation loss behind the weights (nats per target token), the sizes, and BLEU.

    Args:
        record: of the training.
        manifest: by split, what `translate_split` said.
    """
    loss = dict(record["points"])[card.weights_step]
    bleu = {split: Measure(manifest[split]["bleu"], manifest[split]["lists"]) for split in ("dev", "test")}
    sizes = {"tokens": Measure(record["tokens"], 1), "parameters": Measure(card.parameters, 1)}
    return {
        "dev": {"loss": Measure(loss, record["targets"]), **sizes, "bleu": bleu["dev"]},
        "test": {"bleu": bleu["test"]},
    }
