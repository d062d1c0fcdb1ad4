"""What a function is: its code, what is bound to it, and what it names."""

import builtins
import importlib
import importlib.util
import sys
from collections.abc import Iterator, Mapping
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

from asyncwait.backends.journal._version._code import digest_of
from asyncwait.backends.journal._version._origin import (
    PYTHON,
    found,
    origin_named,
    origin_of,
    origin_of_names,
)
from asyncwait.backends.journal._version._reach import Chain, Import, Reach, reach_of
from asyncwait.backends.journal._version._walk import Untold, Walk, constant, plain
from asyncwait.spec.texts import shown

_BLIND = {
    ("builtins", "eval"),
    ("builtins", "exec"),
    ("builtins", "__import__"),
    ("importlib", "import_module"),
    ("importlib._bootstrap", "__import__"),
    ("pkgutil", "resolve_name"),
    ("pydoc", "locate"),
    ("runpy", "run_module"),
    ("runpy", "run_path"),
}
"""What runs or finds code by a text."""

_BLIND_MODULES = {"builtins", "importlib", "sys"}
_BLIND_NAMES = {"__globals__", "__subclasses__", "_getframe", "currentframe", "f_globals"}
_DOCUMENTED = {"__doc__", "getdoc"}
_COPIED = ("__doc__", "__module__")
"""What `functools.wraps` writes on things that are no functions."""


def add_function(walk: Walk, fn: FunctionType) -> None:
    """Add a function; one of an installed package by its name, where that leads to it."""
    origin = origin_of_names(fn.__globals__)
    if origin is None:
        add_code(walk, fn.__code__, fn.__globals__)
        add_annotations(walk, fn, fn.__annotations__, fn.__globals__)
        walk.of(fn.__doc__ if walk.docs else None)
    else:
        _require_seen(fn)
        walk.tag("installed", origin, str(fn.__globals__["__name__"]), fn.__qualname__)
        if found(fn.__globals__, fn.__qualname__) is fn:
            return
        add_code(walk, fn.__code__)  # `wraps` gave it another name.
    if origin == PYTHON and fn.__code__.co_qualname == "singledispatch.<locals>.wrapper":
        walk.of(fn.registry, ".registry")  # type: ignore[attr-defined] # The rest is a cache.
        return
    walk.tag(fn.__name__, fn.__qualname__)
    walk.of(fn.__defaults__, ".__defaults__")
    walk.of(fn.__kwdefaults__, ".__kwdefaults__")
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
        walk.of(cell, f".{name}")
    walk.attributes(fn.__dict__, () if walk.docs else _COPIED)


def add_cell(walk: Walk, cell: CellType) -> None:
    """Add a variable of a closure."""
    try:
        content = cell.cell_contents
    except ValueError:
        walk.tag("empty cell")
    else:
        walk.tag("cell")
        walk.of(content)


def add_builtin(walk: Walk, thing: Any) -> None:
    """Add what is written in C, and what it is bound to."""
    _require_seen(thing)
    walk.tag("C", thing.__qualname__)
    if thing.__self__ is not None and not isinstance(thing.__self__, ModuleType):
        walk.of(thing.__self__, ".__self__")
    elif thing.__module__ is not None:
        if (origin := origin_named(thing.__module__)) is None:
            raise Untold(f"{shown(thing)}, which is no Python code")
        walk.tag(origin, thing.__module__)


def add_annotations(walk: Walk, of: Any, told: Mapping[str, Any], scope: Mapping[str, Any]) -> None:
    """Add annotations, and what those name that are texts."""
    if (code := getattr(of, "__annotate__", None)) is not None:
        walk.of(code)
        return
    for name, each in told.items():
        walk.of(name)
        walk.of(each, f".__annotations__[{name!r}]")
        for text in _texts(each):
            try:
                code = compile(text, "annotation", "eval", dont_inherit=True)
            except SyntaxError:
                continue
            add_code(walk, code, scope)


def _texts(annotation: Any) -> Iterator[str]:
    """Yield the texts in an annotation, which name types that are looked up later."""
    text = getattr(annotation, "__forward_arg__", annotation)
    if isinstance(text, str):
        yield text
    arguments = getattr(annotation, "__args__", ())
    for each in arguments if isinstance(arguments, tuple) else ():
        yield from _texts(each)


