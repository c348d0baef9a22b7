"""The test kit shipped to users: scripted models, fault plans, virtual clock, contract suites."""
