"""The evidence for the chapter on end."""
