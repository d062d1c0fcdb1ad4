"""Which version of a function results belong to."""
