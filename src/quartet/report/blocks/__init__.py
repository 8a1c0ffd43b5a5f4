"""Parts of a section that no table of systems makes."""
