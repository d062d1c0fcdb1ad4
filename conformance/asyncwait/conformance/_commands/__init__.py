"""The subcommands of `asyncwait`."""

from asyncwait.conformance._commands import (
    _compare,
    _listing,
    _play,
    _replay,
    _report,
    _show,
    _shrink,
    _vectors,
    _verify,
    _verify_mailbox,
)
from asyncwait.conformance._commands._group import asyncwait

__all__ = ["asyncwait"]

_REGISTERED = (
    _compare,
    _listing,
    _play,
    _replay,
    _report,
    _show,
    _shrink,
    _vectors,
    _verify,
    _verify_mailbox,
)  # each has added its subcommands to the group
