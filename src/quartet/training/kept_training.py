"""Trainings that outlive a run: one that is finished is never run again, an interrupted one goes on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from quartet.files import atomic_path, read_json, write_json

#: (step, validation loss in nats per target)
Curve = Sequence[Sequence[float]]


class KeptTraining:
    """A training in a folder whose name says all that decides its weights.

    Args:
        place: the folder of all such trainings.
        decides: settings, hashes of the data, seed, kind of device, fingerprint of the code: one that is equal in all
            of these is the same training.

    Attributes:
        folder: of this training.
        model: the trained model, in the folder; there when the training is finished.
        resume: its resume point, which is there until then.
    """

    def __init__(self, place: Path, decides: Sequence[str]) -> None:
        self.folder = place / hashlib.sha256("\n".join(decides).encode()).hexdigest()[:16]
        self.model = self.folder / "model"
        self.resume = self.folder / "resume.ckpt"
        self.record_path = self.folder / "curve.json"

    @property
    def finished(self) -> bool:
        """Whether the model is there, which is written last."""
        return self.model.is_dir()

    def keep_record(self, points: Curve, run: Mapping[str, Any], **counts: Any) -> None:
        """Write what is known of the training beside its weights.

        Args:
            points: its validation curve.
            run: of its last run, as a stopwatch takes it: seconds, device, steps.
            counts: what else its rows say.
        """
        write_json(self.record_path, {"points": points, **counts, "run": run})

    def record(self) -> dict[str, Any]:
        """What `keep_record` wrote."""
        record: dict[str, Any] = read_json(self.record_path)
        return record


def write_curves(path: Path, curves: Mapping[int, Curve]) -> None:
    """Write validation curves by seed as CSV: seed, step, loss."""
    lines = ["seed,step,loss"]
    lines += [f"{seed},{step},{loss:.6f}" for seed, points in curves.items() for step, loss in points]
    with atomic_path(path) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
