"""Readers of the published evaluation sets: their well-known files, and the hub's tables, as typed examples.

A kind of set (sts, glue, nli, squad, race, blimp) is one file here with its example type and its `FORMATS`.
"""
