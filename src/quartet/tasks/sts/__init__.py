"""Semantic similarity of sentences and documents, without training."""
