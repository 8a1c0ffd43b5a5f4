"""A Whisper of `transformers`: any model of that kind, from a folder or the hub."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from quartet.config.recognise import RecogniserConfig
from quartet.errors import InputError
from quartet.hugging_face import (
    files_hash,
    local_folder,
    model_files,
    model_type,
    open_model,
    open_tokenizer,
    transformers,
)
from quartet.recognise.audio import Samples
from quartet.recognise.hypotheses import Transcript
from quartet.recognise.whisper import (
    FEATURES,
    MULTILINGUAL_IDS,
    NOTHING,
    FeatureExtractor,
    choice,
    plain_text,
)
from quartet.scoring.device import check_device

#: What a model of the hub has beside weights, configuration and tokenizer.
OTHERS = ("generation_config.json", FEATURES)


class TransformersWhisper:
    """A :class:`~quartet.recognise.speech.Recogniser`."""

    def __init__(self, config: RecogniserConfig, device: str) -> None:
        """Open a model.

        Raises:
            InputError: transformers is not installed, the model cannot be had or is no Whisper, the language is
                missing, ``max_tokens`` is more than it has places for, or the device cannot be used.
        """
        folder = local_folder(config.source, others=OTHERS)
        if model_type(folder) != "whisper":
            raise InputError(folder, f"a {model_type(folder)} is no Whisper", "give a Whisper's folder")
        check_device(device)
        others = [folder / name for name in OTHERS if (folder / name).is_file()]
        self.content = files_hash(sorted([*model_files(folder), *others]))
        model = open_model(folder, "WhisperForConditionalGeneration")
        own, sizes = model.generation_config, model.config
        self._tokenizer = open_tokenizer(folder).backend_tokenizer
        known = getattr(own, "is_multilingual", None)
        self._choice = choice(
            folder,
            self._tokenizer,
            ids=sizes.vocab_size,
            multilingual=sizes.vocab_size >= MULTILINGUAL_IDS if known is None else known,
            language=config.language,
            suppressed=own.suppress_tokens or (),
            suppressed_first=own.begin_suppress_tokens or (),
            words_only=config.beam.words_only,
        )
        room = sizes.max_target_positions - len(self._choice.prompt)
        if config.beam.max_tokens > room:
            raise InputError(
                folder, f"has places for {room} tokens", f"set beam.max_tokens to {room} at most"
            )
        self._features = FeatureExtractor(folder, sizes.num_mel_bins)
        if self._features.frames != 2 * sizes.max_source_positions:
            raise InputError(
                folder / FEATURES,
                f"makes {self._features.frames} frames and the model reads {2 * sizes.max_source_positions}",
                "give files that belong together",
            )
        self.seconds = self._features.seconds
        self._beam = config.beam
        self._restrictions = transformers().LogitsProcessorList(
            [transformers().SuppressTokensLogitsProcessor(self._choice.suppressed, device=device)]
        )
        if self._choice.suppressed_first:
            self._restrictions.append(
                transformers().SuppressTokensAtBeginLogitsProcessor(
                    self._choice.suppressed_first, len(self._choice.prompt), device=device
                )
            )
        # The library would mix the model's own settings into those of a search.
        model.generation_config = transformers().GenerationConfig()
        self._model = model.to(device, getattr(torch, config.precision))

    @torch.inference_mode()
    def recognise(self, samples: Sequence[Samples]) -> list[list[Transcript]]:
        """See :class:`~quartet.recognise.speech.Recogniser`."""
        outcome = self._generate(samples)
        lists: list[list[Transcript]] = [[] for _ in samples]
        lengths = (outcome.beam_indices >= 0).sum(dim=1).tolist()
        scores = outcome.sequences_scores.tolist()
        seen: set[tuple[int, tuple[int, ...]]] = set()
        for row, (ids, count, score) in enumerate(
            zip(outcome.sequences.tolist(), lengths, scores, strict=True)
        ):
            owner, tokens = row // self._beam.size, tuple(ids[len(self._choice.prompt) :][:count])
            # A list that the vocabulary cannot fill holds places of nothing, and the same tokens more than once.
            if score <= NOTHING or (owner, tokens) in seen:
                continue
            seen.add((owner, tokens))
            ended = tokens[-1:] == (self._choice.end,)
            text = plain_text(self._tokenizer, tokens[:-1] if ended else tokens)
            lists[owner].append(Transcript(text, score, tokens, ended))
        return lists

    def _generate(self, samples: Sequence[Samples]) -> Any:
        """The library's plain beam search: Whisper's own way of calling it tries again at other temperatures."""
        library = transformers()
        prompt, end = self._choice.prompt, self._choice.end
        features_BMF = torch.from_numpy(self._features(samples)).to(self._model.device, self._model.dtype)
        prompts_BP = torch.tensor([prompt] * len(samples), device=self._model.device)
        return library.GenerationMixin.generate(
            self._model,
            encoder_outputs=self._model.get_encoder()(features_BMF),
            decoder_input_ids=prompts_BP,
            generation_config=library.GenerationConfig(
                num_beams=self._beam.size,
                num_return_sequences=self._beam.size,
                do_sample=False,
                length_penalty=0.0,
                early_stopping=False,
                max_new_tokens=self._beam.max_tokens,
                pad_token_id=end,
                bos_token_id=end,
                eos_token_id=end,
                decoder_start_token_id=prompt[0],
                renormalize_logits=True,
                output_scores=True,
                return_dict_in_generate=True,
            ),
            logits_processor=self._restrictions,
        )
