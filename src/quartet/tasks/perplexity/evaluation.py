"""(Pseudo-)perplexity of a trained model on the test documents, every model over the same tokens."""

from __future__ import annotations

from quartet.config.evaluation import PerplexitySettings
from quartet.config.model import ModelEntry
from quartet.results import EvaluatedSystem
from quartet.scoring.language_model import LanguageModel
from quartet.statistics.perplexity import UnknownWords, gain, perplexity_measures, unigram_logprobs
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.perplexity.held_out import held_out_sentences
from quartet.tasks.perplexity.losses import DocumentLosses, nats_of
from quartet.text.encoded_corpus import EncodedCorpus

#: What is kept of a reading at another input length.
SHORTER = ("loss", "ppl", "ppl-word", "oov")


def evaluate(
    run: Evaluation,
    model: LanguageModel,
    entry: ModelEntry,
    corpus: EncodedCorpus,
    unknown: UnknownWords,
    settings: PerplexitySettings,
) -> list[DocumentLosses]:
    """Add the rows of a model, as it was trained and at other input lengths, and return its losses by document.

    Args:
        entry: what the model reads.
        corpus: the test documents.
        unknown: the words of their sentences that the model does not know.
    """
    limit = settings.tokens_per_document
    carry_memory = settings.carry_memory and entry.reads == "streams"
    texts = held_out_sentences(corpus, limit)
    system = EvaluatedSystem(model.name, model.device, model.scale, model.seed)
    losses: list[DocumentLosses] = []
    for split, reader in {"test": model, **at_lengths(model, settings.input_lengths)}.items():
        with run.bar(f"{model.name}, {split}: tokens scored", sum(len(ids) for ids in texts.ids)) as shown:
            documents = reader.corpus_logprobs(corpus, limit, shown.set, carry_memory)
        logprobs = texts.split(documents)
        measures = perplexity_measures(
            logprobs,
            texts.words,
            reader.objective.pseudo,
            run.samples,
            model.seed,
            texts.documents,
            unknown=unknown,
        )
        losses.append(
            DocumentLosses(
                seed=model.seed,
                split=split,
                dataset=entry.corpus,
                tokenizer=entry.tokenizer,
                pseudo=model.pseudo,
                nats=nats_of(documents),
                tokens=tuple(map(len, documents)),
            )
        )
        if split == "test":
            unigram = unigram_logprobs(texts.ids)
            measures["gain"] = gain(logprobs, unigram, run.samples, model.seed, texts.documents)
            run.add(measures, system, entry.corpus, split, "perplexity")
        else:
            kept = {metric: measures[metric] for metric in SHORTER if metric in measures}
            run.add(kept, system, entry.corpus, split, "input-length")
        run.say(
            f"{model.name}, {split}: loss {measures['loss'].value:.3f} nats per token on {measures['loss'].n:,} "
            f"tokens of {len(texts.ids):,} sentences of {len(corpus.doc_ids)} test documents"
        )
    return losses


def at_lengths(model: LanguageModel, lengths: tuple[int, ...]) -> dict[str, LanguageModel]:
    """A model with memory, reading and remembering as many tokens as each of the lengths (Segatron paper, Figure 3).

    One that was trained without any memory has none at any length.
    """
    config = model.card.model
    if config.architecture != "transformer-xl":
        return {}
    return {
        f"{tokens}-tokens": model.at(tokens, tokens if config.recurrence.memory else 0) for tokens in lengths
    }
