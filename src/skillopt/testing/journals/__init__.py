"""The tests that make up the contract of the Journal port."""
