"""DataFrames in, DataFrames out: how rows become calls, and results columns."""
