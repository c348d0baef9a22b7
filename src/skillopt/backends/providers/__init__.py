"""What is known of providers, as data with its date. Nothing here asks anybody."""
