"""The evidence for the chapter on statistics."""
