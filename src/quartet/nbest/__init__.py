"""N-best lists: read, normalise, score, rerank with an interpolation weight, and test the difference.

One file a step: `types` (the lists), `formats` (readers), `normalise`, `scores` (texts -> language-model
scores), `metrics` (what a choice is judged by: `word_errors`, `bleu`), `rerank` (the weight and the choice),
`combine` (two language models), `lengths`, `significance`, `rescored` (the written result), `compare` (two of them).
"""
