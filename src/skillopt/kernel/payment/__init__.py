"""How a unit of work gets paid for: workers, shared flights, retries, and each attempt from reservation to result."""
