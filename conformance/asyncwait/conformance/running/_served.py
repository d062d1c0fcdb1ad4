"""A backend that child processes serve: its description, and its runs."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

import msgspec
from msgspec import Struct

from asyncwait.conformance.expected_failures import ExpectedFailures
from asyncwait.conformance.harness import shown
from asyncwait.conformance.judging import impossible
from asyncwait.conformance.running._backend import Lacking
from asyncwait.conformance.running._child import LIST
from asyncwait.conformance.running._crew import Crew, cores
from asyncwait.conformance.running._names import UnknownBackend
from asyncwait.conformance.running._process import ChildProcess
from asyncwait.conformance.running._speech import (
    START_SECONDS,
    UNREADABLE,
    Listed,
    OfMailbox,
    named,
    python_command,
)
from asyncwait.spec.checks import require_seconds
from asyncwait.spec.mailbox.program import MailboxPlan, MailboxTrace
from asyncwait.spec.scenario import Capability, Scenario, Trace
from asyncwait.spec.texts import shortened

_LONGEST = 1_000
"""Longest description of a broken run, in characters."""


class Broken(Struct, frozen=True):
    """Takes the place of a trace where harness or backend broke, not the operator."""

    text: str
    output: str = ""


Play: TypeAlias = Callable[[Sequence[Scenario]], Iterable[Trace | Broken]]
"""Plays scenarios; gives one run for each, in order, as they are ready."""


def checked(scenario: Scenario, trace: object) -> Trace | Broken:
    """Return `trace` if a run of `scenario` can have given it."""
    if not isinstance(trace, Trace):
        return Broken(f"expected a Trace, got {shown(trace)}")
    why: str | None
    for leg in trace.legs:
        if leg.ending.how == "error":
            why = f"{leg.ending.error} {leg.ending.detail}".strip()
            return Broken(shortened(why, _LONGEST), trace.output)
    why = impossible(scenario, trace)
    if why is None:
        return trace
    return Broken(f"the trace is impossible: {shortened(why, _LONGEST)}", trace.output)


def lost(run: Trace | Broken) -> str:
    """Return why a run ended before the operator was done; empty if the operator was done."""
    if isinstance(run, Broken):
        return run.text
    ending = run.legs[-1].ending
    return f"{ending.how}: {ending.detail}" if ending.how in {"blocked", "died"} else ""


REAL_SECONDS = 10.0
"""Seconds for one scenario on the real clock; on a virtual clock it takes milliseconds."""


class Served:
    """A backend whose code never runs in this process.

    Attributes:
        spec: the version of the specification that it claims; empty for the newest.
    """

    def __init__(self, name: str, crew: Crew) -> None:
        hello = crew.hello
        self.name = name
        self.capabilities: frozenset[Capability] = hello.capabilities
        self.expected_failures: ExpectedFailures = hello.expected_failures
        self.batch = hello.batch
        self.spec = hello.spec
        self.lacking: Lacking = hello.lacking
        self._crew = crew

    def play(self, scenarios: Iterable[Scenario]) -> Iterator[Trace | Broken]:
        """Play `scenarios`; yield for each, in order, its trace or a `Broken`.

        Raises:
            AsyncWaitError: the backend lacks something, and reports it itself.
        """
        asked: deque[Scenario] = deque()

        def noted() -> Iterator[Scenario]:
            for scenario in scenarios:
                asked.append(scenario)
                yield scenario

        for trace in self._crew.play(noted()):
            yield checked(asked.popleft(), trace)

    def dismiss(self) -> None:
        """End the child processes; a later `play` starts new ones."""
        self._crew.dismiss()

    def abandon(self) -> None:
        """Make a thread that plays scenarios get a `CancelledError` soon."""
        self._crew.is_abandoned = True


@contextmanager
def open_backend(
    name: str, *, patience: float = REAL_SECONDS, jobs: int | None = None, folder: str = ""
) -> Generator[Served]:
    """Give the backend of that name; its processes end with the block.

    Args:
        name: registered, "module:callable", or "exec:" and a command.
        patience: seconds of the real clock for one scenario.
        jobs: number of child processes; by default the number of cores.
        folder: another folder in which its module may be.

    Raises:
        UnknownBackend: the name is unknown, or it can't be loaded. The message says why.
        MissingExtra: it needs a package that is not installed.
    """
    with Crew(named(name, folder), patience, jobs or cores()) as crew:
        yield Served(name, crew)


@contextmanager
def open_mailbox(
    name: str, *, patience: float = REAL_SECONDS, folder: str = ""
) -> Generator[Callable[[Iterable[MailboxPlan]], Iterator[MailboxTrace | Broken]]]:
    """Give a function that plays programs on a mailbox, which child processes open.

    Args:
        name: "module:callable".
        patience: seconds of the real clock for one program.
        folder: see `open_backend`.

    Raises:
        InvalidConfig: `patience` is no valid time.
    """
    require_seconds("patience", patience)
    with Crew(OfMailbox(name, folder), patience, min(_OF_MAILBOX, cores())) as crew:
        yield lambda plans: map(_checked_of_mailbox, crew.play(plans))


_OF_MAILBOX = 2
"""Processes that play on a mailbox: most programs take less time than the start of a process."""

_LOST = {"blocked": "blocks its thread: ", "died": "died: its process ended: "}


def _checked_of_mailbox(run: MailboxTrace | Trace) -> MailboxTrace | Broken:
    if isinstance(run, MailboxTrace):
        is_broken = run.ending.startswith("broken: ")
        return Broken(run.ending.removeprefix("broken: "), run.output) if is_broken else run
    ending = run.legs[-1].ending
    if ending.how in _LOST:
        return MailboxTrace(ending=f"{_LOST[ending.how]}{ending.detail}", output=run.output)
    return Broken(ending.detail, run.output)


def listed_backends(folder: str = "") -> Listed:
    """Return the known names.

    Raises:
        UnknownBackend: a family of backends breaks the listing itself.
    """
    with ChildProcess(python_command(LIST, folder)) as child:
        try:
            child.wait_for_line(START_SECONDS)
            return msgspec.json.decode(child.wait_for_line(START_SECONDS), type=Listed)
        except (TimeoutError, EOFError, *UNREADABLE) as error:
            raise UnknownBackend(f"the backends can't be listed: {error}") from error
