"""Quartet beside other libraries, on the same weights and texts: ``python -m quartet.runtime.peers --help``.

A peer runs in a Python of its own, for its requirements are not ours: `workers` holds one script each, which imports
nothing of Quartet.
"""
