"""What a person brings to a run: the project folder with its config, skill and tasks, made ready."""
