"""The child process: loads a backend, describes it, and plays the requested scenarios.

The backend can affect only this process, its output and its clock. Before all other runs, one run
shows whether an operator was opened at all, right or wrong. The adapter of an operator is
responsible for the arguments and the result of `open_operator`: a mistake in them is no broken
rule, and would break all rules.
"""

import gc
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, BinaryIO

import msgspec

from asyncwait.conformance.expected_failures import expected_failures_of
from asyncwait.conformance.harness import line_of, play, play_in_real_time, shown
from asyncwait.conformance.running._backend import (
    Backend,
    Lacks,
    StreamBackend,
    adapted,
)
from asyncwait.conformance.running._names import (
    UnknownBackend,
    broken_families,
    known_backends,
    known_faults,
    load_backend,
)
from asyncwait.conformance.running._process import MARK, mark_of
from asyncwait.conformance.running._speech import Asked, Hello, Listed, Refused, Told
from asyncwait.spec import AsyncWaitError, InvalidConfig, OperatorError, Record
from asyncwait.spec.mailbox.program import MailboxTrace
from asyncwait.spec.scenario import Capability, Plan, Scenario, Step, Timed, Trace

_ARGUMENTS = ("config", "fn", "elements", "restore")

_PLAIN = Scenario(inputs=(Timed(0, Record("a")),), plans=(Plan("a", (Step(results=("b",)),)),))


def probe(backend: StreamBackend) -> None:
    """Open an operator, take an element, and leave.

    The judged scenarios report any mistake on the way, except if no operator is opened at all.

    Raises:
        InvalidConfig: it is no operator; the message says what was expected.
    """
    _require_arguments(backend.open_operator)
    wrong: list[str] = []

    def watched(*arguments: Any) -> Any:
        opened = backend.open_operator(*arguments)
        can = (callable(getattr(opened, name, None)) for name in ("__aenter__", "__aexit__"))
        if inspect.isawaitable(opened) or not all(can):
            wrong.append(f"open_operator returned {shown(opened)}, expected {_CONTEXT}")
        return opened

    virtual = Capability.VIRTUAL_TIME in backend.capabilities
    scenario = adapted(_PLAIN, backend.capabilities)
    opening: Any = watched
    (play if virtual else play_in_real_time)(opening, scenario, backend.loop)
    if wrong:
        raise InvalidConfig(wrong[0])


_CONTEXT = "an async context manager; see contextlib.asynccontextmanager"


def _require_arguments(open_operator: Any) -> None:
    try:
        signature = inspect.signature(open_operator)
    except (TypeError, ValueError):
        return  # The signature is unknown; the call itself will show.
    try:
        signature.bind(*_ARGUMENTS)
    except TypeError as error:
        expected = f"open_operator({', '.join(_ARGUMENTS)}), called with all four by position"
        raise InvalidConfig(f"expected {expected}, got {signature}: {error}") from None


LIST = "--list"
"""Argument in place of a backend's name: list the known names."""

BREAKPOINT = (
    "breakpoint() was reached in a child process, which has no terminal; "
    "play the scenario with asyncwait play --here, in the process of the command"
)

# Taken now: later changes that the backend makes to msgspec do not affect us.
_encode: Callable[[object], bytes] = msgspec.json.Encoder().encode
_decode: Callable[[bytes], Asked] = msgspec.json.Decoder(Asked).decode


def main(name: str, folders: Sequence[str] = ()) -> None:
    """Serve a backend until standard input ends."""
    line = _Line()
    sys.path.extend(folder for folder in folders if folder not in sys.path)
    line.say(None)
    if name == LIST:
        line.say(Listed(tuple(sorted(known_backends())), broken_families(), known_faults()))
        return
    try:
        backend = load_backend(name)
        hello = hello_of(name, backend)
    except AsyncWaitError as error:
        line.say(Refused.of(error))
        return
    except BaseException as error:
        line.say(Refused(f"backend {name!r}: loading it raised {line_of(error)}"))
        return
    if line.stopped:
        line.say(Refused(f"backend {name!r}: {BREAKPOINT}"))
        return
    line.mark()  # Output up to here belongs to no scenario.
    line.say(hello)
    _Server(backend, line).serve()


def hello_of(name: str, backend: Backend) -> Hello:
    """Return the description of `backend`.

    Raises:
        UnknownBackend: a part of the description has the wrong type.
    """
    # A foreign backend may lack these attributes.
    spec, lacking = getattr(backend, "spec", ""), getattr(backend, "lacking", {})
    if not isinstance(spec, str) or not _is_lacking(lacking):
        expected = "`spec` has to be a text, and `lacking` a mapping of Capability to Lacks"
        raise UnknownBackend(f"backend {name!r}: {expected}, got {spec!r} and {lacking!r}")
    return Hello(
        frozenset(map(Capability, backend.capabilities)),
        expected_failures_of(backend.expected_failures),
        bool(backend.batch),
        spec=spec,
        lacking=lacking,
    )


