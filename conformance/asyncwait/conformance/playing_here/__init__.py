"""What a run in its author's own process has that no other has: somebody watches, and debugs it."""

from asyncwait.conformance.playing_here._here import (
    Here,
    open_here,
)
from asyncwait.conformance.playing_here._stacks import (
    stack_lines,
)
from asyncwait.conformance.playing_here._watcher import (
    DebuggerLeft,
    Watcher,
    ended_by_debugger,
)
from asyncwait.spec.exports import claim_exports

__all__ = [
    "DebuggerLeft",
    "Here",
    "Watcher",
    "ended_by_debugger",
    "open_here",
    "stack_lines",
]

claim_exports(__name__)
