"""Where tasks come from and how answers are graded. Knows nothing of models or training."""
