"""Trains a BERT or a GPT-2 with the Trainer of transformers. A script of its own: it imports nothing of Quartet.

It answers each line of JSON on its input with one on its output, see :mod:`benchmarks.peers.worker`.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from typing import Any

import torch
import transformers as library
from torch.utils.data import Dataset


class Sentences(Dataset[dict[str, list[int]]]):
    """Tokenised sentences, made before any training."""

    def __init__(self, encoded: Any) -> None:
        self.rows = [
            {name: encoded[name][row] for name in ("input_ids", "attention_mask", "special_tokens_mask")}
            for row in range(len(encoded["input_ids"]))
        ]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, number: int) -> dict[str, list[int]]:
        return self.rows[number]


class Peer:
    """What stays from one question to the next: settings, sentences, tokenizer."""

    def __init__(self, start: dict[str, Any]) -> None:
        torch.set_num_threads(start["threads"])
        library.logging.set_verbosity_error()
        self.start = start
        self.tokenizer = library.AutoTokenizer.from_pretrained(  # nosec B615  # a folder
            start["bert"], local_files_only=True, trust_remote_code=False
        )
        self.sentences = Sentences(
            self.tokenizer(
                start["texts"],
                truncation=True,
                max_length=start["max_length"],
                return_special_tokens_mask=True,
            )
        )

    @property
    def tokens(self) -> int:
        return sum(len(row["input_ids"]) for row in self.sentences.rows)

    def model(self, task: str) -> Any:
        """Fresh weights: the BERT's from its folder, a GPT-2's by chance."""
        start = self.start
        if task == "MLM":
            return library.AutoModelForMaskedLM.from_pretrained(  # nosec B615  # a folder
                start["bert"],
                local_files_only=True,
                trust_remote_code=False,
                hidden_dropout_prob=start["dropout"],
                attention_probs_dropout_prob=0.0,
            )
        shape = start["shape"]
        settings = library.GPT2Config(
            vocab_size=shape["vocabulary"],
            n_positions=start["max_length"],
            n_embd=shape["dim"],
            n_layer=shape["layers"],
            n_head=shape["heads"],
            n_inner=shape["inner"],
            resid_pdrop=start["dropout"],
            embd_pdrop=start["dropout"],
            attn_pdrop=0.0,
            bos_token_id=self.tokenizer.cls_token_id,
            eos_token_id=self.tokenizer.sep_token_id,
        )
        return library.GPT2LMHeadModel(settings)

    def train(self, task: str, precision: str, grouped: bool) -> float:
        """Seconds of one epoch, as the Trainer itself counts them."""
        start = self.start
        arguments: dict[str, Any] = {"group_by_length": grouped}
        if not hasattr(library.TrainingArguments, "group_by_length"):  # transformers 5
            arguments = {"train_sampling_strategy": "group_by_length" if grouped else "random"}
        trainer = library.Trainer(
            model=self.model(task),
            args=library.TrainingArguments(
                output_dir=start["output"],
                per_device_train_batch_size=start["batch_size"],
                num_train_epochs=1,
                learning_rate=1e-4,
                weight_decay=0.01,
                max_grad_norm=1.0,
                bf16=precision == "bf16",
                use_cpu=start["device"] == "cpu",
                dataloader_pin_memory=start["device"] != "cpu",
                save_strategy="no",
                logging_strategy="no",
                report_to=[],
                disable_tqdm=True,
                **arguments,
            ),
            train_dataset=self.sentences,
            data_collator=library.DataCollatorForLanguageModeling(self.tokenizer, mlm=task == "MLM"),
        )
        seconds = float(trainer.train().metrics["train_runtime"])
        assert torch.get_num_threads() == start["threads"], "it had other threads than we"
        return seconds

    def loss(self, ids: list[Any], real: list[Any], labels: list[Any]) -> float:
        """The mean loss of one batch as it is given, without dropout."""
        model = self.model("MLM").eval()
        with torch.inference_mode():
            output = model(
                input_ids=torch.tensor(ids),
                attention_mask=torch.tensor(real),
                labels=torch.tensor(labels),
            )
        return float(output.loss)


def main() -> None:
    """Answer until the input ends."""
    answers, sys.stdout = sys.stdout, sys.stderr  # what the libraries print is no answer
    peer: Peer | None = None
    for line in sys.stdin:
        asked = json.loads(line)
        if "start" in asked:
            peer = Peer(asked["start"])
            versions = {name: version(name) for name in ("accelerate", "torch", "transformers")}
            answer: dict[str, Any] = {"versions": versions, "tokens": peer.tokens}
        else:
            assert peer is not None, "nothing was started"
            if "train" in asked:
                answer = {"seconds": peer.train(**asked["train"])}
            else:
                answer = {"loss": peer.loss(**asked["loss"])}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
