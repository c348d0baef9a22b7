"""OpenAI's models on Azure: addresses, Entra ID tokens, and several endpoints that stand in for each other."""
