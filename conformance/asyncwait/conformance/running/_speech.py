"""The kinds of backend by name, and the protocol with the processes that serve them.

Our own child sends one JSON value on each line: an empty line when it runs, then `Hello` or
`Refused` when it has loaded the backend, and then a `Told` for each requested scenario. An empty
line to it requests the play of a batch. Foreign programs use less of the protocol: see
json-lines.md.
"""

import shlex
import shutil
import sys
from collections.abc import Generator, Mapping
from typing import Any, TypeAlias

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from asyncwait.conformance.expected_failures import ExpectedFailures
from asyncwait.conformance.running._backend import Lacks
from asyncwait.conformance.running._names import MAILBOX, Fault, UnknownBackend
from asyncwait.spec import AsyncWaitError, InvalidConfig, MissingExtra
from asyncwait.spec.mailbox.program import MailboxPlan, MailboxTrace
from asyncwait.spec.scenario import (
    ALL_CAPABILITIES,
    NUMBERED,
    Capability,
    Ending,
    EndingKind,
    Leg,
    Request,
    Scenario,
    Trace,
    declaration_from_json,
    protocol_from_json,
    reply_from_json,
    trace_from_json,
)
from asyncwait.spec.texts import one_line


class Hello(Struct, frozen=True, omit_defaults=True, tag="hello"):
    """A backend's description of itself."""

    capabilities: frozenset[Capability] = ALL_CAPABILITIES
    expected_failures: ExpectedFailures = {}
    batch: bool = False
    spec: str = ""
    lacking: Mapping[Capability, Lacks] = {}
    protocol: int = 1
    owes: bool = False


class Refused(Struct, frozen=True, omit_defaults=True, tag="refused"):
    """The reason why the backend can't be loaded; the user can fix it."""

    text: str
    needs: str = ""
    extra: str = ""

    @classmethod
    def of(cls, error: AsyncWaitError) -> "Refused":
        """Return the refusal for `error`."""
        if isinstance(error, MissingExtra):
            return cls(str(error), error.needs, error.extra)
        return cls(str(error))

    @property
    def error(self) -> AsyncWaitError:
        """The error that it represents."""
        return MissingExtra(self.needs, self.extra) if self.extra else UnknownBackend(self.text)


class Asked(Struct, frozen=True, omit_defaults=True):
    """A request to the child."""

    scenario: Scenario | None = None
    program: MailboxPlan | None = None


class Told(Struct, frozen=True, omit_defaults=True):
    """The outcome of a scenario.

    Args:
        trace: the trace as JSON; empty for none.
    """

    trace: Raw = Raw()
    error: str = ""
    refused: Refused | None = None


class Listed(Struct, frozen=True):
    """The known names."""

    names: tuple[str, ...]
    broken: Mapping[str, str]
    faults: tuple[Fault, ...] = ()


START_SECONDS = 30.0
"""Seconds for an interpreter and the suite itself to start in a child."""

START_PATIENCE = 3
"""Longest time to load a backend, or to speak first, as a multiple of `patience`."""

Greeting: TypeAlias = Generator[float, bytes, Hello]
"""Yields the seconds that the next line may take, receives the line, and returns the `Hello`."""

EXEC = "exec:"

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Errors of reading a line that is no JSON, or not the expected JSON."""


class InPython(Struct, frozen=True):
    """A backend that a factory in Python makes, served by our own child; see `_child`."""

    name: str
    folder: str = ""
    opening: bytes = b""

    @property
    def command(self) -> tuple[str, ...]:
        """Command of the child, which finds the same modules as this process.

        The present folder does not come first in its search.
        """
        return python_command(self.name, self.folder)

    def greeting(self, patience: float) -> Greeting:
        """Read the first lines of a process.

        Raises:
            UnknownBackend: the backend can't be loaded, or it is no backend.
            MissingExtra: it needs a package that is not installed.
        """
        yield START_SECONDS
        line = yield START_PATIENCE * patience
        try:
            said = msgspec.json.decode(line, type=Hello | Refused)
        except UNREADABLE as error:
            text = f"backend {self.name!r}: what it says of itself can't be read: {one_line(error)}"
            raise UnknownBackend(text) from error
        if isinstance(said, Refused):
            raise said.error
        return said

    def request(self, scenario: Any, number: int, protocol: int) -> bytes:  # noqa: ARG002 - ours never mix replies up
        """Return the line that requests `scenario`; `protocol` is the version in use."""
        return msgspec.json.encode(Asked(scenario))

    def astray(self, line: bytes, number: int, protocol: int) -> str:  # noqa: ARG002 - see `request`
        """Return why `line` does not answer the request of that number; empty if it does."""
        return ""

    def reply(self, line: bytes) -> Any:
        """Return the trace in a line; if the line is wrong, the trace's ending says why."""
        return trace_of(told_from(line))

    def lost(self, how: EndingKind, detail: str) -> Trace:
        """Return the trace of a lost run: the operator blocks our child, or ends it."""
        return failed(how, detail)

    def lost_at_first(self, how: EndingKind, detail: str, patience: float) -> str:  # noqa: ARG002 - ours is sent nothing first
        """Return a text on the loss of a process before its answer to the opening."""
        return detail


def python_command(name: str, folder: str = "") -> tuple[str, ...]:
    """Return the command of our own child; see `_child.main`."""
    module = "asyncwait.conformance.running._child"
    # The package imports the module, too, and runpy warns about it.
    options = ("-P", "-W", "ignore::RuntimeWarning:runpy", "-m")
    return (sys.executable, *options, module, name, *filter(None, (*sys.path, folder)))


