"""An evaluation as a stage: the settings, the folders, the display, and the rows that it leaves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.settings import load
from pipeline.tracking import progress
from pipeline.tracking.stage import StageRun, stage_run
from quartet.results import EvaluatedSystem, write_results
from quartet.statistics.outcomes import write_outcomes
from quartet.tasks.evaluation import Evaluation, ProgressDisplay


class StageEvaluation(Evaluation):
    """See :class:`quartet.tasks.evaluation.Evaluation`.

    Attributes:
        params: the settings.
        layout: the folders of the experiment.
        stage: the stage instance at work.
    """

    def __init__(self, params: Params, layout: Layout, table: str, stage: StageRun) -> None:
        super().__init__(params.experiment, table, samples=params.bootstrap, seed=params.seeds[0])
        self.params = params
        self.layout = layout
        self.stage = stage

    def pair(self, model: str, reading: str = "", *, versus: str, items: str) -> EvaluatedSystem:
        """Whose rows the difference of two systems is: of the seed of their trainings, or of none over several.

        Args:
            model, reading: the first system.
            versus: the shown name of the second one.
            items: what the difference is over, e.g. "600 utterances".
        """
        seeds = self.params.seeds
        seed, over = (seeds[0], items) if len(seeds) == 1 else (None, f"{items}, {len(seeds)} seeds")
        return EvaluatedSystem(model, "cpu", over, seed, reading, versus)

    def say(self, line: str) -> None:
        """One line on stderr."""
        progress.say(line)

    def bar(self, label: str, total: float | None = None) -> AbstractContextManager[ProgressDisplay]:
        """A progress bar on stderr."""
        return progress.bar(label, total)


@contextmanager
def evaluation(
    stage: str, variant: str = "", table: str | None = None, *, outcomes: bool = False
) -> Iterator[StageEvaluation]:
    """The work of an evaluation's stage instance; when the block ends, its rows are written.

    Args:
        stage, variant: as in dvc.yaml: ``evaluation("sts", "tta")`` for ``sts@tta``.
        table: of the rows, if it is not called as the stage.
        outcomes: what systems made of each item is written too.

    Raises:
        InputError: see `pipeline.tracking.stage.stage_run`.
    """
    params = load()
    layout = Layout(params.experiment)
    with stage_run(params, stage, variant) as run:
        at_work = StageEvaluation(params, layout, table or stage, run)
        yield at_work
        run.check()
        write_results(layout.rows(stage, variant), at_work.rows)
        if outcomes:
            write_outcomes(layout.outcomes(stage, variant), at_work.outcomes)
