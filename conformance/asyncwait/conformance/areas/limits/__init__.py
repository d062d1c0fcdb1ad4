"""The evidence for the chapter on limits."""
