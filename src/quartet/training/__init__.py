"""Training by PyTorch Lightning. Importing this package imports neither Lightning nor torch; its modules do."""
