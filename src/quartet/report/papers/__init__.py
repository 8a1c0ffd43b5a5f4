"""The tables and figures of both papers, one by one: what is printed, what was measured here, and the difference.

`exhibits.yaml` lists them; `ours.py` and `computed.py` find our figures; `series.py` compares; `chapter.py` writes.
Nothing is computed here but differences of figures that the sections show too.
"""
