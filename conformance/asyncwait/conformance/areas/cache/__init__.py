"""The evidence for the chapter on cached results."""
