"""The evidence for the chapter on failures."""
