"""The evidence for the chapter on retries."""
