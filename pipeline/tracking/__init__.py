"""What watches a stage, on the terminal, in timing files and in MLflow.

Nothing here changes an output, so that none of it is part of the code that stages depend on: see :mod:`pipeline.code`.
"""
