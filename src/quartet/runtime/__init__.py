"""How long a model takes (Shin et al. 2020, section 5.2)."""
