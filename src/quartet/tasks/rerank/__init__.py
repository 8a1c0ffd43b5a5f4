"""Reranking of N-best lists."""
