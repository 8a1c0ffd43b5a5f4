"""baselines: what the models are held against, none of which trains one of them."""

from __future__ import annotations

import numpy as np

from pipeline.held_out import held_out_sentences
from pipeline.judged_lists import SPLITS, load_judged_split, rows_of_choice
from pipeline.layout import TOKENIZER, Layout, pairs
from pipeline.nli_rows import baseline_rows as nli_baselines
from pipeline.params import Params
from pipeline.questions import race_baselines, squad_baselines
from pipeline.run import main
from pipeline.settings import load
from pipeline.similarity import judged_sets, similarity_rows, texts_of
from pipeline.task_sets import sets_of
from pipeline.tracking.progress import say
from pipeline.tracking.stage import stage_run
from quartet.nbest.rerank import Candidates
from quartet.results import EvaluatedSystem, Measure, Result, rows_of, write_results
from quartet.statistics.intervals import Floats
from quartet.statistics.perplexity import (
    UnknownWords,
    perplexity_measures,
    unigram_entropy,
    unigram_logprobs,
)
from quartet.tasks.classification.data import LabelledText
from quartet.tasks.classification.metrics import BASELINES, classification_measures, cross_validate
from quartet.tasks.glue import metrics as glue_metrics
from quartet.tasks.glue.data import TASKS, GlueSet, glue_set
from quartet.tasks.word_vectors import train_word2vec
from quartet.tasks.wordsim.data import WordPairs
from quartet.tasks.wordsim.metrics import word_similarity
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import UNKNOWN_ID, TextTokenizer


def baselines() -> None:
    """Write the rows of every baseline of every table."""
    params = load()
    layout = Layout(params.experiment)
    with stage_run(params, "baselines"):
        rows = [
            *unigram(params, layout),
            *first_pass_and_oracle(params, layout),
            *word2vec(params, layout),
            *classifiers(params, layout),
            *glue(params, layout),
            *nli_baselines(params, layout),
            *squad_baselines(params, layout),
            *race_baselines(params, layout),
        ]
        write_results(layout.rows("baselines"), rows)
        say(f"{len(rows)} rows of baselines")


def rows(
    params: Params,
    measures: dict[str, Measure],
    table: str,
    system: str,
    dataset: str,
    split: str,
    scale: str,
    reading: str = "",
) -> list[Result]:
    """Rows of a system that no seed of ours trained."""
    return rows_of(
        measures,
        experiment=params.experiment,
        table=table,
        model=system,
        reading=reading,
        dataset=dataset,
        split=split,
        device="cpu",
        scale=scale,
    )


def unigram(params: Params, layout: Layout) -> list[Result]:
    """The entropy of the tokens' own frequencies, the least loss without context: of validation and of test tokens."""
    found: list[Result] = []
    for corpus, tokenizer in pairs(params).values():
        encoded = EncodedCorpus.open(layout.encoded(corpus, tokenizer), "test")
        texts = held_out_sentences(encoded, params.perplexity.tokens_per_document)
        measures = perplexity_measures(
            unigram_logprobs(texts.ids),
            texts.words,
            False,
            params.bootstrap,
            params.seeds[0],
            texts.documents,
            unknown=UnknownWords([int((ids == UNKNOWN_ID).sum()) for ids in texts.ids]),
        )
        kept = {"entropy": measures["loss"], "ppl": measures["ppl"], "oov": measures["oov"]}
        reading = "" if len(pairs(params)) == 1 else tokenizer
        valid = EncodedCorpus.open(layout.encoded(corpus, tokenizer), "valid")
        entropy = {"loss": Measure(unigram_entropy([np.asarray(valid.ids)]), len(valid.ids))}
        scale = "frequencies of the validation tokens themselves"
        found += rows(params, entropy, "training", "unigram", corpus, "valid", scale, reading)
        scale = "frequencies of the test tokens themselves"
        found += rows(params, kept, "perplexity", "unigram", corpus, "test", scale, reading)
    return found


