"""How a backend is found by its name. That runs its code, so a child process does it."""

import importlib
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import PurePath
from typing import Any, cast

from msgspec import Struct

from asyncwait.conformance._words import nearest
from asyncwait.conformance.expected_failures import expected_failures_of
from asyncwait.conformance.harness import line_of
from asyncwait.conformance.running._backend import Backend, require_capabilities
from asyncwait.spec import InvalidConfig, MissingExtra


def imported(name: str) -> Any:
    """Import a module and return what stands in it; that runs its code.

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
"""The same for backends that need an environment of their own: not among those that are shipped."""
FAMILIES = "asyncwait.backend_families"
"""Entry points: name -> function that returns a mapping of names to factories.

A factory of what is made to break a rule may say so: it has the id of the rule as its `rule`, and a
sentence on what is wrong as its `sentence`."""
MAILBOX_FAMILIES = "asyncwait.mailbox_families"
"""The same of mailboxes, whose names are those that `asyncwait verify --mailbox` takes."""
MAILBOX = "--mailbox="
"""Stands before the name of a task mailbox where a child process is asked for it."""
DISTRIBUTION = "asyncwait"
"""Whose entry points are shipped; all others are someone else's."""


class UnknownBackend(InvalidConfig):
    """No backend has that name, or it can't be made."""


def known_backends() -> dict[str, Callable[[], Backend]]:
    """Return a loader for each backend that is installed, by name; see `broken_families`."""
    known: dict[str, Callable[[], Backend]] = {}
    for members in _families().values():
        if not isinstance(members, str):
            known.update(members)
    return known | _registered()


class Fault(Struct, frozen=True):
    """Something that is made to break a rule."""

    name: str
    rule: str
    how: str


def known_faults() -> tuple[Fault, ...]:
    """Return what families say of themselves; one that can't be loaded says nothing."""
    families = [*_families().values(), *_families(MAILBOX_FAMILIES).values()]
    members = (each for each in families if not isinstance(each, str))
    return tuple(
        Fault(name, str(factory.rule), str(getattr(factory, "sentence", "")))
        for each in members
        for name, factory in each.items()
        if hasattr(factory, "rule")
    )


def broken_families() -> dict[str, str]:
    """Return why each family that can't be loaded can't, by its name."""
    return {name: why for name, why in _families().items() if isinstance(why, str)}


def _registered() -> dict[str, Callable[[], Backend]]:
    """Return the backends that are registered one by one: none is loaded for it."""
    return {
        entry.name: partial(_make, entry)
        for group in (GROUP, APART)
        for entry in entry_points(group=group)
    }


def _families(group: str = FAMILIES) -> dict[str, Mapping[str, Any] | str]:
    """Load each family: its members by name, or why it has none."""
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

    Families stay out, and so does what can't be installed beside the others.
    """
    return sorted(
        entry.name
        for entry in entry_points(group=GROUP)
        if entry.dist is not None and entry.dist.name.lower() == DISTRIBUTION
    )


def load_backend(name: str) -> Backend:
    """Return the backend that has this name, in this process.

    Args:
        name: registered, or "module:callable".

    Raises:
        UnknownBackend: there is none; its module can't be imported; its factory raises, or
            returns something else, or a backend that declares what nobody can go by. The message
            says which.
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
        from asyncwait.conformance.mailbox import mailbox_backend

        return partial(mailbox_backend, name.removeprefix(MAILBOX))
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
