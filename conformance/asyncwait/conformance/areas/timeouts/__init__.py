"""The evidence for the chapter on timeouts."""
