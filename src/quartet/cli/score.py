"""`quartet score`: log-probabilities of sentences."""

from __future__ import annotations

from quartet.cli.options import Cache, Device, Intact, Scorer, kept, lines_of_input, progress


def score(model: Scorer = None, device: Device = "cpu", intact: Intact = False, cache: Cache = None) -> None:
    """Print the log-probability of each line of standard input, one a line, in nats (pseudo- for MLM and LAE)."""
    from quartet.scoring.engine import score_all
    from quartet.scoring.opening import open_scorer
    from quartet.shipped import model_or_shipped

    scorer = open_scorer(model_or_shipped(model), device)
    texts = lines_of_input()
    with kept(cache) as scores_kept, progress(f"{scorer.name}: sentences") as shown:
        values = [each.sum() for each in score_all(scorer, texts, not intact, scores_kept, shown)]
    for value in values:
        print(f"{value:.6f}")
