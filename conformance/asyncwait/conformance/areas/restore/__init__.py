"""The evidence for the chapter on restore."""
