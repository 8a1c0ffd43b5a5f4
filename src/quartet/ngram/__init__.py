"""N-gram language models: estimated from text, kept in ARPA form, read by KenLM."""
