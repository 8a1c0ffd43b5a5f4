"""The scripts that dvc.yaml runs, one a stage: read inputs, call quartet, write outputs."""
