"""Where each line of a trained skill came from, and which lines nothing depends on."""
