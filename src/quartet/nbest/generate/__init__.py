"""N-best lists made here: a translator trained on parallel text, and its beam search.

One file a step: `config` (what params.yaml says), `parallel` (two files of text), `vocabulary` (their common pieces),
`pairs` (batches), `translation` (the network, as a folder), `training`, `beam` (texts -> hypotheses), `writing` (the
JSON of the lists). The network is a Marian of `transformers`, which is the optional extra ``hf``.
"""
