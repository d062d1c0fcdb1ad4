"""What a run left besides its events: the operator's own error, and what was printed."""

from collections.abc import Iterator

from asyncwait.spec.scenario import Trace
from asyncwait.spec.texts import block

LINES = 20
"""Of a traceback and of what was printed, each; of the former the first, of the latter the last."""


def besides(trace: Trace) -> Iterator[str]:
    """Yield where unexpected errors come from, and the last of what was printed."""
    errors = dict.fromkeys(leg.ending.traceback for leg in trace.legs if leg.ending.traceback)
    for error in errors:
        yield "raised by the operator, innermost place first:"
        yield from (f"  {line}" for line in block("\n".join(error.splitlines()[:LINES])))
    yield from printed(trace.output)


def printed(output: str) -> Iterator[str]:
    """Yield the last lines of what a run has printed."""
    lines = output.rstrip().splitlines()
    if lines:
        yield "printed:" if len(lines) <= LINES else f"printed, the last {LINES} lines:"
    yield from (f"  {line}" for line in block("\n".join(lines[-LINES:])))
