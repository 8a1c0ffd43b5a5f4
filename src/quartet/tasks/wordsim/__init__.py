"""Similarity of words in an embedding table."""
