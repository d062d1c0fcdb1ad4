"""The evidence for the chapter on the cancellation of calls."""
