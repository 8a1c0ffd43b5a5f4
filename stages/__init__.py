"""The scripts that dvc.yaml runs, one a stage: read inputs, call quartet, write outputs."""

import gc
import os
import sys

# What is imported stays to the end. To look through it again and again for what could be freed is a quarter of the time
# that Lightning takes to be imported. `pipeline.run.main` takes it out of that search, and begins it.
if sys.argv[0] == "-m":  # so it is while `python -m` looks for the script: not where others import this
    gc.disable()

# NumPy's and SciPy's products, of intervals and baselines, by one thread: several sum up in another order, by which a
# machine's cores would choose the last digits (5e-14 of an interval's end). OpenBLAS reads this when it is loaded, and
# that is later than this. PyTorch's threads are params.yaml's.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
