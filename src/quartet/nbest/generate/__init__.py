"""N-best lists made here: of translations, by a translator trained on parallel text, and of speech, by a Whisper.

One file a step: `config` (what params.yaml says), `merging` (hypotheses that read alike), `lines` (JSON, an entry a
line). Translations: `parallel` (two files of text), `vocabulary` (their common pieces), `pairs` (batches),
`translation` (the network, as a folder), `training`, `beam` (texts -> hypotheses), `writing` (the JSON of their lists).
The network is a Marian of `transformers`, which is the optional extra ``hf``. Speech: `utterances` (lists of audio
files), `audio` (files -> samples), `whisper` (prompt, choice of tokens, features), `whisper_transformers` and
`whisper_ctranslate2` (the engines), `speech` (utterances -> transcripts), `transcripts` (the JSON of their lists). It
needs the extra ``speech``.
"""
