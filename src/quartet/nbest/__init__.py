"""N-best lists: read, normalise, score, rerank with an interpolation weight, and test the difference.

One file a step: `types` (the lists), `formats` (readers), `normalise`, `scores` (texts -> language-model
scores), `metrics` (what a choice is judged by), `rerank` (the weight and the choice, of one language model or two),
`significance`, `rescored_file` (the written result), `system_comparison` (two of them).
"""
