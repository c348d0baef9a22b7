"""Looking a machine and a configuration over before anything is spent."""
