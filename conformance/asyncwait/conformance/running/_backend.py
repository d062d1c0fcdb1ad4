"""What a backend is to the suite, and how one is found by name."""

import importlib
import shlex
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol, cast, runtime_checkable

from msgspec import Struct

from asyncwait.conformance.harness import LoopName, play, play_in_real_time
from asyncwait.conformance.running._isolated import REAL_SECONDS, ChildPlayer
from asyncwait.spec import InvalidConfig, MissingExtra, OpenOperator
from asyncwait.spec.scenario import ALL_CAPABILITIES, Capability, Scenario, Trace, declared

GROUP = "asyncwait.backends"
"""Entry points: name -> factory of one backend."""
FAMILIES = "asyncwait.backend_families"
"""Entry points: name -> function that returns a mapping of names to factories."""
DISTRIBUTION = "asyncwait"
"""Whose entry points are shipped; all others are someone else's."""


@runtime_checkable
class Backend(Protocol):
    """Something that plays scenarios on an operator."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What it can do."""
        ...

    @property
    def exceptions(self) -> Mapping[str, str]:
        """Rules that it is known to break, each with the reason."""
        ...

    @property
    def in_child(self) -> bool:
        """Whether the suite may run it in a child process, which can be ended from outside."""
        ...

    def run(self, scenarios: Sequence[Scenario]) -> Iterable[Trace]:
        """Play `scenarios`; give one trace for each, in order, as they come."""
        ...


class StreamBackend(Struct, frozen=True):
    """A backend that is an `open_operator` in this process.

    It runs on a virtual clock; without that capability on the real one, on the grid.
    """

    open_operator: OpenOperator
    loop: LoopName = "asyncio"
    capabilities: frozenset[Capability] = ALL_CAPABILITIES
    exceptions: Mapping[str, str] = {}
    in_child: bool = True

    def run(self, scenarios: Sequence[Scenario]) -> Iterator[Trace]:
        """Play `scenarios` one after the other, each in an event loop of its own."""
        virtual = Capability.VIRTUAL_TIME in self.capabilities
        for scenario in scenarios:
            yield (play if virtual else play_in_real_time)(self.open_operator, scenario, self.loop)


def stream_backend(
    open_operator: OpenOperator,
    *,
    loop: LoopName = "asyncio",
    profiles: Iterable[str] | None = None,
    lacks: Iterable[str] = (),
    drains_at_barrier: bool = False,
    exceptions: Mapping[str, str] | None = None,
) -> StreamBackend:
    """Make a backend of an operator; return it from a factory to have it verified.

    Args:
        open_operator: see `asyncwait.spec.OpenOperator`.
        loop: "asyncio" or "trio".
        profiles: what it has besides the core: "ordered", "unordered" or both, and any of
            "timeouts", "callbacks", "event-time", "snapshots", "restore"; None for all of them.
            Rules that need another one do not apply, and no scenario asks for it.
        lacks: further capabilities that it does not have; see `asyncwait.spec.scenario.Capability`.
        drains_at_barrier: it takes no snapshot before nothing is in flight.
        exceptions: ids of rules that it is known to break, each with the reason.

    Raises:
        InvalidConfig: an argument is wrong.
        MissingExtra: trio is asked for and not installed.
    """
    if not callable(open_operator):
        raise InvalidConfig.of("open_operator", open_operator, "callable")
    if loop not in {"asyncio", "trio"}:
        raise InvalidConfig.of("loop", loop, "'asyncio' or 'trio'")
    if loop == "trio":
        _require_trio()
    capabilities = declared(profiles, lacks)
    if drains_at_barrier:
        capabilities -= {Capability.IN_FLIGHT_SNAPSHOT}
    if exceptions is None:
        exceptions = {}
    _require_exceptions(exceptions)
    return StreamBackend(open_operator, loop, capabilities, exceptions)


def _require_exceptions(exceptions: Any) -> None:
    fits = isinstance(exceptions, Mapping) and all(
        isinstance(rule, str) and isinstance(reason, str) for rule, reason in exceptions.items()
    )
    if not fits:
        expected = "a mapping of ids of rules to reasons, like {'END-4': 'the reason'}"
        raise InvalidConfig.of("exceptions", exceptions, expected)


def _require_capabilities(capabilities: Any) -> None:
    if not isinstance(capabilities, set | frozenset) or not capabilities <= ALL_CAPABILITIES:
        expected = "a set of capabilities; see asyncwait.spec.scenario.declared"
        raise InvalidConfig.of("capabilities", capabilities, expected)


def _require_trio() -> None:
    try:
        importlib.import_module("trio")
    except ImportError:
        raise MissingExtra("trio", "trio") from None


