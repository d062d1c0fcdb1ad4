"""How a scenario is found again, by name, by id, in a file, or as the JSON that it is; and watched.

A run in the process of its author tells of each event, and where an operator hangs.
"""

from asyncwait.conformance.replay._debugger import DebuggerLeft, ended_by_debugger
from asyncwait.conformance.replay._find import find_scenarios
from asyncwait.conformance.replay._kept import FOLDER, MOST_KEPT, keep, kept
from asyncwait.conformance.replay._stacks import stack_lines
from asyncwait.conformance.replay._watcher import Watcher
from asyncwait.spec.exports import claim_exports

__all__ = [
    "FOLDER",
    "MOST_KEPT",
    "DebuggerLeft",
    "Watcher",
    "ended_by_debugger",
    "find_scenarios",
    "keep",
    "kept",
    "stack_lines",
]

claim_exports(__name__)
