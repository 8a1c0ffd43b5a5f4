"""A Whisper that was converted for CTranslate2, which is faster, also with weights in eight bits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from quartet.config.recognise import RecogniserConfig
from quartet.errors import InputError
from quartet.files import read_json
from quartet.hugging_face import CONFIG, files_hash, local_files
from quartet.nbest.formats.text_file import read_text
from quartet.recognise.audio import Samples
from quartet.recognise.hypotheses import Transcript
from quartet.recognise.whisper import FEATURES, NOTHING, FeatureExtractor, choice, plain_text

WEIGHTS, TOKENIZER = "model.bin", "tokenizer.json"
VOCABULARIES = ("vocabulary.json", "vocabulary.txt")
FILES = (WEIGHTS, CONFIG, TOKENIZER, *VOCABULARIES, FEATURES)


class CTranslate2Whisper:
    """A :class:`~quartet.recognise.speech.Recogniser`."""

    def __init__(self, config: RecogniserConfig, device: str, threads: int = 0) -> None:
        """Open a model.

        Raises:
            InputError: ctranslate2 or transformers is not installed, the model cannot be had or is no Whisper, the
                language is missing, or the device cannot compute in the precision that is asked for.
        """
        try:
            import ctranslate2
        except ImportError as error:
            raise InputError(
                "ctranslate2",
                f"the engine ctranslate2 needs it ({error})",
                "in Quartet's folder: pip install -e '.[speech]'",
            ) from error
        folder = local_files(config.source, FILES)
        present = [folder / name for name in FILES if (folder / name).is_file()]
        for name in (WEIGHTS, CONFIG, TOKENIZER):
            if folder / name not in present:
                raise InputError(
                    folder,
                    f"no Whisper for CTranslate2: it has no {name}",
                    "convert one with ct2-transformers-converter --copy_files tokenizer.json preprocessor_config.json",
                )
        self.content = files_hash(sorted(present))
        from tokenizers import Tokenizer

        try:
            self._model = ctranslate2.models.Whisper(
                str(folder), device=device, compute_type=config.precision, intra_threads=threads
            )
            self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        except Exception as error:  # broken files, other models, a precision that the device has not
            raise InputError(folder, f"cannot be opened: {error}", "check its files and precision") from error
        own = read_json(folder / CONFIG)
        self._choice = choice(
            folder,
            self._tokenizer,
            ids=_ids(folder),
            multilingual=self._model.is_multilingual,
            language=config.language,
            suppressed=own.get("suppress_ids") or (),
            suppressed_first=own.get("suppress_ids_begin") or (),
            words_only=config.beam.words_only,
        )
        self._features = FeatureExtractor(folder, self._model.n_mels)
        self.seconds = self._features.seconds
        self._beam = config.beam
        self._folder = folder
        self._view: Any = ctranslate2.StorageView.from_array

    def recognise(self, samples: Sequence[Samples]) -> list[list[Transcript]]:
        """See :class:`~quartet.recognise.speech.Recogniser`."""
        most = self._beam.max_tokens
        try:
            results = self._model.generate(
                self._view(self._features(samples)),
                [list(self._choice.prompt)] * len(samples),
                beam_size=self._beam.size,
                num_hypotheses=self._beam.size,
                length_penalty=0.0,
                max_length=2 * most,  # half of it is for new tokens
                suppress_blank=True,  # which are suppress_ids_begin of config.json
                suppress_tokens=list(self._choice.suppressed),
                return_scores=True,
            )
        except (RuntimeError, ValueError) as error:
            raise InputError(
                self._folder, f"CTranslate2 cannot run it: {error}", "check beam.max_tokens"
            ) from error
        return [self._transcripts(result) for result in results]

    def _transcripts(self, result: Any) -> list[Transcript]:
        found: list[Transcript] = []
        for ids, score in zip(result.sequences_ids, result.scores, strict=True):
            if score <= NOTHING:
                continue
            ended = len(ids) < self._beam.max_tokens
            end = (self._choice.end,) if ended else ()  # the engine leaves it out
            found.append(Transcript(plain_text(self._tokenizer, ids), score, (*ids, *end), ended))
        return found


def _ids(folder: Path) -> int:
    """How many ids a converted model's vocabulary has.

    Raises:
        InputError: the file is absent or broken.
    """
    for name in VOCABULARIES:
        path = folder / name
        if path.is_file():
            if path.suffix == ".txt":
                return len(read_text(path).removesuffix("\n").split("\n"))
            content = read_json(path)
            if not isinstance(content, list):
                raise InputError(path, "a list of tokens was expected")
            return len(content)
    raise InputError(folder, f"has neither {' nor '.join(VOCABULARIES)}", "convert the model again")
