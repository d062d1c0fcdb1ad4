"""Operators for users, and faulty operators that prove the suite can fail; a folder for each."""

__all__: list[str] = []
