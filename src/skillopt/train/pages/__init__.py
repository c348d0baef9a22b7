"""The report page of a training run: one HTML file, folded from its view."""
