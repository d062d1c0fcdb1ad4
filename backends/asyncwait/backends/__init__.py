"""Operators that people run, and those that prove the suite can fail; a folder for each."""

__all__: list[str] = []
