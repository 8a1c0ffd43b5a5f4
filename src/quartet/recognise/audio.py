"""Audio files as samples: WAV, FLAC and whatever else libsndfile reads, one channel at 16 kHz."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quartet.errors import InputError

#: Samples a second that Whisper's features are made from.
RATE = 16_000
#: One channel of samples at `RATE`, in [-1, 1].
Samples = NDArray[np.float32]

#: Samples a second that recordings have: of odd headers' thousands of millions no filter can be made.
LOWEST_RATE, HIGHEST_RATE = 1_000, 768_000

#: What libsndfile says of a WAV file that holds fewer bytes than its header states.
_SHORT = re.compile(r"^data\s*: (\d+) \(should be (\d+)\)", re.MULTILINE)
#: From here on a header's size stands for "not known yet": programs that write into a pipe leave it so.
_UNKNOWN_SIZE = 0x7FFF_0000


def soundfile() -> Any:
    """The library `soundfile`.

    Raises:
        InputError: it is not installed.
    """
    try:
        import soundfile as library
    except (ImportError, OSError) as error:  # OSError: the package without libsndfile
        raise InputError(
            "soundfile",
            f"reading audio needs it ({error})",
            "in Quartet's folder: pip install -e '.[speech]'",
        ) from error
    return library


def length(path: Path, place: str) -> int:
    """Samples that :func:`read_samples` will give, from the file's header.

    Args:
        place: the utterance, for messages.

    Raises:
        InputError: there is no such file, it is no audio file, it is cut short, or holds no sample.
    """
    if not path.is_file():
        raise InputError(place, f"there is no audio file {path}")
    library = soundfile()
    try:
        info = library.info(str(path))
    except library.SoundFileError as error:
        raise _broken(path, place, error) from error
    for stated, found in _SHORT.findall(info.extra_info):
        if int(found) < int(stated) < _UNKNOWN_SIZE:
            raise InputError(
                place, f"{path} is cut short: {found} bytes of samples where its header says {stated}"
            )
    if info.frames <= 0:
        raise InputError(place, f"{path} holds no sample")
    if not LOWEST_RATE <= info.samplerate <= HIGHEST_RATE:
        reason = f"{path} says that it has {info.samplerate:,} samples a second"
        raise InputError(place, reason, "its header is broken: fetch it again")
    return -(-int(info.frames) * RATE // int(info.samplerate))  # rounded up


def read_samples(path: Path, place: str) -> Samples:
    """The samples of a file: channels are averaged, other rates resampled (a polyphase filter).

    Args:
        place: the utterance, for messages.

    Raises:
        InputError: as :func:`length`, or the data are broken, or a sample is NaN or infinite.
    """
    expected = length(path, place)
    library = soundfile()
    try:
        frames_NC, rate = library.read(str(path), dtype="float32", always_2d=True)
    except library.SoundFileError as error:
        raise _broken(path, place, error) from error
    samples: Samples = frames_NC.mean(axis=1, dtype=np.float32)
    if not np.isfinite(samples).all():
        raise InputError(place, f"{path} holds samples that are NaN or infinite")
    if rate != RATE:
        from scipy.signal import resample_poly

        common = math.gcd(RATE, rate)
        samples = resample_poly(samples, RATE // common, rate // common).astype(np.float32)
    if len(samples) != expected:
        raise InputError(place, f"{path} is broken: {len(samples)} samples came out of {expected}")
    return samples


def _broken(path: Path, place: str, error: Exception) -> InputError:
    said = str(error).partition(f"{str(path)!r}: ")[2] or str(error)
    return InputError(place, f"{path} cannot be read as audio ({said.strip().rstrip('.')})", "fetch it again")
