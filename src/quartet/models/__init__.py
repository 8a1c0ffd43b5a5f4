"""Models; the registry is in architectures.py. Importing this package imports no torch."""
