"""Who answers a chat request over the wire. Backends transport; they have no opinions."""
