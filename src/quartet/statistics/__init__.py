"""Figures and how sure they are: intervals by the bootstrap, correlations, perplexities. Arrays in, measures out."""
