"""The evidence for the chapter on contexts."""
