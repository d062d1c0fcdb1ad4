"""Lookup of a backend by its name. It runs the backend's code, so a child process does it."""

import asyncio
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import PurePath
from typing import Any, cast

from msgspec import Struct

from asyncwait.conformance.expected_failures import GivenFailures, expected_failures_of
from asyncwait.conformance.harness import line_of
from asyncwait.conformance.running._backend import Backend, require_capabilities
from asyncwait.spec import InvalidConfig, MissingExtra
from asyncwait.spec.mailbox import OpenProcessor
from asyncwait.spec.mailbox.program import MailboxPlan, MailboxTrace
from asyncwait.spec.scenario import Capability
from asyncwait.spec.texts import nearest
from asyncwait.toolkit import running_loop


def imported(name: str) -> Any:
    """Import a module and return an attribute of it; this runs the module's code.

    Args:
        name: "module:attribute"; the attribute may have dots in it.

    Raises:
        ValueError: it can't be found; the message says why.
        MissingExtra: the module needs a package that is not installed.
    """
    module, colon, attribute = name.partition(":")
    if not (colon and module and attribute):
        raise ValueError(f"expected module:callable, got {name!r}")
    if module.endswith(".py") or "/" in module:
        meant = f"{PurePath(module).stem}:{attribute}"
        raise ValueError(f"expected module:callable, {module} is a file; in its folder: {meant}")
    found = _module(module)
    for part in attribute.split("."):
        if not hasattr(found, part):
            hint = nearest(part, dir(found))
            raise ValueError(f"{module} has no {attribute!r}{hint}")
        found = getattr(found, part)
    return found


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except MissingExtra:
        raise
    except BaseException as error:
        raise ValueError(f"can't import it: {line_of(error)}") from error


GROUP = "asyncwait.backends"
"""Entry points: name -> factory of one backend."""
APART = "asyncwait.backends_apart"
"""The same for backends that need an environment of their own; they do not count as shipped."""
FAMILIES = "asyncwait.backend_families"
"""Entry points: name -> function that returns a mapping of names to factories.

A factory of a backend that is made to break a rule may say so: the attribute `rule` has the id of
the rule, and `sentence` describes the fault."""
MAILBOX_FAMILIES = "asyncwait.mailbox_families"
"""The same for mailboxes, under the names that `asyncwait verify --mailbox` takes."""
MAILBOX = "--mailbox="
"""Prefix of a task mailbox's name in the arguments of a child process."""
DISTRIBUTION = "asyncwait"
"""The distribution whose entry points count as shipped."""


class UnknownBackend(InvalidConfig):
    """The name is unknown, or its backend can't be made."""


def known_backends() -> dict[str, Callable[[], Backend]]:
    """Return a loader for each installed backend, by name; see `broken_families`."""
    known: dict[str, Callable[[], Backend]] = {}
    for members in _families().values():
        if not isinstance(members, str):
            known.update(members)
    return known | _registered()


class Fault(Struct, frozen=True):
    """A backend or mailbox that is made to break a rule."""

    name: str
    rule: str
    how: str


def known_faults() -> tuple[Fault, ...]:
    """Return the declared faults of all families that can be loaded."""
    families = [*_families().values(), *_families(MAILBOX_FAMILIES).values()]
    members = (each for each in families if not isinstance(each, str))
    return tuple(
        Fault(name, str(factory.rule), str(getattr(factory, "sentence", "")))
        for each in members
        for name, factory in each.items()
        if hasattr(factory, "rule")
    )


def broken_families() -> dict[str, str]:
    """Return, for each family that can't be loaded, the reason by its name."""
    return {name: why for name, why in _families().items() if isinstance(why, str)}


def _registered() -> dict[str, Callable[[], Backend]]:
    """Return the backends that are registered one by one, without loading them."""
    return {
        entry.name: partial(_make, entry)
        for group in (GROUP, APART)
        for entry in entry_points(group=group)
    }


def _families(group: str = FAMILIES) -> dict[str, Mapping[str, Any] | str]:
    """Load each family: its members by name, or the reason why it can't be loaded."""
    found: dict[str, Mapping[str, Any] | str] = {}
    for entry in entry_points(group=group):
        try:
            found[entry.name] = dict(entry.load()())
        except (Exception, SystemExit) as error:
            found[entry.name] = line_of(error)
    return found


