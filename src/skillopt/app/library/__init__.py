"""skillopt as a library: what `skillopt.optimize` and `skillopt.evaluate` are made of."""
