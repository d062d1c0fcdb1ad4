"""Functions: their code, the objects bound to them, and the globals that they name."""

import builtins
import dis
import importlib
import re
from collections.abc import Iterator, Mapping
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

from asyncwait.backends.journal._version._origin import (
    PYTHON,
    found,
    origin_at,
    origin_of,
)
from asyncwait.backends.journal._version._source import (
    MAIN,
    Scan,
    Undetermined,
    definition_named,
    definition_of,
    file_of,
    full_name,
    scanned,
    spec_named,
)
from asyncwait.backends.journal._version._walk import Walk, require_import
from asyncwait.spec.texts import shown

_SHIFTS = {"LOAD_GLOBAL": 1, "LOAD_NAME": 0, "LOAD_FROM_DICT_OR_GLOBALS": 0}
"""Operations that load a global, and the bits of their argument beside the name."""
_GLOBAL = {dis.opmap[name]: bits for name, bits in _SHIFTS.items() if name in dis.opmap}
_COMPUTED = {"__dict__", "attrgetter", "dir", "getmembers", "vars"}
"""Names by which code may get at any attribute."""
_NAME, _FIELD = re.compile(r"[^\W\d]\w*"), re.compile(r"{[^{}]*}")


def add_function(walk: Walk, fn: FunctionType) -> None:
    """Add a function; an installed function by its name, if the name leads to it."""
    if fn.__name__ == "__hash__" and fn.__code__.co_filename.startswith("<attrs generated"):
        walk.tag("attrs", fn.__qualname__)  # It has the hash of a text, another in each process.
        return
    origin = origin_of(fn.__globals__)
    if origin is None:
        _add_code(walk, fn.__code__, fn.__globals__, _add_source(walk, fn))
        walk.of(getattr(fn, "__annotate__", None) or fn.__annotations__, ".__annotations__")
    else:
        require_import(fn, fn.__qualname__)
        walk.installed(origin, str(fn.__globals__["__name__"]), fn.__qualname__)
        if found(fn.__globals__, fn.__qualname__) is fn:
            return
        _add_bytes(walk, fn.__code__)  # `wraps` gave it another name.
    if origin == PYTHON and fn.__code__.co_qualname == "singledispatch.<locals>.wrapper":
        walk.of(fn.registry, ".registry")  # type: ignore[attr-defined] # The rest is a cache.
        return
    walk.tag(fn.__name__, fn.__qualname__)
    walk.of(fn.__doc__)
    walk.value(fn.__defaults__, ".__defaults__")
    walk.value(fn.__kwdefaults__, ".__kwdefaults__")
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
        walk.value(cell, f".{name}")
    walk.attributes(fn.__dict__)


def _add_source(walk: Walk, fn: FunctionType) -> Scan:
    """Add the source of a function: of its module, or in a script or notebook its definition."""
    code, names = fn.__code__, fn.__globals__
    is_of_dataclass = code.co_qualname.startswith("__create_fn__.<locals>.")
    is_of_tuple = str(names.get("__name__")).startswith("namedtuple_")
    if code.co_filename == "<string>" and (is_of_dataclass or is_of_tuple):
        return Scan()
    if names.get("__name__") not in MAIN:
        return walk.modules.source(names)
    if (defined := definition_of(code, names)) is None:
        where = f"{fn.__qualname__} ({code.co_filename}, line {code.co_firstlineno})"
        raise Undetermined(f"no source of {where} is found")
    return _add_definition(walk, defined, fn.__qualname__, names)


def _add_definition(walk: Walk, defined: Any, name: str, names: Mapping[str, Any]) -> Scan:
    text, node = defined
    walk.tag("definition", text)
    scan = scanned(node)
    walk.modules.imports(scan, names.get("__package__") or "", f"the source of {name}")
    return scan


