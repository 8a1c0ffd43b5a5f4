"""What takes long by its nature: kills, processes, servers, real runs of DVC. `make test-slow` and CI run it."""
