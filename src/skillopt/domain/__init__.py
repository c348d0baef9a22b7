"""Pure types and pure functions: the nouns of skillopt. Knows no file, clock, network or process."""
