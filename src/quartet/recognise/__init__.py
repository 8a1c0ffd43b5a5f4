"""What makes N-best lists: a translator that is trained on parallel text, and a Whisper.

Both give hypotheses that `lists` writes. Translations: `pairs` (two files of text, and their batches), `vocabulary`
(their common pieces), `translation` (the network, as a folder), `training`, `beam` (texts -> hypotheses). The network
is a Marian of `transformers`, which is the optional extra ``hf``. Speech, of the extra ``speech``: `utterances` (lists
of audio files), `audio` (files -> samples), `whisper` (prompt, choice of tokens, features), `whisper_transformers` and
`whisper_ctranslate2` (the engines), `speech` (utterances -> transcripts).
"""
