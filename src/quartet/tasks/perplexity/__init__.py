"""(Pseudo-)perplexity on held-out documents."""
