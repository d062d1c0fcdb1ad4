"""An operator of yours: it calls a function for the next records at once, and keeps their order."""

from mypkg.window import open_operator

__all__ = ["open_operator"]