def _make(entry: EntryPoint) -> Backend:
    backend: Backend = entry.load()()
    return backend


def shipped_backends() -> list[str]:
    """Return the names that this distribution registers one by one.

    Families are left out, and backends that can't be installed beside the others.
    """
    return sorted(
        entry.name
        for entry in entry_points(group=GROUP)
        if entry.dist is not None and entry.dist.name.lower() == DISTRIBUTION
    )


def load_backend(name: str) -> Backend:
    """Return the backend of this name, in this process.

    Args:
        name: registered, or "module:callable".

    Raises:
        UnknownBackend: the name is unknown; its module can't be imported; its factory raises, or
            returns something else, or a backend with invalid declarations. The message says
            which.
        MissingExtra: it needs a package that is not installed.
    """
    backend = _made(name)
    if not isinstance(backend, Backend):
        msg = f"backend {name!r}: expected a backend from its factory, got {backend!r}"
        raise UnknownBackend(f"{msg}; return stream_backend(open_operator)")
    try:
        require_capabilities(backend.capabilities)
        expected_failures_of(backend.expected_failures)
    except InvalidConfig as error:
        raise UnknownBackend(f"backend {name!r}: {error}") from error
    return backend


def _made(name: str) -> Any:
    try:
        return _found(name)()
    except (UnknownBackend, MissingExtra):
        raise
    except InvalidConfig as error:
        raise UnknownBackend(f"backend {name!r}: {error}") from error
    except (Exception, SystemExit) as error:
        said = line_of(error)
        raise UnknownBackend(f"backend {name!r}: its factory raised {said}") from error


def _found(name: str) -> Callable[[], Any]:
    if name.startswith(MAILBOX):
        return partial(_mailbox_backend, name.removeprefix(MAILBOX))
    if ":" not in name:
        return _installed(name)
    try:
        return cast("Callable[[], Any]", imported(name))
    except ValueError as error:
        raise UnknownBackend(f"backend {name!r}: {error}") from error


def _installed(name: str) -> Callable[[], Any]:
    # Families are loaded only for a name that is not registered by itself.
    known = _registered()
    if name not in known:
        known = known_backends()
    if name in known:
        return known[name]
    broken = [f"; {family}: can't be loaded: {why}" for family, why in broken_families().items()]
    raise UnknownBackend(
        f"no backend is named {name!r}: give a name that asyncwait backends lists, or "
        f"module:callable{nearest(name, known)}{''.join(broken)}"
    )


class MailboxBackend(Struct, frozen=True):
    """A mailbox that plays programs in the present process."""

    open_processor: OpenProcessor
    capabilities: frozenset[Capability] = frozenset()
    expected_failures: GivenFailures = {}
    batch: bool = False

    def run(self, plans: Sequence[MailboxPlan]) -> Iterator[MailboxTrace]:
        """Play `plans` one after the other."""
        from asyncwait.conformance.mailbox import play_program

        return (play_program(plan.program, self.open_processor, plan.stage) for plan in plans)


_PARTS = ("mailbox", "executor", "run", "suspend")
"""Names that a processor must have; see `asyncwait.spec.mailbox.Processor` for all."""


def _mailbox_backend(name: str) -> MailboxBackend:
    """Return the mailbox that `name` opens, after a trial opening shows that it is a mailbox.

    Args:
        name: "module:callable".

    Raises:
        UnknownBackend: it can't be opened, or is no mailbox; the message says why.
        MissingExtra: its module needs a package that is not installed.
    """

    def refused(why: str) -> UnknownBackend:
        return UnknownBackend(f"mailbox {name!r}: {why}")

    async def opened() -> Any:
        return found(running_loop(), lambda _: None)

    try:
        found = imported(name)
    except ValueError as error:
        raise refused(str(error)) from error
    if not callable(found):
        raise refused(f"expected a callable, {name} is {type(found).__name__}")
    try:
        given = asyncio.run(opened())
    except BaseException as error:
        raise refused(f"opening it raised {line_of(error)}") from error
    if missing := [part for part in _PARTS if not hasattr(given, part)]:
        raise refused(
            f"opening it gave a {type(given).__name__}, which has no {', no '.join(missing)}; "
            "see asyncwait.spec.mailbox.Processor"
        )
    return MailboxBackend(cast("OpenProcessor", found))
