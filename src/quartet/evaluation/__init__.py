"""What a model is worth: similarity, classification, perplexity and the intervals around each figure.

Functions take arrays, texts or plain callables, never a model class, so that an evaluation imports no torch.
`datasets` reads the sets, `intervals` and `correlation` hold the statistics, the others are one measure each.
"""
