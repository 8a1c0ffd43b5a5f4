"""BLiMP: the acceptable one of two sentences."""
