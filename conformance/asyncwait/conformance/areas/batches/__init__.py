"""The evidence for the chapter on batched calls."""
