"""The subcommands of `asyncwait`."""

from asyncwait.conformance._commands import _backends, _compare, _play, _report, _rules, _vectors
from asyncwait.conformance._commands import _verify as _verify_command
from asyncwait.conformance._commands._group import asyncwait

__all__ = ["asyncwait"]

_REGISTERED = (_backends, _compare, _play, _report, _rules, _vectors, _verify_command)
# each has added its subcommand to the group
