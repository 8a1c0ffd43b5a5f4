"""The scripts that dvc.yaml runs, one a stage: read inputs, call quartet, write outputs."""

import gc
import sys

import pipeline  # noqa: F401 - it sets the threads of NumPy's products, before NumPy is imported
import quartet  # noqa: F401 - it sets what QUARTET_PROCESSOR asks of NumPy and PyTorch, before their import

# What is imported stays to the end. To look through it again and again for what could be freed is a quarter of the time
# that Lightning takes to be imported. `pipeline.run.main` takes it out of that search, and begins it.
if sys.argv[0] == "-m":  # so it is while `python -m` looks for the script: not where others import this
    gc.disable()
