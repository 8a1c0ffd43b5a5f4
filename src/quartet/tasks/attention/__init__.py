"""Where attention goes."""
