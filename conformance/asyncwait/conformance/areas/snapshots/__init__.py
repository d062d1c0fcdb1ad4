"""The evidence for the chapter on snapshots."""
