"""Programs as text: steps are words, separated by blanks.

execute:m          the owner sends a mail m             a.execute:m    sender a does
execute:m@2        with priority 2                      try_take@2     a taker of priority 2
execute:m^         urgent       execute:m~  deferrable  execute:m!     it raises
execute:m { ... }  m does these steps when it is run    exclusively { ... }   in this section
try_run_one*       with deferred ones                   resume#1       of the second suspension
cancel_wait#2      two turns later
execute:m&         and the next step follows at once
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.conformance.evidence import entries
from asyncwait.conformance.judging import Violation
from asyncwait.conformance.mailbox._history import TAKES
from asyncwait.conformance.timeline import MARK
from asyncwait.spec.mailbox.program import OWNER, SENDS, MailboxTrace, Post, Program, Seen, Step
from asyncwait.spec.texts import one_line


class MailboxExample(Struct, frozen=True):
    """A hand-written program."""

    name: str
    rules: tuple[str, ...]
    sentence: str
    program: Program


_STEP = re.compile(
    r"(?:(?P<by>[abc])\.)?(?P<does>[a-z_]+)(?P<deferred>\*)?(?::(?P<mail>[\w-]+))?(?P<flags>[\^~!]*)"
    r"(?:@(?P<priority>-?\d+))?(?:#(?P<number>\d+))?(?P<at_once>&)?"
)
_FLAGS = {"^": "urgent", "~": "deferrable", "!": "raises"}


def program(text: str, *action: str) -> Program:
    """Return the program of the steps in `text`."""
    runs = tuple(tuple(_steps(iter(run.split()))) for run in action)
    return Program(tuple(_steps(iter(text.split()))), runs)


def program_of(lines: Iterable[str]) -> Program:
    """Return the program in lines of the form that `notation_of` gives.

    Raises:
        ValueError: a line is no part of a program, or a word is no step.
    """
    steps: list[str] = []
    for line in lines:
        head, _, words = line.partition(":")
        if head in {"steps", "action"}:
            steps.append(words)
        else:
            raise ValueError(f"{line!r} says nothing of a program; see the notation")
    return program(*steps)


def examples(text: str) -> tuple[MailboxExample, ...]:
    """Return the examples in `text`: a name with its rules, and below it a sentence and lines.

    Raises:
        ValueError: a line is no part of a program, or a word is no step.
    """
    return tuple(_example(about, below) for about, below in entries(text))


def _example(about: str, below: Sequence[str]) -> MailboxExample:
    name, rules = about.split(": ")
    begins = next(n for n, line in enumerate(below) if line.startswith("steps:"))
    told = program_of(below[begins:])
    return MailboxExample(name, tuple(rules.split(", ")), " ".join(below[:begins]), told)


def _steps(words: Iterator[str]) -> list[Step]:
    found: list[Step] = []
    for word in words:
        if word == "}":
            break
        if word == "{":
            found[-1] = _with_inner(found[-1], tuple(_steps(words)))
        else:
            found.append(_step(word))
    return found


def _with_inner(step: Step, inner: tuple[Step, ...]) -> Step:
    if step.mail is None:
        return replace(step, within=inner)
    return replace(step, mail=replace(step.mail, does=inner))


def _step(word: str) -> Step:
    found = _STEP.fullmatch(word)
    if found is None:
        raise ValueError(f"{word!r} is no step; see the notation")
    does, priority, mail = found["does"], found["priority"], None
    if does in SENDS:
        flags: dict[str, Any] = {_FLAGS[flag]: True for flag in found["flags"]}
        mail = Post(found["mail"], int(priority or 0), **flags)
    return Step(
        does,  # type: ignore[arg-type]
        found["by"] or OWNER,
        mail,
        -1 if mail else int(priority or -1),
        with_deferred=bool(found["deferred"]),
        number=int(found["number"] or 0),
        at_once=bool(found["at_once"]),
    )


def notation_of(program: Program) -> tuple[str, ...]:
    """Return `program` in the notation of examples: its steps, then a line for each action."""
    lines = [f"steps:   {_joined(program.steps)}"]
    lines.extend(f"action:  {_joined(run)}" for run in program.action)
    return tuple(line.rstrip() for line in lines)


def _joined(steps: tuple[Step, ...]) -> str:
    return " ".join(map(_word, steps))


def _word(step: Step) -> str:
    by = "" if step.by == OWNER else f"{step.by}."
    words = f"{by}{step.does}{'*' if step.with_deferred else ''}"
    inner, priority, unsaid = step.within, step.priority, -1
    if step.mail is not None:
        flags = "".join(flag for flag, name in _FLAGS.items() if getattr(step.mail, name))
        words += f":{step.mail.name}{flags}"
        inner, priority, unsaid = step.mail.does, step.mail.priority, 0
    if priority != unsaid and (step.mail is not None or step.does in TAKES):
        words += f"@{priority}"
    if step.number or step.does == "resume":
        words += f"#{step.number}"
    words += "&" if step.at_once else ""
    return f"{words} {{ {_joined(inner)} }}" if inner else words


LONGEST = 300
"""Longest text about one event, in characters."""


def trace_lines(trace: MailboxTrace, violation: Violation | None = None) -> Iterator[str]:
    """Yield a line for each event of `trace`, with a mark behind the event of `violation`."""
    steps: dict[int, Step] = {}
    depth: dict[str, int] = {}
    for at, event in enumerate(trace.events):
        if event.step is not None:
            steps[event.of] = event.step
        depth[event.by] = depth.get(event.by, 0) - (event.kind in {"end", "ran", "acted"})
        indent = "  " * max(0, depth[event.by])
        yield f"{at:4}  {one_line(event.by):6} {indent}{one_line(_said(event, steps), LONGEST)}"
        if violation is not None and at <= violation.at < at + 1:
            yield f"{MARK} {one_line(violation.text)}"
        depth[event.by] += event.kind in {"begin", "run", "action"}
    for future in trace.futures:
        yield f"      the future of {one_line(future.mail)}: {one_line(future.state)}"
    if trace.ending != "whole":
        yield f"      it {one_line(trace.ending, LONGEST)}"
    if violation is not None and violation.at >= len(trace.events):
        yield f"{MARK} {one_line(violation.text)}"


def _said(event: Seen, steps: dict[int, Step]) -> str:
    does = steps[event.of].does if event.of in steps else "step"
    raised = f", raises: {event.error}" if event.error else ""
    match event.kind:
        case "begin":
            return _word(replace(event.step, by=OWNER)) if event.step else "begins"
        case "end":
            gave = ", ".join(event.mails) or ("" if event.value is None else str(event.value))
            came = f" gave {gave}" if gave else " ended"
            return f"{does} raised: {event.error}" if event.error else f"{does}{came}"
        case "waits":
            return f"{does} waits"
        case "stirs":
            return f"{does} waits, and takes {event.value} turns"
        case "action" | "acted":
            return f"{event.kind} (the default action, {event.of}){raised}"
        case _:
            return f"{event.kind} {event.mail}{raised}"
