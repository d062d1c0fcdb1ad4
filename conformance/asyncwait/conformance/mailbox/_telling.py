"""Programs and traces in words, for people."""

from collections.abc import Iterator

from msgspec.structs import replace

from asyncwait.spec.mailbox.program import (
    OWNER,
    MailboxTrace,
    Post,
    Program,
    Seen,
    Step,
)
from asyncwait.spec.texts import one_line

MOST_LINES = 60
"""Of a trace that is shown."""

LONGEST = 300
"""Characters of what is said of an event."""

_TAKERS = frozenset({"try_take", "take", "run_one", "try_run_one", "should_interrupt", "is_idle"})


def notation_of(program: Program) -> tuple[str, ...]:
    """Return `program` in the notation of examples: its steps, then a line for each action."""
    lines = [f"steps:   {_joined(program.steps)}"]
    lines.extend(f"action:  {_joined(run)}" for run in program.action)
    if program.is_awaited:
        lines.append("the default action is a coroutine function")
    if program.has_neighbour:
        lines.append("another task asks for its turn meanwhile")
    return tuple(line.rstrip() for line in lines)


def step_in_notation(step: Step) -> str:
    """Return `step` in the notation of examples."""
    by = "" if step.by == OWNER else f"{step.by}."
    words = f"{by}{step.does}{'*' if step.with_deferred else ''}"
    inner = step.within
    if step.mail is not None:
        words += f":{step.mail.name}{_flags(step.mail)}"
        inner = step.mail.does
    elif step.does in _TAKERS and step.priority != -1:
        words += f"@{step.priority}"
    if step.number or step.does == "resume":
        words += f"#{step.number}"
    words += "&" if step.at_once else ""
    return f"{words} {{ {_joined(inner)} }}" if inner else words


def _joined(steps: tuple[Step, ...]) -> str:
    return " ".join(map(step_in_notation, steps))


def _flags(post: Post) -> str:
    flags = {"^": post.urgent, "~": post.deferrable, "!": post.raises, "%": post.is_lazy}
    shown = "".join(flag for flag, is_set in flags.items() if is_set)
    return f"{shown}@{post.priority}" if post.priority else shown


def trace_lines(trace: MailboxTrace, mark: float | None = None) -> Iterator[str]:
    """Yield a line for each event of `trace`, the end of it if it is long."""
    steps: dict[int, Step] = {}
    depth: dict[str, int] = {}
    first = 0 if mark is None else max(0, min(int(mark) - MOST_LINES + 5, len(trace.events)))
    for at, event in enumerate(trace.events):
        if event.kind == "begin" and event.step is not None:
            steps[event.of] = event.step
        depth[event.by] = depth.get(event.by, 0) - (event.kind in {"end", "ran", "acted"})
        if first <= at < first + MOST_LINES:
            indent = "  " * max(0, depth[event.by])
            pointer = "  <-- here" if at == mark else ""
            said = one_line(_said(event, steps), LONGEST)
            yield f"{at:4}  {one_line(event.by):6} {indent}{said}{pointer}"
        depth[event.by] += event.kind in {"begin", "run", "action"}
    if len(trace.events) > first + MOST_LINES:
        yield f"      and {len(trace.events) - first - MOST_LINES} more"
    for future in trace.futures:
        yield f"      the future of {one_line(future.mail)}: {one_line(future.state)}"
    if trace.ending != "whole":
        yield f"      it {one_line(trace.ending, LONGEST)}"


def _said(event: Seen, steps: dict[int, Step]) -> str:
    step = steps.get(event.of)
    match event.kind:
        case "begin":
            return step_in_notation(replace(step, by=OWNER)) if step else "begins"
        case "end":
            gave = ", ".join(event.mails) or ("" if event.value is None else str(event.value))
            came = (
                f" raised: {event.error}" if event.error else f" gave {gave}" if gave else " ended"
            )
            return f"{step.does if step else 'step'}{came}"
        case "waits":
            return f"{step.does if step else 'step'} waits"
        case "stirs":
            return f"{step.does if step else 'step'} waits, and takes {event.value} turns"
        case "action" | "acted":
            raised = f", raises: {event.error}" if event.error else ""
            return f"{event.kind} (the default action, {event.of}){raised}"
        case "turn":
            return "another task has its turn"
        case _:
            return f"{event.kind} {event.mail}" + (
                f", raises: {event.error}" if event.error else ""
            )
