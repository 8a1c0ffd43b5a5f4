"""What MLflow is told, apart from the calls: names, datasets, models, the run of a `dvc repro`, the comparison."""
