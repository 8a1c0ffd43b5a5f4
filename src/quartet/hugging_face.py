"""Models of Hugging Face: from a reference to a local folder, what that folder holds, and its weights in memory.

A reference is a folder, or a name on the hub with its revision, ``owner/name@revision``. A name alone is refused: what
it stands for changes, and a result could not be made again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from quartet.errors import InputError
from quartet.files import read_json, sha256

CONFIG = "config.json"

#: What a language model predicts: hidden tokens, or the next one.
LanguageModelKind = Literal["masked", "causal"]

#: What tokenizers of masked and causal models are made of, as transformers names the files.
TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "bpe.codes",
    "dict.txt",
    "emoji.json",
    "entity_vocab.json",
    "word_pronunciation.json",
    "word_shape.json",
    "*.spm",
    "spm.model",
    "spiece.model",
    "sentencepiece.model",
    "sentencepiece.bpe.model",
    "tokenizer.model",
)
#: Files of which a tokenizer needs all of one line: without any, transformers makes up an empty vocabulary.
VOCABULARIES = (
    ("tokenizer.json",),
    ("vocab.txt",),
    ("vocab.json", "merges.txt"),
    ("vocab.json", "*.spm"),
    ("spm.model",),
    ("spiece.model",),
    ("sentencepiece.model",),
    ("sentencepiece.bpe.model",),
    ("tokenizer.model",),
)
#: Weights in one file or several with their index; the second form only where there is none of the first.
SAFETENSORS = ("model.safetensors", "model.safetensors.index.json", "model-*-of-*.safetensors")
PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json", "pytorch_model-*-of-*.bin")

#: How names of files end that are no names on the hub.
FILE_ENDINGS = (
    ".arpa",
    ".gz",
    ".bz2",
    ".xz",
    ".bin",
    ".binary",
    ".klm",
    ".lm",
    ".mmap",
    ".onnx",
    ".safetensors",
)
#: Tokens whose numbers a model's settings name.
NAMED_TOKENS = ("bos_token_id", "eos_token_id", "cls_token_id", "sep_token_id", "mask_token_id")
#: Share of tokens, and rows, that a model's table may have beyond its tokenizer's tokens.
SPARE, SPARE_ROWS = 0.1, 128
_HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")


def local_folder(reference: str, weights: bool = True, others: tuple[str, ...] = ()) -> Path:
    """The folder of a reference, downloaded into the hub's own cache where it is not one already.

    Args:
        reference: a folder, or ``owner/name@revision`` (a commit's hash is best: branches move).
        weights: False: the tokenizer's files will do.
        others: files that are wanted beside those of every model.

    Raises:
        InputError: there is no such folder; a name on the hub comes without its revision; the hub cannot be reached or
            has no such model or revision.
    """
    if not weights:
        return local_files(reference, TOKENIZER_FILES)
    folder = local_files(reference, (CONFIG, *TOKENIZER_FILES, *others, *SAFETENSORS))
    if not _matching(folder, SAFETENSORS):
        folder = local_files(reference, (CONFIG, *TOKENIZER_FILES, *others, *PICKLED))
    return folder


def local_files(reference: str, patterns: tuple[str, ...]) -> Path:
    """The folder of a reference, with the files of these names downloaded where it is not one already.

    Raises:
        InputError: as :func:`local_folder`.
    """
    if reference and Path(reference).is_dir():
        return Path(reference)
    name, revision = hub_name(reference)
    return _downloaded(name, revision, patterns)


def hub_name(reference: str) -> tuple[str, str]:
    """The name and the revision in ``owner/name@revision``; the hub is not asked whether it has them.

    Raises:
        InputError: it is no such reference, and so was meant to be a folder that is not there.
    """
    name, _, revision = reference.partition("@")
    if not revision and name.lower().endswith(FILE_ENDINGS):
        raise InputError(reference, "no such file", "check its name and folder")
    if not _HUB_NAME.fullmatch(name):
        raise InputError(
            reference, "no such folder", "give a folder, or owner/name@revision for a model on the hub"
        )
    if not revision:
        raise InputError(
            reference,
            "no such folder, and a name on the hub needs its revision for the result to be reproducible",
            f"write {name}@REVISION, best the hash of a commit",
        )
    return name, revision


def _downloaded(name: str, revision: str, patterns: tuple[str, ...]) -> Path:
    import huggingface_hub
    from huggingface_hub import errors

    place = f"{name}@{revision}"
    try:
        return Path(huggingface_hub.snapshot_download(name, revision=revision, allow_patterns=list(patterns)))
    except errors.RevisionNotFoundError as error:
        raise InputError(
            place, f"the hub's {name} has no revision {revision}", "check its history there"
        ) from error
    except (errors.RepositoryNotFoundError, errors.HFValidationError) as error:
        raise InputError(
            place,
            "the hub has no such model, or none that you may read",
            "check the name, and log in if it is gated",
        ) from error
    except Exception as error:  # those of the hub's HTTP client too, whichever it is in that release
        raise InputError(
            place,
            f"neither a folder, nor in the hub's cache here, nor to be had from the hub ({first_sentence(error)})",
            "check the network, or download it elsewhere and give its folder",
        ) from error


def _matching(folder: Path, patterns: tuple[str, ...]) -> list[Path]:
    return sorted({path for pattern in patterns for path in folder.glob(pattern) if path.is_file()})


def content_hash(folder: Path) -> str:
    """SHA-256 over the names and bytes of a model's weights, configuration and tokenizer; other files do not count.

    Raises:
        InputError: the folder holds no weights or no config.json.
    """
    return files_hash(model_files(folder))


def files_hash(paths: Iterable[Path]) -> str:
    """SHA-256 over the names and bytes of files, in their order."""
    lines = "".join(f"{sha256(path)}  {path.name}\n" for path in paths)
    return hashlib.sha256(lines.encode()).hexdigest()


def model_files(folder: Path) -> list[Path]:
    """A model's weights, configuration and tokenizer, sorted; what else lies in the folder is left out.

    Raises:
        InputError: the folder holds no weights or no config.json.
    """
    weights = _matching(folder, SAFETENSORS) or _matching(folder, PICKLED)
    if not weights or not (folder / CONFIG).is_file():
        raise _no_model(folder)
    return sorted([*_matching(folder, (CONFIG, *TOKENIZER_FILES)), *weights])


def tokenizer_files(folder: Path) -> list[Path]:
    """What a tokenizer is made of, sorted; none where there is nothing of it."""
    return _matching(folder, TOKENIZER_FILES)


def check_folder(folder: Path) -> None:
    """Raise InputError where a folder can hold no model, ours or of Hugging Face; none is opened, nothing imported."""
    if not (folder / CONFIG).is_file():
        raise _no_model(folder)
    config = read_json(folder / CONFIG)
    if not isinstance(config, dict) or "model_type" not in config:
        return  # ours, which has a card of this name
    model_files(folder)
    check_vocabulary(folder)
    if config.get("is_encoder_decoder") is True:
        raise _neither(folder, config)


def _neither(folder: Path, config: Mapping[str, Any]) -> InputError:
    named = config.get("architectures")
    model = " ".join(map(str, named)) if isinstance(named, list) else config.get("model_type")
    return InputError(
        folder,
        f"{model} is neither a causal nor a masked language model",
        "give a model such as GPT-2 or BERT",
    )


def check_vocabulary(folder: Path) -> None:
    """Raise InputError where a folder has no vocabulary of a tokenizer."""
    if not any(all(_matching(folder, (file,)) for file in files) for files in VOCABULARIES):
        raise InputError(
            folder, "has no vocabulary of a tokenizer", "copy tokenizer.json, or what the model has"
        )


def _no_model(folder: Path) -> InputError:
    return InputError(
        folder,
        "not a model of Hugging Face: config.json and model.safetensors (or pytorch_model.bin) are needed",
        "give the folder that save_pretrained wrote",
    )


def transformers() -> Any:
    """The library `transformers`, told to keep its advice to itself.

    Raises:
        InputError: it is not installed.
    """
    try:
        import transformers as library
    except ImportError as error:
        raise InputError(
            "transformers",
            "not installed, and models of Hugging Face need it",
            "in Quartet's folder: pip install -e '.[hf]'",
        ) from error
    library.logging.set_verbosity_error()
    library.logging.disable_progress_bar()
    return library


def model_type(folder: Path) -> str:
    """What config.json calls the architecture, e.g. ``bert``.

    Raises:
        InputError: there is no readable config.json, or it does not say.
    """
    if not (folder / CONFIG).is_file():
        raise _no_model(folder)
    content = read_json(folder / CONFIG)
    found = content.get("model_type") if isinstance(content, dict) else None
    if not isinstance(found, str):
        raise InputError(folder / CONFIG, "says no model_type", "give the folder that save_pretrained wrote")
    return found


def language_model_kind(folder: Path) -> LanguageModelKind:
    """What the model in a folder was trained as, by the architecture that config.json names.

    Raises:
        InputError: config.json cannot be read, or it names neither.
    """
    if not (folder / CONFIG).is_file():
        raise _no_model(folder)
    library = transformers()
    try:
        config = library.AutoConfig.from_pretrained(  # nosec B615  # a folder: nothing is downloaded
            folder, local_files_only=True, trust_remote_code=False
        )
    except Exception as error:  # an architecture that the library does not know, or a broken file
        raise InputError(
            folder / CONFIG, f"cannot be used: {first_sentence(error)}", "check or copy it again"
        ) from error
    named = " ".join(getattr(config, "architectures", None) or [])
    if not getattr(config, "is_encoder_decoder", False):
        causal = type(config) in library.MODEL_FOR_CAUSAL_LM_MAPPING
        if causal and re.search("CausalLM|(?<!With)LMHead", named):  # XLM's …WithLMHeadModel is a masked one
            return "causal"
        if type(config) in library.MODEL_FOR_MASKED_LM_MAPPING:
            return "masked"
        if causal:
            return "causal"
    raise _neither(folder, {"architectures": config.architectures, "model_type": config.model_type})


def open_model(folder: Path, kind: str) -> Any:
    """A model in evaluation mode, on the CPU and in single precision, every weight of it from the folder.

    Nothing is fetched, no code that comes with a model is run, and pickled weights are read as weights alone. Torch's
    random state is left as it was.

    Args:
        kind: a class of transformers, e.g. ``AutoModelForMaskedLM``.

    Raises:
        InputError: the folder holds no such model, its files are broken, or weights are missing (which transformers
            would replace by random ones).
    """
    if not _matching(folder, SAFETENSORS) and not _matching(folder, PICKLED):
        raise _no_model(folder)
    library = transformers()
    import torch

    try:
        with torch.random.fork_rng(devices=[]):
            model, loading = getattr(library, kind).from_pretrained(
                folder,
                local_files_only=True,
                trust_remote_code=False,
                weights_only=True,
                dtype=torch.float32,
                ignore_mismatched_sizes=True,
                output_loading_info=True,
            )
    except Exception as error:  # whatever a broken file of one of many formats may raise
        raise InputError(
            folder, f"cannot be opened as {kind}: {first_sentence(error)}", "check or copy its files again"
        ) from error
    if loading["mismatched_keys"]:
        name = sorted(str(key) for key, *_ in loading["mismatched_keys"])[0]
        raise InputError(
            folder, f"config.json asks for another shape of {name}", "its files must come from one training"
        )
    if loading["missing_keys"]:
        missing = sorted(loading["missing_keys"])
        raise InputError(
            folder,
            f"lacks {len(missing)} of the weights of {type(model).__name__}, among them {missing[0]}",
            "give a checkpoint that was trained as such a model",
        )
    return model.eval()


def open_tokenizer(folder: Path) -> Any:
    """The tokenizer that transformers makes of a folder; no code that comes with it is run.

    Raises:
        InputError: the folder holds none, its files are broken, or it is not the tokenizer of the model beside it.
    """
    check_vocabulary(folder)
    try:
        found = transformers().AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )
    except InputError:
        raise
    except Exception as error:  # whatever a broken file of one of many formats may raise
        raise InputError(
            folder,
            f"its tokenizer cannot be opened: {first_sentence(error)}",
            "check or copy its files again",
        ) from error
    if (folder / CONFIG).is_file():
        _check_belongs(found, read_json(folder / CONFIG), folder)
    return found


def _check_belongs(tokenizer: Any, config: Any, folder: Path) -> None:
    """Raise where a tokenizer has far fewer tokens than its model, or not those that the model's settings name.

    A few rows more than tokens are usual: tables are filled up to round sizes.
    """
    if not isinstance(config, dict):
        return
    size, rows = len(tokenizer), config.get("vocab_size")
    named = [config.get(name) for name in NAMED_TOKENS]
    lacking = [number for number in named if isinstance(number, int) and number >= size]
    if isinstance(rows, int) and (rows > size * (1 + SPARE) + SPARE_ROWS or (lacking and rows > size)):
        reason = f"its tokenizer has {size} tokens and its model {rows}: they do not belong together"
        raise InputError(folder, reason, "copy both from one place")


def first_sentence(error: Exception) -> str:
    """What an error of another library says, short of its advice."""
    return re.split(r"(?<=[.!?])\s|\n", str(error).strip())[0].rstrip(".") or type(error).__name__
