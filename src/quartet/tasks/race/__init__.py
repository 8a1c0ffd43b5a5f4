"""RACE: the one of four options that answers a question about a passage."""
