"""Settings as dataclasses: what a training, a model or a set of lists may say, and within which bounds.

A file a subject: `text`, `model`, `training`, `finetuning`, `ngram`, `nbest`, `recognise`, `evaluation`. `types` has
what they share, and `loading` reads them from YAML.
"""
