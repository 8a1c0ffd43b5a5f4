"""What every stage shares: settings, places, run conditions, tracking. The library itself is `quartet`."""

import os
import sys
from importlib.util import find_spec

if absent := [name for name in ("quartet", "torch", "dvc", "mlflow", "psutil") if find_spec(name) is None]:
    print(
        f"error: {sys.executable} has no {', '.join(absent)}: run `source .venv/bin/activate` first, "
        "which `make setup` makes",
        file=sys.stderr,
    )
    sys.exit(2)

# NumPy's and SciPy's products, of intervals and baselines, by one thread: several sum up in another order, by which a
# machine's cores would choose the last digits (5e-14 of an interval's end). OpenBLAS reads this when it is loaded, and
# that is later than this. PyTorch's threads are params.yaml's.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
