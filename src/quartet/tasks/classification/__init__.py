"""Classification of texts, judged by cross-validation."""
