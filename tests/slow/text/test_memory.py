"""Text of any size in flat memory: five times the text takes no more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]

#: Prints the peak memory, in MiB, after a small corpus and then after a large one.
SCRIPT = """
import resource, sys
from pathlib import Path
from benchmarks.memory import made_up
from quartet.text import encoding
from quartet.text.documents import SentencesOf
from quartet.text.encoding import encode_corpus
from quartet.text.segmentation import segment_corpus
from quartet.text.split import HeldOutShares
from quartet.text.tokenizer import train_tokenizer
encoding.BATCH_TOKENS = 1 << 16
folder = Path(sys.argv[1])
source = folder / "source"
source.touch()
for characters in (3_000_000, 15_000_000):
    segment_corpus(made_up(characters), source, folder / "segments", shares=HeldOutShares(0.1, 0.1), punkt="trained",
        training_characters=100_000, workers=1)
    texts = SentencesOf(folder / "segments" / "train.jsonl")
    tokenizer = train_tokenizer("whitespace", texts, 2000, lowercase=False)
    encode_corpus(folder / "segments", tokenizer, folder / "encoded", workers=1)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def test_memory_does_not_grow_with_the_corpus(tmp_path: Path) -> None:
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": path, "TOKENIZERS_PARALLELISM": "false"},
    )
    small, large = map(float, done.stdout.split())
    assert large - small < 8, f"{small:.0f} MiB, then {large:.0f}"
    assert (tmp_path / "segments" / "train.jsonl").stat().st_size > 12_000_000
