"""Questions put to the person at the terminal."""
