"""N-best lists: read, normalise, score, rerank with an interpolation weight, and test the difference.

One file a step: `types` (the lists), `formats` (readers), `normalise`, `scores` (texts -> language-model
scores), `word_errors` (counted once), `rerank` (the weight and the choice), `significance`, `rescored` (the
written result).
"""
