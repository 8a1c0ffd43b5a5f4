"""Settings as dataclasses: what a training, a model or a set of lists may say, and within which bounds."""
