"""What a run found, for people: the README of an experiment (tables.py) and its pictures (figures.py).

Everything is made from results and from `RunFacts`; the same input gives the same bytes. Nothing is imported
here, so that whoever writes the tables does not wait for matplotlib.
"""