class OfMailbox(InPython, frozen=True):
    """A task mailbox, opened and played by our own child."""

    @property
    def command(self) -> tuple[str, ...]:
        """The command of `InPython`, with a mailbox in the place of a backend."""
        return python_command(f"{MAILBOX}{self.name}", self.folder)

    def request(self, scenario: MailboxPlan, number: int, protocol: int) -> bytes:  # noqa: ARG002 - see `InPython`
        """Return the line that requests a program."""
        return msgspec.json.encode(Asked(program=scenario))

    def reply(self, line: bytes) -> MailboxTrace | Trace:
        """Return the trace in a line; if the line has none, a `Trace` says why."""
        told = told_from(line)
        if not bytes(told.trace):
            return trace_of(told)
        try:
            return msgspec.json.decode(bytes(told.trace), type=MailboxTrace)
        except UNREADABLE as error:
            return failed("error", f"the trace can't be read: {one_line(error)}")


class Program(Struct, frozen=True):
    """A program in any language that speaks JSON lines; it reports its traces itself.

    Args:
        name: "exec:" and its command.
    """

    name: str
    command: tuple[str, ...]

    @property
    def opening(self) -> bytes:
        """An empty scenario, because a program need not send anything before a request."""
        return msgspec.json.encode(Request(Scenario())) + b"\n"

    def greeting(self, patience: float) -> Greeting:
        """See `InPython`: it may declare its capabilities before it answers the opening."""
        line = yield START_PATIENCE * patience
        try:
            protocol = protocol_from_json(line)
            capabilities = declaration_from_json(line)
        except InvalidConfig as error:
            raise UnknownBackend(f"backend {self.name!r}: {error}") from error
        if capabilities is None:
            return Hello()
        return Hello(capabilities, protocol=protocol, owes=True)

    def request(self, scenario: Scenario, number: int, protocol: int) -> bytes:
        """See `InPython`."""
        told = number if protocol >= NUMBERED else None
        return msgspec.json.encode(Request(scenario, told))

    def astray(self, line: bytes, number: int, protocol: int) -> str:
        """See `InPython`: a line without its number shows that the program has lost count."""
        if protocol < NUMBERED:
            return ""
        try:
            said = msgspec.json.decode(line, type=_Numbered).number
        except UNREADABLE as error:
            return f"the reply is no trace: {one_line(error)}"
        if said == number:
            return ""
        got = "none" if said is None else f"number {said}"
        return f"it answered the wrong scenario: the reply must have number {number}, and has {got}"

    def reply(self, line: bytes) -> Trace:
        """See `InPython`."""
        try:
            reply = reply_from_json(line)
        except InvalidConfig as error:
            return failed("error", str(error))
        if reply.trace is None:
            why = reply.error or "the reply holds neither a trace nor an error"
            return failed("error", why)
        return replace(reply.trace, self_reported=True)

    def lost(self, how: EndingKind, detail: str) -> Trace:
        """See `InPython`: the cause may be the program rather than its operator."""
        return failed("error", f"{_LOST.get(how, '')}{detail}")

    def lost_at_first(self, how: EndingKind, detail: str, patience: float) -> str:
        """See `InPython`: the program could start, so this is no wrong usage."""
        first = f"the first scenario, {self.opening.decode().strip()}"
        answered = "it answered the handshake, and"
        if how == "blocked":
            within = f"within {START_PATIENCE * patience:g} s, three times --patience"
            return f"{answered} then gave no answer to {first}, {within}; a longer one might help"
        if how == "died":
            return f"{answered} ended before it answered {first}: {detail}"
        return f"the answer to {first}, is wrong: {detail}"


Speech: TypeAlias = InPython | Program
"""The protocol with the processes that serve a backend."""


class _Numbered(Struct):
    number: int | None = None


_LOST = {"died": "the program died: ", "blocked": "the program is late: "}


def told_from(line: bytes) -> Told:
    """Return the answer in a line of our own child."""
    try:
        return msgspec.json.decode(line, type=Told)
    except UNREADABLE as error:
        return Told(error=f"the reply is no trace: {one_line(error)}")


def trace_of(told: Told) -> Trace:
    """Return the trace of an answer; if it has none, the trace's ending says why.

    Raises:
        AsyncWaitError: the backend lacks something.
    """
    if told.refused is not None:
        raise told.refused.error
    if not bytes(told.trace):
        return failed("error", told.error)
    try:
        return trace_from_json(bytes(told.trace))
    except InvalidConfig as error:
        return failed("error", str(error))


def failed(how: EndingKind, detail: str) -> Trace:
    """Return the trace of a run that did not end by itself."""
    return Trace((Leg(Ending(how, detail=detail)),))


def exec_name(command: str) -> str:
    """Return the backend name of the program that `command` starts."""
    return EXEC + command


def named(name: str, folder: str = "") -> Speech:
    """Return the speech for `name`: "exec:" and a command, a registered name, module:callable.

    Raises:
        UnknownBackend: the command can't be started.
    """
    if not name.startswith(EXEC):
        return InPython(name, folder)
    command = name.removeprefix(EXEC)
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UnknownBackend(f"the command {command!r} can't be read: {one_line(error)}") from error
    if not words or shutil.which(words[0]) is None:
        raise UnknownBackend(f"the command {command!r} can't be started: no such program")
    return Program(name, tuple(words))
