"""DataFrames in, DataFrames out: rows become calls, and results become columns."""
