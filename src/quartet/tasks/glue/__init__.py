"""GLUE: nine sets, on each of which a model is fine-tuned."""
