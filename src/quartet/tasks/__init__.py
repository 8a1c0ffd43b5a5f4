"""The tasks that a model is judged by: a folder each, `data` (its sets as typed examples) and `metrics` (its figures).

Functions take arrays, texts or plain callables, never a model class, so that an evaluation imports no torch.
`published` names the sets that are known, `files` reads their files, `word_vectors` are baselines of two tasks.
"""
