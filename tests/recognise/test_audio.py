"""Audio as samples: every format alike, other rates resampled; what is cut or broken passes for nothing whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from quartet.errors import InputError
from quartet.recognise import audio
from quartet.recognise.audio import RATE, length, read_samples
from tests.recognise.speech_toy import sound, write_sound

PLACE = 'utterance "a-1"'


@pytest.mark.parametrize("suffix", ["wav", "flac"])
def test_samples_come_back_as_they_were(tmp_path: Path, suffix: str) -> None:
    samples = sound(1)
    path = write_sound(tmp_path / f"a.{suffix}", samples)
    found = read_samples(path, PLACE)
    assert found.dtype == np.float32
    assert length(path, PLACE) == len(found) == len(samples)
    assert np.abs(found - samples).max() < 2**-15  # sixteen bits


@pytest.mark.parametrize("rate", [8_000, 22_050, 44_100, 48_000, 11_127])
def test_a_tone_keeps_its_pitch_at_other_rates(tmp_path: Path, rate: int) -> None:
    tone = (0.5 * np.sin(2 * np.pi * 440 * np.arange(rate) / rate)).astype(np.float32)
    path = write_sound(tmp_path / "a.wav", tone, rate)
    found = read_samples(path, PLACE)
    assert length(path, PLACE) == len(found) == RATE
    assert int(np.abs(np.fft.rfft(found)).argmax()) == 440  # one second: a bin a hertz
    assert np.abs(found[RATE // 4 : -RATE // 4]).max() == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(
    ("rate", "frames", "samples"), [(44_100, 100, 37), (22_050, 1_001, 727), (48_000, 3, 1)]
)
def test_a_part_of_a_sample_is_one_more(tmp_path: Path, rate: int, frames: int, samples: int) -> None:
    """36.3, 726.3 and 1 samples at 16 kHz."""
    path = write_sound(tmp_path / "a.wav", np.zeros(frames, dtype=np.float32), rate)
    assert length(path, PLACE) == len(read_samples(path, PLACE)) == samples


def test_channels_are_averaged(tmp_path: Path) -> None:
    left, right = sound(1), sound(2)
    path = write_sound(tmp_path / "a.flac", np.stack([left, right], axis=1))
    assert np.abs(read_samples(path, PLACE) - (left + right) / 2).max() < 2**-15


def test_missing_and_empty_audio_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r'utterance "a-1": there is no audio file .*a\.wav'):
        length(tmp_path / "a.wav", PLACE)
    path = write_sound(tmp_path / "a.wav", sound(1)[:0])
    with pytest.raises(InputError, match=r'utterance "a-1": .*a\.wav holds no sample'):
        length(path, PLACE)


@pytest.mark.parametrize("suffix", ["wav", "flac"])
@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.99])
def test_a_file_that_was_cut_is_refused(tmp_path: Path, suffix: str, share: float) -> None:
    path = write_sound(tmp_path / f"a.{suffix}", sound(1))
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(InputError, match=r'^utterance "a-1": .*(cut short|cannot be read as audio)'):
        read_samples(path, PLACE)


def test_other_files_and_odd_samples_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_text("no audio at all\n" * 50)
    with pytest.raises(InputError, match="cannot be read as audio"):
        length(path, PLACE)
    for value in (np.nan, np.inf):
        samples = sound(1)
        samples[5] = value
        soundfile.write(path, samples, RATE, subtype="FLOAT")
        with pytest.raises(InputError, match="NaN or infinite"):
            read_samples(path, PLACE)


def test_a_size_that_was_never_filled_in_is_no_cut(tmp_path: Path) -> None:
    """Programs that write WAV into a pipe cannot go back to its header."""
    path = write_sound(tmp_path / "a.wav", sound(1))
    content = bytearray(path.read_bytes())
    at = content.index(b"data") + 4
    content[at : at + 4] = content[4:8] = b"\xff" * 4
    path.write_bytes(content)
    assert len(read_samples(path, PLACE)) == len(sound(1))


def test_without_the_library_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_sound(tmp_path / "a.wav", sound(1))
    monkeypatch.setitem(__import__("sys").modules, "soundfile", None)
    with pytest.raises(InputError, match=r"pip install -e '\.\[speech\]'"):
        audio.length(path, PLACE)
