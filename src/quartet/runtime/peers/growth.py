"""How the time of one sentence grows with its length."""

from __future__ import annotations

from quartet.runtime.measures import exponent
from quartet.runtime.peers.figures import Figure, Found, at_most
from quartet.runtime.peers.one_sentence import read, same_readings
from quartet.runtime.peers.paired import Run, in_turns, steady
from quartet.runtime.peers.setup import Setup
from quartet.runtime.systems import OneByOne

#: The exponent of T-TA's time.
DEMAND = at_most(1.3)
USES = ("vectors", "scores")


def study(setup: Setup) -> Found:
    """Time sentences of several lengths, one at a time, and fit seconds = a * tokens ** exponent to each round."""
    running = setup.running(max(setup.lengths))
    sentences = {words: " ".join(running[:words]) for words in setup.lengths}
    models = {name: setup.model(key) for name, key in (("T-TA", "tta"), ("uniLM", "unilm"))}
    models["biLM batched"] = setup.model("bilm")
    models["biLM one by one"] = OneByOne.of(models["biLM batched"])
    checks = same_readings(
        "biLM: batched and one by one", models["biLM batched"], sentences[max(setup.lengths)]
    )
    ways: dict[str, Run] = {
        f"{name}, {use}, {words} words": steady(
            lambda model=model, use=use, text=text: read(model, use, [text])  # type: ignore[misc]
        )
        for words, text in sentences.items()
        for name, model in models.items()
        for use in USES
    }
    found = in_turns(ways, setup.rounds)
    tokens = [len(setup.tokenizer.encode(text)) for text in sentences.values()]
    figures = []
    for name in models:
        for use in USES:
            rounds = zip(
                *(found.seconds[f"{name}, {use}, {words} words"] for words in setup.lengths), strict=True
            )
            exponents = [exponent(tokens, seconds).value for seconds in rounds]
            demand = DEMAND if name == "T-TA" else None
            figures.append(Figure.of(f"{use}: growth of {name}'s time with n", exponents, demand, "exponent"))
    sizes = setup.described() | {"words": list(setup.lengths), "tokens": tokens}
    return Found(figures, checks, found.medians, sizes)
