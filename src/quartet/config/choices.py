"""The words to choose from that params.yaml, the command line and Python share; imports nothing."""

from __future__ import annotations

from typing import Literal

#: What choices among hypotheses are judged by.
MetricName = Literal["wer", "cer", "bleu"]
#: sacrebleu's ways to cut a text into words.
BleuTokenization = Literal["13a", "intl", "char", "zh", "none"]
#: A text's score: the sum of its tokens' log-probabilities, or their mean.
ScoreReduction = Literal["sum", "mean"]
#: What the numbers of a first pass are: larger is better, or smaller.
ScoreMeaning = Literal["scores", "costs"]
#: What is done where a text has unknown tokens: each costs what its word does (see `quartet.scoring.unknown`), and they
#: are counted; [UNK] has its own probability, and they are counted; the text is refused.
UnknownHandling = Literal["spread", "warn", "error"]
#: The weights of a training: the last ones, or those of the lowest validation loss.
WeightsChoice = Literal["last", "best"]
#: How exact the products of a model are that was trained here. bf16 is quicker on a GPU, and less exact.
ScoringPrecision = Literal["fp32", "bf16"]