class ExecBackend(Struct, frozen=True):
    """A program, in any language, that speaks JSON lines; its traces are its own words.

    Args:
        command: what to start.
        patience: seconds of the real clock for one scenario.
    """

    command: tuple[str, ...]
    patience: float = REAL_SECONDS
    capabilities: frozenset[Capability] = ALL_CAPABILITIES
    exceptions: Mapping[str, str] = {}
    in_child: bool = False

    def run(self, scenarios: Sequence[Scenario]) -> Iterator[Trace]:
        """Send `scenarios` to the program, one per line."""
        with ChildPlayer(self.command, real_seconds=self.patience, self_reported=True) as player:
            yield from player.play(scenarios)


EXEC = "exec:"


def exec_reference(command: str) -> str:
    """Return the name under which `load_backend` knows the program that `command` starts."""
    return EXEC + command


class UnknownBackend(InvalidConfig):
    """No backend has that name, or it can't be made."""


def known_backends() -> dict[str, Callable[[], Backend]]:
    """Return a loader for each backend that is installed, by name; see `broken_families`."""
    known: dict[str, Callable[[], Backend]] = {}
    for members in _families().values():
        if not isinstance(members, str):
            known.update(members)
    return known | _registered()


def broken_families() -> dict[str, str]:
    """Return why each family that can't be loaded can't, by its name."""
    return {name: why for name, why in _families().items() if isinstance(why, str)}


def _registered() -> dict[str, Callable[[], Backend]]:
    """Return the backends that are registered one by one: none is loaded for it."""
    return {entry.name: partial(_make, entry) for entry in entry_points(group=GROUP)}


def _families() -> dict[str, Mapping[str, Callable[[], Backend]] | str]:
    """Load each family: its members by name, or why it has none."""
    found: dict[str, Mapping[str, Callable[[], Backend]] | str] = {}
    for entry in entry_points(group=FAMILIES):
        try:
            found[entry.name] = dict(entry.load()())
        except (Exception, SystemExit) as error:
            found[entry.name] = repr(error)
    return found


def _make(entry: EntryPoint) -> Backend:
    backend: Backend = entry.load()()
    return backend


def shipped_backends() -> list[str]:
    """Return the names that this distribution registers one by one; families stay out."""
    return sorted(
        entry.name
        for entry in entry_points(group=GROUP)
        if entry.dist is not None and entry.dist.name.lower() == DISTRIBUTION
    )


def load_backend(reference: str) -> Backend:
    """Return the backend that `reference` names.

    Args:
        reference: a registered name, or "module:callable".

    Raises:
        UnknownBackend: there is none; its module can't be imported; its factory raises, or
            returns something else, or a backend that declares what nobody can go by. The message
            says which.
        MissingExtra: it needs a package that is not installed.
    """
    backend = _factory(reference)
    if not isinstance(backend, Backend):
        msg = f"backend {reference!r}: expected a backend from its factory, got {backend!r}"
        raise UnknownBackend(f"{msg}; return stream_backend(open_operator)")
    try:
        _require_capabilities(backend.capabilities)
        _require_exceptions(backend.exceptions)
    except InvalidConfig as error:
        raise UnknownBackend(f"backend {reference!r}: {error}") from error
    return backend


def _factory(reference: str) -> Any:
    """Return what the factory behind `reference` gives."""
    if reference.startswith(EXEC):
        return _program(reference.removeprefix(EXEC))
    try:
        return _found(reference)()
    except UnknownBackend:
        raise
    except InvalidConfig as error:
        raise UnknownBackend(f"backend {reference!r}: {error}") from error
    except MissingExtra:
        raise
    except (Exception, SystemExit) as error:
        raise UnknownBackend(f"backend {reference!r}: its factory raised {error!r}") from error


def _program(command: str) -> ExecBackend:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UnknownBackend(f"the command {command!r} can't be read: {error}") from error
    if not words or shutil.which(words[0]) is None:
        raise UnknownBackend(f"the command {command!r} can't be started: no such program")
    return ExecBackend(tuple(words))


def _found(reference: str) -> Callable[[], Any]:
    """Return the factory that `reference` names."""
    module_name, colon, attribute = reference.partition(":")
    if not colon:
        # Families are loaded only for a name that is not registered by itself.
        known = _registered()
        if reference not in known:
            known = known_backends()
        if reference not in known:
            names = ", ".join(sorted(known))
            msg = f"no backend is named {reference!r}; known: {names}; or give module:callable"
            broken = [
                f"; {name}: can't be loaded: {why}" for name, why in broken_families().items()
            ]
            raise UnknownBackend(msg + "".join(broken))
        return known[reference]
    if not module_name or not attribute:
        raise UnknownBackend(f"backend {reference!r}: expected module:callable")
    try:
        found: Any = importlib.import_module(module_name)
    except MissingExtra:
        raise
    except (Exception, SystemExit) as error:
        raise UnknownBackend(f"backend {reference!r}: can't import it: {error!r}") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise UnknownBackend(f"backend {reference!r}: {module_name} has no {attribute!r}")
        found = getattr(found, part)
    return cast("Callable[[], Any]", found)
