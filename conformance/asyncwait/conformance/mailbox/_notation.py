"""Programs and traces as they are written by hand and read: a language of a few words.

A step is a word, steps are apart by blanks:

    execute:m          the owner sends a mail m             a.execute:m    sender a does
    execute:m@2        with priority 2                      try_take@2     a taker of priority 2
    execute:m^         urgent       execute:m~  deferrable  execute:m!     it raises
    execute:m%         with a description that is a function
    execute:m { ... }  m does these steps when it is run    exclusively { ... }   in this section
    try_run_one*       with deferred ones                   resume#1       of the second suspension
    cancel_wait#2      two turns later
    execute:m&         and the next step follows at once

A trace is written like this, too. `=` stands before what a step gave, `?` before what it raised. Of
a step that takes, the mails that it gave were run; `drain` and `close` just give them. What happens
amid a step stands in brackets behind it:

    take=m             create_batch=True                    try_take?closed
    run ( <m> act )    a mail was run, then the action      run ( <m execute:n > )   that did a step
    run ( act! )       the action raised an error
    take ( waits )     it waits                             run ( <m> )?raised-m     and raised
    take ( stirs=40 )  it waits, and takes turns
    )2=False           the second step ends before the one that it stands in
    future:m=pending   what became of the future of m
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.conformance.evidence import entries
from asyncwait.spec.mailbox.program import (
    OWNER,
    FutureSeen,
    MailboxTrace,
    Post,
    Program,
    Seen,
    Step,
)
from asyncwait.spec.texts import one_line


class MailboxExample(Struct, frozen=True):
    """A hand-written program."""

    name: str
    rules: tuple[str, ...]
    sentence: str
    program: Program


_STEP = re.compile(
    r"(?:(?P<by>[abc])\.)?(?P<does>[a-z_]+)(?P<deferred>\*)?(?::(?P<mail>[\w-]+))?(?P<flags>[\^~!%]*)"
    r"(?:@(?P<priority>-?\d+))?(?P<more>[\^~!%]*)(?:#(?P<number>\d+))?(?P<at_once>&)?"
    r"(?:=(?P<gave>[^?]*))?(?:\?(?P<error>.*))?"
)
_CLOSES = re.compile(r"\)(?P<of>\d+)?(?:=(?P<gave>[^?]*))?(?:\?(?P<error>.*))?")
_SENDS = {"execute", "submit", "cancel_future", "storm"}
_GIVES_MAILS = {"try_take_from_batch", "try_take", "take", "drain", "close"}
_RUNS = {"try_take_from_batch", "try_take", "take"}


def program(text: str, *action: str, **options: Any) -> Program:
    """Return the program that does the steps in `text`."""
    runs = tuple(tuple(_steps(iter(run.split()))) for run in action)
    return Program(tuple(_steps(iter(text.split()))), runs, **options)


def program_of(lines: Iterable[str]) -> Program:
    """Return the program that is written as `notation_of` gives it.

    Raises:
        ValueError: a line says nothing of a program, or a word is no step.
    """
    steps: list[str] = []
    options: dict[str, Any] = {}
    for line in lines:
        head, _, words = line.partition(":")
        if head in {"steps", "action"}:
            steps.append(words)
        elif line in _OPTIONS:
            options[_OPTIONS[line]] = True
        else:
            raise ValueError(f"{line!r} says nothing of a program; see the notation")
    return program(*steps, **options)


def examples(text: str) -> tuple[MailboxExample, ...]:
    """Return the examples that `text` tells: names and rules, and below each a sentence and lines.

    Raises:
        ValueError: a line says nothing of a program, or a word is no step.
    """
    return tuple(_example(about, below) for about, below in entries(text))


def _example(about: str, below: Sequence[str]) -> MailboxExample:
    name, rules = about.split(": ")
    begins = next((n for n, line in enumerate(below) if line.startswith("steps:")), 0)
    if not begins:
        raise ValueError(f"{name}: a sentence and a line of steps have to stand below it")
    told = program_of(below[begins:])
    return MailboxExample(name, tuple(rules.split(", ")), " ".join(below[:begins]), told)


def mailbox_trace(text: str) -> MailboxTrace:
    """Return the trace that `text` tells."""
    writer = _Writer()
    writer.write(text.split())
    return MailboxTrace(tuple(writer.events), tuple(writer.futures))


def _steps(words: Iterator[str]) -> list[Step]:
    found: list[Step] = []
    for word in words:
        if word == "}":
            break
        if word == "{":
            found[-1] = _with_inner(found[-1], tuple(_steps(words)))
        else:
            found.append(_step(word)[0])
    return found


def _with_inner(step: Step, inner: tuple[Step, ...]) -> Step:
    if step.mail is None:
        return replace(step, within=inner)
    return replace(step, mail=replace(step.mail, does=inner))


def _step(word: str) -> tuple[Step, re.Match[str]]:
    found = _STEP.fullmatch(word)
    if found is None:
        raise ValueError(f"{word!r} is no step; see the notation")
    does, number = found["does"], int(found["number"] or 0)
    sends = does in _SENDS
    priority = int(found["priority"] or (0 if sends else -1))
    step = Step(
        does,  # type: ignore[arg-type]
        found["by"] or OWNER,
        _post(found, priority) if sends else None,
        -1 if sends else priority,
        with_deferred=bool(found["deferred"]),
        number=number,
        at_once=bool(found["at_once"]),
    )
    return step, found


def _post(found: re.Match[str], priority: int) -> Post:
    flags = found["flags"] + found["more"]
    return Post(
        found["mail"],
        priority,
        urgent="^" in flags,
        deferrable="~" in flags,
        raises="!" in flags,
        is_lazy="%" in flags,
    )


class _Writer:
    """Writes the events that words tell of."""

    def __init__(self) -> None:
        self.events: list[Seen] = []
        self.futures: list[FutureSeen] = []
        self._steps = 0
        self._actions = 0
        self._open: list[tuple[int, str]] = []  # number and owner of steps that are not over
        self._running: list[str] = []

    def write(self, words: Sequence[str]) -> None:
        for place, word in enumerate(words):
            follows = words[place + 1] if place + 1 < len(words) else ""
            self._write(word, is_open=follows == "(")

    def _write(self, word: str, *, is_open: bool) -> None:
        if word.startswith("<"):
            self._running.append(word.strip("<>"))
            self.events.append(Seen("run", mail=self._running[-1]))
        if word.endswith(">"):
            self.events.append(Seen("ran", mail=self._running.pop()))
        elif word in {"act", "act!"}:
            self._act("raised action" if word.endswith("!") else "")
        elif word == "turn":
            self.events.append(Seen("turn"))
        elif word == "waits":
            self.events.append(Seen("waits", of=self._open[-1][0]))
        elif word.startswith("stirs="):
            self.events.append(Seen("stirs", of=self._open[-1][0], value=_value(word[6:])))
        elif word.startswith(")"):
            self._end(_CLOSES.fullmatch(word))
        elif word.startswith("future:"):
            mail, _, state = word.removeprefix("future:").partition("=")
            self.futures.append(FutureSeen(mail, state.replace("-", " ")))
        elif word.startswith("described:"):
            self.events.append(Seen("described", mail=word.partition(":")[2]))
        elif word != "(" and not word.startswith("<"):
            step, found = _step(word)
            self._begin(step)
            if not is_open:
                self._end(found, step)

    def _act(self, error: str) -> None:
        number = self._actions
        self.events.extend((Seen("action", of=number), Seen("acted", of=number, error=error)))
        self._actions += 1

    def _begin(self, step: Step) -> None:
        self._steps += 1
        self._open.append((self._steps, step.by))
        self.events.append(Seen("begin", of=self._steps, by=step.by, step=step))

    def _end(self, found: re.Match[str] | None, step: Step | None = None) -> None:
        assert found is not None
        last = self._open[-1][0] if self._open else 0
        ends = int(found["of"] or last) if step is None else last
        number, by = next(each for each in self._open if each[0] == ends)
        self._open.remove((number, by))
        gave, error = found["gave"], (found["error"] or "").replace("-", " ")
        mails = tuple(filter(None, (gave or "").split(",")))
        gives_mails = step is not None and step.does in _GIVES_MAILS
        for mail in mails if gives_mails and step is not None and step.does in _RUNS else ():
            self.events.extend((Seen("run", mail=mail), Seen("ran", mail=mail)))
        end = Seen("end", of=number, by=by, error=error)
        if gives_mails:
            end = Seen("end", of=number, by=by, mails=mails, error=error)
        elif gave is not None:
            end = Seen("end", of=number, by=by, value=_value(gave), error=error)
        self.events.append(end)


def _value(text: str) -> bool | int | str:
    if text in {"True", "False"}:
        return text == "True"
    return int(text) if text.isdigit() else text.replace("-", " ")


MOST_LINES = 60
"""Of a trace that is shown."""

_OPTIONS = {
    "the default action is a coroutine function": "is_awaited",
    "another task asks for its turn meanwhile": "has_neighbour",
}

LONGEST = 300
"""Characters of what is said of an event."""

_TAKERS = frozenset({"try_take", "take", "run_one", "try_run_one", "should_interrupt", "is_idle"})


def notation_of(program: Program) -> tuple[str, ...]:
    """Return `program` in the notation of examples: its steps, then a line for each action."""
    lines = [f"steps:   {_joined(program.steps)}"]
    lines.extend(f"action:  {_joined(run)}" for run in program.action)
    lines.extend(line for line, option in _OPTIONS.items() if getattr(program, option))
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