def add_code(walk: Walk, code: CodeType, scope: Mapping[str, Any] | None = None) -> None:
    """Add a code, and what it reaches.

    Args:
        walk: goes on.
        code: of a function, a class or an expression.
        scope: its globals; None if it is not of the user's own.
    """
    walk.tag("code")
    walk.digest.update(digest_of(code, constant))
    if walk.docs and isinstance((*code.co_consts, None)[0], str):
        walk.of(code.co_consts[0])
    if scope is None:
        return
    reach = reach_of(code)
    walk.asks_for_docs = walk.asks_for_docs or not _DOCUMENTED.isdisjoint(reach.mentioned)
    for name in sorted(_BLIND_NAMES & reach.mentioned):
        raise Untold(f"what {name!r} leads to", f".{name}")
    for name, chains in sorted(reach.names.items()):
        _add_name(walk, name, chains, scope)
    for each in reach.imports:
        _add_import(walk, each, reach, scope)


def _add_name(walk: Walk, name: str, chains: set[Chain], scope: Mapping[str, Any]) -> None:
    if name in scope:
        walk.tag(name)
        _add_reached(walk, scope[name], chains, name)
    elif hasattr(builtins, name):
        thing = getattr(builtins, name)
        walk.tag(f"builtin {name}")
        _require_seen(thing, f" -> {name}")
        _add_put_there(walk, thing, f" -> {name}")
        if thing is globals:
            _add_all(walk, scope)
    else:
        walk.tag(f"no {name}")


def _add_reached(walk: Walk, thing: Any, chains: set[Chain], label: str) -> None:
    if not isinstance(thing, ModuleType) or () in chains:
        walk.of(thing, f" -> {label}")
        return
    with walk.at(f" -> {label}"):
        _add_used(walk, thing, chains)


def add_module(walk: Walk, module: ModuleType) -> None:
    """Add all that is in a module; one that is installed by its name."""
    if (origin := origin_of(module)) is None:
        _add_all(walk, vars(module))
    elif module.__name__ in _BLIND_MODULES:
        raise Untold("what finds code by a text")
    else:
        walk.tag("installed", origin, module.__name__)


def _add_all(walk: Walk, scope: Mapping[str, Any]) -> None:
    names = sorted(name for name in scope if not name[:2] == name[-2:] == "__")
    walk.attributes({name: scope[name] for name in names})
    walk.of(scope.get("__getattr__"), ".__getattr__")


def _add_used(walk: Walk, module: ModuleType, chains: set[Chain]) -> None:
    if (origin := origin_of(module)) is not None:
        walk.tag("installed", origin, module.__name__)
        for chain in sorted(chains):
            thing, label = found(vars(module), ".".join(chain)), "".join(f".{n}" for n in chain)
            _require_seen(thing, label)
            _add_put_there(walk, thing, label)
        return
    for name in sorted({chain[0] for chain in chains}):
        walk.tag(name)
        if "__getattr__" in vars(module):
            walk.of(vars(module)["__getattr__"], ".__getattr__")
        try:
            thing = getattr(module, name)
        except AttributeError:
            walk.tag("no such name")
            continue
        rest = {chain[1:] for chain in chains if chain[0] == name}
        if isinstance(thing, ModuleType):
            _add_reached(walk, thing, rest, name)
        else:
            walk.of(thing, f".{name}")


def _add_put_there(walk: Walk, thing: Any, label: str) -> None:
    """Add what somebody may have set in a module that is not the user's own."""
    is_named = isinstance(thing, FunctionType | type)
    if plain(thing) is not None or (is_named and origin_named(thing.__module__) is None):
        walk.of(thing, label)


def _add_import(walk: Walk, each: Import, reach: Reach, scope: Mapping[str, Any]) -> None:
    name = "." * each.level + each.module
    try:
        package = scope.get("__package__") or scope.get("__name__", "").rpartition(".")[0]
        name = importlib.util.resolve_name(name, package)
        thing = _imported(name, each.item)
    except Exception as error:
        raise Untold(f"a module that can't be imported here ({error})", f" -> {name}") from error
    chains = reach.variables[each.bound] | reach.names[each.bound]
    walk.tag(each.bound)
    if not isinstance(thing, ModuleType):
        walk.of(thing, f" -> {name}.{each.item}")
    elif chains or each.escapes:
        chains |= {()} if each.escapes else set()
        _add_reached(walk, thing, chains, f"{name}.{each.item}" if each.item else name)


def _imported(name: str, item: str | None) -> Any:
    """Return what an import binds; see `Import`."""
    module = importlib.import_module(name)
    if item == "":
        return sys.modules[name.partition(".")[0]]
    if item is None:
        return module
    if not hasattr(module, item):
        importlib.import_module(f"{name}.{item}")
    return getattr(module, item)


def _require_seen(thing: Any, path: str = "") -> None:
    named = (getattr(thing, "__module__", None), getattr(thing, "__qualname__", None))
    if thing is sys.modules or (type(named[0]) is type(named[1]) is str and named in _BLIND):
        raise Untold("what runs or finds code by a text", path)
