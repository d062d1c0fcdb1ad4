"""The evidence for the chapter on results."""
