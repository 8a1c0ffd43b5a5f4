"""Texts to token log-probabilities and vectors."""
