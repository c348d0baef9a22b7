"""Reading configuration files: layers, origins, and one report of all that is wrong."""
