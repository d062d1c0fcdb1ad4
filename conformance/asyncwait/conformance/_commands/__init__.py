"""The subcommands of `asyncwait`."""

from asyncwait.conformance._commands import _compare, _play, _report, _rules, _vectors, _verify
from asyncwait.conformance._commands._group import asyncwait

__all__ = ["asyncwait"]

# Each has added its subcommand to the group.
_REGISTERED = (_compare, _play, _report, _rules, _vectors, _verify)
