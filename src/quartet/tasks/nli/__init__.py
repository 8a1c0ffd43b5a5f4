"""Entailment, and encoders tuned on it."""
