"""The evaluations: one entry a list under ``evaluate:`` of params.yaml, by the name of its stage.

It is read by all who treat evaluations alike: the checking of params.yaml, the registry of stages, MLflow's view. It
imports no reader of sets, so that an edit of one re-runs no stage that does not read with it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """What is known of an evaluation.

    Attributes:
        sets: the kinds of ``tasks:`` that it runs on, names of `quartet.tasks.kinds.KINDS`; one at least must be there.
        judged_by: what is shown where there is room for one figure: of each set of data the first that its rows have.
        table: of the results, where its rows stand; "": called as it is.
        others: sections of params.yaml whose models may go through it beside ``models``.
        tunes: it trains copies of a model, which takes minutes: MLflow sees it while it runs.
        keeps: a folder below artifacts/<experiment> with one for each model, which MLflow keeps beside the rows.
    """

    sets: tuple[str, ...] = ()
    judged_by: tuple[str, ...] = ()
    table: str = ""
    others: tuple[str, ...] = ()
    tunes: bool = False
    keeps: str = ""


EVALUATIONS: dict[str, Evaluation] = {
    "rerank": Evaluation(judged_by=("wer", "bleu"), others=("pretrained", "ngrams")),
    "sts": Evaluation(sets=("documents-similarity", "sts"), judged_by=("pearson",), others=("pretrained",)),
    "wordsim": Evaluation(sets=("word-similarity",), judged_by=("spearman",)),
    "finetune": Evaluation(sets=("classification",), judged_by=("accuracy",), table="classification"),
    "glue": Evaluation(
        sets=("glue",), judged_by=("matthews", "f1", "spearman", "accuracy"), tunes=True, keeps="glue"
    ),
    "nli": Evaluation(sets=("nli",), judged_by=("accuracy",), tunes=True),
    "squad": Evaluation(sets=("squad",), judged_by=("f1",), tunes=True, keeps="predictions/squad"),
    "race": Evaluation(sets=("race",), judged_by=("accuracy",), tunes=True, keeps="predictions/race"),
    "blimp": Evaluation(sets=("blimp",), judged_by=("accuracy",), others=("pretrained", "ngrams")),
    "attention": Evaluation(),
}

#: The kinds of sets that some evaluation runs on.
KINDS = tuple(dict.fromkeys(kind for one in EVALUATIONS.values() for kind in one.sets))
