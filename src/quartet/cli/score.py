"""`quartet score`: log-probabilities of sentences."""

from __future__ import annotations

from quartet.cli.options import (
    Cache,
    Device,
    Handling,
    Intact,
    Scorer,
    Unknown,
    kept,
    lines_of_input,
    progress,
    say_unknown,
)


def score(
    model: Scorer = None,
    device: Device = "cpu",
    intact: Intact = False,
    unknown: Unknown = Handling.spread,
    cache: Cache = None,
) -> None:
    """Print the log-probability of each line of standard input, one a line, in nats (pseudo- for MLM and LAE)."""
    from quartet.scoring.engine import score_all
    from quartet.scoring.opening import open_scorer
    from quartet.scoring.unknown import unknown_in
    from quartet.shipped import model_or_shipped

    scorer = open_scorer(model_or_shipped(model), device)
    texts = lines_of_input()
    found = unknown_in(scorer, texts, unknown.value)
    say_unknown(scorer.name, found.share, unknown)
    with kept(cache) as scores_kept, progress(f"{scorer.name}: sentences") as shown:
        scored = score_all(scorer, texts, not intact, scores_kept, shown)
    for value in found.applied(scored):
        print(f"{value.sum():.6f}")
