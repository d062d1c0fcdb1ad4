"""The evidence for the chapter on capacity."""
