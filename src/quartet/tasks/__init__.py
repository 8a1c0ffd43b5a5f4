"""The tasks that a model is judged by: a folder each.

* `data`: the task's sets as typed examples, and how their files are read;
* `metrics`: its figures, and what is judged, the same for models and baselines, without PyTorch;
* `evaluation`: a model on its sets; `tuning`: the fine-tuning that it needs, whose weights are kept;
* `report.yaml`: what the report says of it.

`kinds` names the kinds of sets, `set_files` and `judged_texts` read published ones, `questions` is what SQuAD and RACE
share, and `baselines` with `word_vectors` are what models are compared with. Every `evaluate` gets an
:class:`quartet.tasks.evaluation.Evaluation`, which collects the rows:

>>> from quartet.results import EvaluatedSystem
>>> from quartet.tasks.evaluation import Evaluation
>>> from quartet.tasks.wordsim.data import WordPairs
>>> from quartet.tasks.wordsim.evaluation import evaluate
>>> import numpy as np
>>> pairs = WordPairs(("a", "a", "b"), ("b", "c", "c"), np.array([9.0, 1.0, 2.0]))
>>> run = Evaluation("notebook", "wordsim", samples=1000, seed=1)
>>> vectors = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
>>> system = EvaluatedSystem("mine", "cpu", "three words")
>>> evaluate(run, system, [("made-up", pairs)], lambda word: ["abc".index(word)], vectors, unknown=-1)
>>> {row.metric: round(row.value, 2) for row in run.rows}
{'pearson': 1.0, 'spearman': 1.0, 'coverage': 1.0}
"""
