"""Our side of the numbers to beat, as commands: each module measures one claim and prints one JSON line."""
