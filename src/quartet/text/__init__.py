"""Raw text to token ids: sources -> documents -> paragraphs -> sentences -> tokenizer -> encoded corpora.

The registry of sources is `quartet.text.sources.SOURCES`. This file imports nothing, so that a program that
only needs a tokenizer does not load the readers.
"""