def _is_lacking(said: object) -> bool:
    return isinstance(said, Mapping) and all(
        isinstance(name, Capability) and isinstance(why, Lacks) for name, why in said.items()
    )


class _Line:
    """The pipes to the parent, out of the backend's way.

    The output of the backend goes to its own pipe, standard error, and it has no standard input. A
    forked process that returns from the backend's code must not answer as well.
    """

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._mark = mark_of(os.environ.get(MARK, ""))
        self._output = os.dup(2)
        self._replies: BinaryIO = os.fdopen(os.dup(1), "wb")
        self.requests: BinaryIO = os.fdopen(os.dup(0), "rb")
        nowhere = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nowhere, 0)
        os.dup2(2, 1)
        os.close(nowhere)
        self.stopped = False
        """Whether a breakpoint was reached since the last answer."""
        sys.breakpointhook = self._note_breakpoint

    def say(self, told: Told | Hello | Refused | Listed | None) -> None:
        """Send a line; an empty line for None."""
        self._end_a_fork()
        self._replies.write((b"" if told is None else _encode(told)) + b"\n")
        self._replies.flush()

    def asked(self) -> Iterator[Asked | None]:
        """Yield the requests; None where a batch is complete."""
        self._end_a_fork()
        for line in self.requests:
            yield _decode(line) if line.strip() else None

    def _end_a_fork(self) -> None:
        if os.getpid() != self._owner:
            os._exit(0)

    def mark(self) -> None:
        for stream in (sys.stdout, sys.stderr):
            with suppress(BaseException):
                stream.flush()
        with suppress(OSError):
            os.write(self._output, self._mark)

    def tell(self, told: Told) -> None:
        self.mark()
        if self.stopped:
            told, self.stopped = Told(error=BREAKPOINT), False
        self.say(told)

    def _note_breakpoint(self, *_: object, **__: object) -> None:
        self.stopped = True


class _Server:
    def __init__(self, backend: Backend, line: _Line) -> None:
        self._backend = backend
        self._line = line
        self._is_probed = not isinstance(backend, StreamBackend)
        self._is_spared = False

    def serve(self) -> None:
        """Answer until requests end."""
        batch: list[Any] = []
        for asked in self._line.asked():
            if asked is not None and (plan := asked.scenario or asked.program) is not None:
                batch.append(plan)
            if asked is None or not self._backend.batch:
                self._play(batch)
                batch = []
                self._spare_what_stays()

    def _spare_what_stays(self) -> None:
        """Exclude the imported objects, of the first run as well, from all later collections."""
        if not self._is_spared:
            self._is_spared = True
            gc.collect()
            gc.freeze()

    def _play(self, scenarios: Sequence[Scenario]) -> None:
        count = len(scenarios)
        answers = _answers(lambda: self._runs(scenarios))
        for number in range(count):
            told = next(answers, None)
            if told is None:
                told = Told(error=f"scenarios given: {count}, traces given back: {number}")
            elif number + 1 == count and next(answers, told) is not told:
                told = Told(error=f"scenarios given: {count}, traces given back: more")
            self._line.tell(told)

    def _runs(self, scenarios: Sequence[Scenario]) -> Iterable[Trace]:
        if not self._is_probed:
            assert isinstance(self._backend, StreamBackend)
            probe(self._backend)
            self._is_probed = True
        return self._backend.run(scenarios)


def _answers(give: Callable[[], Iterable[object]]) -> Iterator[Told]:
    """Yield an answer for each object that a backend gives; its error as often as asked."""
    given: Iterator[object] | None = None
    while True:
        try:
            given = iter(give()) if given is None else given
            told = _told(next(given))
        except StopIteration:
            return
        except BaseException as error:
            told = _told_of_error(error)
            break
        yield told
    while True:
        yield told


def _told_of_error(error: BaseException) -> Told:
    if isinstance(error, AsyncWaitError) and not isinstance(error, OperatorError):
        return Told(refused=Refused.of(error))
    return Told(error=f"the backend raised {line_of(error)}")


def _told(trace: object) -> Told:
    if not isinstance(trace, Trace | MailboxTrace):
        return Told(error=f"expected a Trace, got {shown(trace)}")
    try:
        return Told(msgspec.Raw(_encode(trace)))
    except Exception as error:  # It holds something that no JSON can hold.
        return Told(error=f"the trace can't be told: {line_of(error)}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
