"""What a run left besides its events: the operator's own error, and what was printed."""

from collections.abc import Iterator

from asyncwait.spec.scenario import Trace

LINES = 20
"""Of a traceback and of what was printed, each; of the former the first, of the latter the last."""

LONGEST = 200
"""Characters of a line."""


def besides(trace: Trace) -> Iterator[str]:
    """Yield where unexpected errors come from, and the last of what was printed."""
    errors = dict.fromkeys(leg.ending.traceback for leg in trace.legs if leg.ending.traceback)
    for error in errors:
        yield "raised by the operator, innermost place first:"
        yield from _block(error.splitlines()[:LINES])
    yield from printed(trace.output)


def printed(output: str) -> Iterator[str]:
    """Yield the last lines of what a run has printed."""
    lines = output.rstrip().splitlines()
    if lines:
        yield "printed:" if len(lines) <= LINES else f"printed, the last {LINES} lines:"
    yield from _block(lines[-LINES:])


def _block(lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield f"  {line}" if len(line) <= LONGEST else f"  {line[:LONGEST]}..."
