"""The lookup join of DataFrames: each key of a chunk of rows is looked up once."""
