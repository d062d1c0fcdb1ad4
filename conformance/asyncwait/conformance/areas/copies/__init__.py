"""The evidence for the chapter on copies of values."""
