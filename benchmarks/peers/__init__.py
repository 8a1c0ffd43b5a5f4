"""Quartet beside other libraries, on the same weights and texts: ``python -m benchmarks.peers --help``.

A peer runs in a Python of its own, for its requirements are not ours: `workers` holds one script each, which imports
nothing of Quartet. A comparison is one file with a `study(setup)`; `__main__` names them all. Each first checks that
what it is about to time gives equal outputs, and then times all ways in turns.
"""
