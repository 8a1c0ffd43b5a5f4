"""What the short words of the report mean."""

from __future__ import annotations

#: Explained where a chapter first uses them, and in the glossary.
ABBREVIATIONS = {
    "BLEU": "bilingual evaluation understudy: agreement of a translation with a reference, 0 to 100, higher is better",
    "BLiMP": "Benchmark of Linguistic Minimal Pairs: which of two sentences is grammatical",
    "CER": "character error rate: as the word error rate, of characters, spaces too",
    "CLM": "causal language modelling: each token is predicted from those before it",
    "EM": "exact match: the share of answers that are the reference's words, in percent",
    "F1": "the harmonic mean of precision and recall",
    "GLUE": "General Language Understanding Evaluation: nine sets of sentence tasks",
    "LAE": "language autoencoding: each token is predicted from all others, all of them in one pass",
    "MLM": "masked language modelling: a hidden token is predicted from all others, one pass a token",
    "MNLI": "Multi-Genre Natural Language Inference",
    "NLI": "natural language inference: does one sentence follow from another",
    "NLTK": "the Natural Language Toolkit, a library",
    "PPL": "perplexity: e to the mean loss of a token, lower is better",
    "pPPL": "pseudo-perplexity: the same of pseudo-probabilities, which see both sides; no perplexity compares with it",
    "QNLI": "question-answering inference: does a sentence answer a question",
    "QQP": "Quora Question Pairs: do two questions mean the same",
    "RACE": "reading comprehension from examinations: multiple choice on passages",
    "RTE": "recognising textual entailment",
    "SICK": "Sentences Involving Compositional Knowledge: pairs with scores of similarity",
    "SNLI": "Stanford Natural Language Inference",
    "SQuAD": "Stanford Question Answering Dataset: find the answer in a paragraph",
    "STS": "semantic textual similarity: how alike two texts are in meaning",
    "T-TA": "Transformer-based Text Autoencoder, the model of Shin et al. (2020)",
    "WER": "word error rate: wrong, missing and surplus words for each hundred words of the reference, lower is better",
}
#: Explained in the glossary alone.
TERMS = {
    "[low, high]": "a 95 % interval: what it is over is said below each table",
    "bert-, segabert": "masked models that read spans of documents, without and with sentence and paragraph positions",
    "bilm": "the T-TA paper's masked model (bidirectional); `-intact` reads its input without masks",
    "dev, valid, test": "the splits of a set: choices are made on the first two, figures are of the last unless said",
    "first pass": "the recogniser's or the translator's own best hypothesis",
    "M": "million",
    "N-best list": "the hypotheses of a recogniser or translator for one utterance or sentence, the best first",
    "n": "the number of items behind a figure",
    "nats": "units of information to the base e: a loss of 0.69 nats is one bit",
    "oracle": "the best hypothesis of each list: no reranking can do better",
    "segments": "the sentence and the paragraph that a token stands in, as positions that a model sees",
    "transformer-xl, segatron-xl": "causal models that read whole documents with a memory, without and with segments; "
    "`-released` has the released code's offsets, which tell of later tokens",
    "tta": "T-TA: predicts every token from all others in one pass; `-segments` also sees segments",
    "unilm": "the T-TA paper's left-to-right model (unidirectional)",
    "weight, λ": "the language model's share in a reranking score: (1 - λ) × first pass + λ × language model",
    "WordPiece": "a tokenizer that cuts rare words into pieces",
}
