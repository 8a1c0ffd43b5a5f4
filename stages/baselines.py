"""baselines: what the models are compared with, none of which trains one of them."""

from __future__ import annotations

import numpy as np

from pipeline.evaluation import StageEvaluation, evaluation
from pipeline.judged_lists import judged_lists
from pipeline.layout import TOKENIZER, pairs
from pipeline.run import main
from pipeline.task_sets import published_sets, sets_of
from quartet.results import EvaluatedSystem
from quartet.statistics.intervals import Floats
from quartet.tasks.baselines import (
    classification_baselines,
    first_pass_and_oracle,
    glue_baselines,
    nli_baselines,
    race_baselines,
    squad_baselines,
    unigram,
)
from quartet.tasks.glue.data import glue_set
from quartet.tasks.kinds import KINDS
from quartet.tasks.nli.metrics import nli_sets
from quartet.tasks.questions import race_sets, squad_sets
from quartet.tasks.sts import evaluation as sts
from quartet.tasks.word_vectors import train_word2vec
from quartet.tasks.wordsim import evaluation as wordsim
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer


def baselines() -> None:
    """Write the rows of every baseline of every table."""
    with evaluation("baselines", outcomes=True) as run:
        params, layout = run.params, run.layout
        frequencies(run)
        for name in params.nbest:
            first_pass_and_oracle(run, name, judged_lists(params, layout, name), params.rerank.lengths)
        word2vec(run)
        sets = sets_of(KINDS["classification"], params, layout)
        classification_baselines(run, sets, params.finetune.folds)
        for dataset, form, splits in published_sets(KINDS["glue"], params, layout):
            place = f"params.yaml: tasks.{dataset}.files"
            glue_baselines(run, dataset, glue_set(form, splits, params.glue.limit, place))
        if pairs_of_premises := dict(sets_of(KINDS["nli"], params, layout)):
            nli_baselines(run, nli_sets(run, pairs_of_premises, params.nli))
        spans = squad_sets(run, published_sets(KINDS["squad"], params, layout), params.squad)
        squad_baselines(run, spans, params.squad.max_answer)
        race_baselines(run, race_sets(run, published_sets(KINDS["race"], params, layout), params.race))
        run.say(f"{len(run.rows)} rows of baselines")


def frequencies(run: StageEvaluation) -> None:
    """Add the entropy of the tokens' own frequencies, of every encoding of a corpus."""
    encodings = pairs(run.params).values()
    for corpus, tokenizer in encodings:
        folder = run.layout.encoded(corpus, tokenizer)
        reading = "" if len(encodings) == 1 else tokenizer
        valid, test = (EncodedCorpus.open(folder, split) for split in ("valid", "test"))
        unigram(run, corpus, reading, valid, test, run.params.perplexity.tokens_per_document)


def word2vec(run: StageEvaluation) -> None:
    """Add Word2Vec, trained on the very tokens of the models, on word similarity and on every set of STS."""
    params, layout, config = run.params, run.layout, run.params.word2vec
    words = list(sets_of(KINDS["word-similarity"], params, layout))
    sets = sts.judged_sets(
        sets_of(KINDS["documents-similarity"], params, layout), published_sets(KINDS["sts"], params, layout)
    )
    texts = sts.texts_of(sets)
    encodings = pairs(params).values()
    for corpus, name in encodings if words or sets else ():
        tokenizer = TextTokenizer.load(layout.tokenizer(name) / TOKENIZER)
        train = EncodedCorpus.open(layout.encoded(corpus, name), "train")
        sentences = [train.sentence(index) for index in range(len(train))]
        table = train_word2vec(sentences, tokenizer.vocab_size, config, run.seed)
        reading = "" if len(encodings) == 1 else f"{corpus}-{name}"
        scale = f"{config.dimension} dimensions, {config.epochs} epochs, {corpus} ({len(train.ids) / 1e6:.2f} M tokens)"
        system = EvaluatedSystem("word2vec", "cpu", scale, reading=reading)
        wordsim.evaluate(run, system, words, tokenizer.encode, table, tokenizer.unk_id)
        sts.judge(run, system, sets, texts, mean_vectors(tokenizer, table, texts))


def mean_vectors(tokenizer: TextTokenizer, table: Floats, texts: list[str]) -> Floats:
    """(texts, d): the mean of the rows of each text's tokens; zeros for a text without any."""
    vectors = np.zeros((len(texts), table.shape[1]))
    for row, ids in enumerate(tokenizer.encode_batch(texts)):
        if ids:
            vectors[row] = table[ids].mean(axis=0)
    return vectors


if __name__ == "__main__":
    main(baselines)
