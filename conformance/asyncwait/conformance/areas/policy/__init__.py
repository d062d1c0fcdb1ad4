"""The evidence for the chapter on failure handlers."""
