"""The presets of the papers, end to end with little work: see dry_run.py."""