def add_class_source(walk: Walk, cls: type, names: Mapping[str, Any]) -> None:
    """Add the source of a class: of its module, or in a script or notebook its definition."""
    if cls.__module__ not in MAIN:
        walk.modules.source(names)
    elif (defined := definition_named(cls.__name__, names)) is not None:
        _add_definition(walk, defined, cls.__qualname__, names)


def add_cell(walk: Walk, cell: CellType) -> None:
    """Add a variable of a closure."""
    try:
        content = cell.cell_contents
    except ValueError:
        walk.tag("empty cell")
    else:
        walk.of(content)


def add_builtin(walk: Walk, thing: Any) -> None:
    """Add a function that is written in C, and the object to which it is bound."""
    require_import(thing, thing.__qualname__)
    walk.is_computed |= thing is getattr
    walk.tag("C", thing.__qualname__)
    if thing.__self__ is not None and not isinstance(thing.__self__, ModuleType):
        walk.of(thing.__self__, ".__self__")
    elif thing.__module__ is not None:
        if (origin := origin_of(thing.__module__)) is None:
            raise Undetermined(f"{shown(thing)}, which is no Python code", is_whole=False)
        walk.installed(origin, thing.__module__)


def _add_code(walk: Walk, code: CodeType, names: Mapping[str, Any], scan: Scan) -> None:
    _add_bytes(walk, code)
    named: set[str] = set()
    lines: set[int | None] = set()
    for each in _codes(code):
        walk.mentions.update(each.co_names, *map(_names_in, each.co_consts))
        named.update(_globals_of(each))
        lines.update(line for *_, line in each.co_lines())
    walk.is_computed |= bool(_COMPUTED & walk.mentions or scan.computed & lines)
    for name in sorted(named):
        walk.tag(name)
        if name in names:
            walk.value(names[name], f" -> {name}")
        elif (thing := getattr(builtins, name, None)) is not None:
            require_import(thing, name)
            if thing is globals:
                walk.scope(names)
            elif isinstance(thing, FunctionType):  # The user put it there.
                walk.of(thing, f" -> {name}")
    for imported in scan.imports:
        if imported.line in lines:
            name = full_name(imported, names.get("__package__"))
            for module in (name, *(f"{name}.{item}" for item in imported.items)):
                _add_import(walk, module)


def _names_in(constant: Any) -> list[str]:
    """Return what a text may name: "model", "settings.model", or "{settings.model}" in a format."""
    if type(constant) is not str:
        return []
    names = _NAME.findall(constant)
    return (
        names if ".".join(names) == constant else _NAME.findall(" ".join(_FIELD.findall(constant)))
    )


def _add_import(walk: Walk, name: str) -> None:
    if package := name.rpartition(".")[0]:
        _add_import(walk, package)
    spec = spec_named(name)
    if spec is not None and origin_at(spec.name, file_of(spec)) is None:
        try:
            walk.module(importlib.import_module(name))
        except Exception as error:
            what = f"module {name} can't be imported here ({type(error).__name__}: {error})"
            raise Undetermined(what) from error


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)


def _globals_of(code: CodeType) -> Iterator[str]:
    """Yield the globals that a code loads; `dis.get_instructions` takes ten times as long."""
    argument = 0
    for operation, low in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        argument = argument << 8 | low
        if operation in _GLOBAL:
            yield code.co_names[argument >> _GLOBAL[operation]]
        if operation != dis.EXTENDED_ARG:
            argument = 0


def _add_bytes(walk: Walk, code: CodeType) -> None:
    """Add what a code does, wherever it stands: the text on the disk may be a newer one."""
    for each in _codes(code):
        counts = (each.co_flags, each.co_argcount, each.co_posonlyargcount, each.co_kwonlyargcount)
        tables = (each.co_names, each.co_varnames, each.co_freevars, each.co_cellvars)
        walk.tag(each.co_name, each.co_qualname, repr(counts), repr(tables))
        walk.tag(each.co_code.hex(), each.co_exceptiontable.hex())
        walk.items("constants", (one for one in each.co_consts if not isinstance(one, CodeType)))
