"""The evidence for the chapter on elements."""
