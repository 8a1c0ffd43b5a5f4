"""What several people share: MLflow's server and DVC's remote."""