def first_pass_and_oracle(params: Params, layout: Layout) -> list[Result]:
    """The recogniser's own choice, and the best that any reranking could make."""
    found: list[Result] = []
    for name in params.nbest:
        for split in SPLITS:
            each = load_judged_split(params, layout, name, split)
            candidates = Candidates(
                each.lists, [np.zeros(len(one.hypotheses)) for one in each.lists], each.table
            )
            for system, chosen in (
                ("first-pass", candidates.first_pass_selection),
                ("oracle", candidates.oracle),
            ):
                evaluated = EvaluatedSystem(system, "cpu", f"{len(each.lists)} lists")
                found += rows_of_choice(params, name, split, evaluated, chosen, each.lists)
    return found


def word2vec(params: Params, layout: Layout) -> list[Result]:
    """Word2Vec trained on the very tokens of the models, on word similarity and on every set of STS."""
    found: list[Result] = []
    config = params.word2vec
    seed = params.seeds[0]
    words = list(sets_of("word-similarity", params, layout))
    sets = judged_sets(params, layout)
    texts = texts_of(sets)
    for corpus, name in pairs(params).values() if words or sets else []:
        tokenizer = TextTokenizer.load(layout.tokenizer(name) / TOKENIZER)
        train = EncodedCorpus.open(layout.encoded(corpus, name), "train")
        sentences = [train.sentence(index) for index in range(len(train))]
        table = train_word2vec(sentences, tokenizer.vocab_size, config, seed)
        reading = "" if len(pairs(params)) == 1 else f"{corpus}-{name}"
        scale = f"{config.dimension} dimensions, {config.epochs} epochs, {corpus} ({len(train.ids) / 1e6:.2f} M tokens)"
        for dataset, word_pairs in words:
            assert isinstance(word_pairs, WordPairs)
            measures = word_similarity(
                word_pairs, tokenizer.encode, table, tokenizer.unk_id, params.bootstrap, seed
            )
            found += rows(params, measures, "wordsim", "word2vec", dataset, "test", scale, reading)
        vectors = mean_vectors(tokenizer, table, texts)
        system = EvaluatedSystem("word2vec", "cpu", scale, reading=reading)
        found += similarity_rows(params, sets, texts, vectors, system)
    return found


def mean_vectors(tokenizer: TextTokenizer, table: Floats, texts: list[str]) -> Floats:
    """(texts, d): the mean of the rows of each text's tokens; zeros for a text without any."""
    vectors = np.zeros((len(texts), table.shape[1]))
    for row, ids in enumerate(tokenizer.encode_batch(texts)):
        if ids:
            vectors[row] = table[ids].mean(axis=0)
    return vectors


def classifiers(params: Params, layout: Layout) -> list[Result]:
    """The majority class and a bag of words, on the folds that the models get."""
    found: list[Result] = []
    for dataset, examples in sets_of("classification", params, layout):
        assert isinstance(examples, list)
        gold = [example.label for example in examples]
        for system, fit_predict in BASELINES.items():
            labelled: list[LabelledText] = examples
            predicted = cross_validate(labelled, fit_predict, params.finetune.folds, params.seeds[0])
            measures = classification_measures(gold, predicted, max(gold), params.bootstrap, params.seeds[0])
            found += rows(
                params, measures, "classification", system, dataset, "cross-validation", f"{len(gold)} texts"
            )
    return found


def glue(params: Params, layout: Layout) -> list[Result]:
    """The majority label and a bag of words, trained on what the models are fine-tuned on."""
    found: list[Result] = []
    for dataset, splits in sets_of("glue", params, layout):
        form = params.tasks[dataset].format
        assert form is not None, "sets_of found the reader by it"
        examples = glue_set(form, splits, params.glue.limit, f"params.yaml: tasks.{dataset}.files")
        found += glue_rows(params, dataset, examples)
    return found


def glue_rows(params: Params, dataset: str, examples: GlueSet) -> list[Result]:
    """The rows of both on every labelled split of a set."""
    task = TASKS[examples.format]
    found: list[Result] = []
    for system, fit_predict in glue_metrics.BASELINES.items():
        for split, part in examples.others.items():
            if part[0].labelled:
                gold, predicted = glue_metrics.gold_of(task, part), fit_predict(task, examples.train, part)
                measures = glue_metrics.glue_measures(
                    task, gold, predicted, params.bootstrap, params.seeds[0]
                )
                found += rows(params, measures, "glue", system, dataset, split, examples.training)
    return found


if __name__ == "__main__":
    main(baselines)
