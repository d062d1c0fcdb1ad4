"""The evidence for the chapter on watermarks."""
