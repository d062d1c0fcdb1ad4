"""The modules that count: the user's own by their text, installed distributions by version."""

import ast
import importlib.util
import linecache
import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from importlib.machinery import SOURCE_SUFFIXES, ModuleSpec
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

from asyncwait.backends.journal._version._origin import origin_at

MAIN = {"__main__", "__mp_main__"}
"""Modules of which only the definitions count that a function reaches: scripts and notebooks."""

_NAMES = re.compile("eval|exec|compile|__(import|builtins|loader|spec)__")
_ATTRIBUTES = re.compile(
    "__(builtins|globals|import|subclasses)__|_getframe|currentframe|f_globals|CodeType"
    "|import_module|import_string|(iter_)?entry_points|module_from_spec|spec_from_file_location"
    "|Source(less)?FileLoader|(C|Py|Win)DLL|cdll|dlopen|LoadLibrary"
)
_MODULES = re.compile(
    r"(builtins|cffi|code|codeop|ctypes|importlib\.(machinery|util)|marshal|pkg_resources|runpy"
    r"|stevedore|zipimport)(\..*)?|importlib\.reload|pkgutil\.(find_loader|get_loader|resolve_name)"
    r"|pydoc\.locate|sys\.(meta_path|modules|path_hooks)"
)
_NAMING = (ast.Name, ast.Attribute, ast.Constant, ast.Call, ast.Import, ast.ImportFrom)
_CALLED = re.compile("FunctionType|LambdaType")
"""Names of what runs a text or finds code by one: names, attributes, modules, and calls."""


class Imported(NamedTuple):
    """An import statement.

    Args:
        line: number of its line.
        name: of the module, with a dot for each level.
        items: names taken from the module.
        guarded: the statement stands below `if` or `try`, so the module may be missing.
    """

    line: int
    name: str
    items: tuple[str, ...]
    guarded: bool


class Scan(NamedTuple):
    """What a text imports and uses.

    Args:
        imports: import statements at any depth.
        loaders: line and name of each use of what loads code that no import shows.
        computed: lines with a `getattr` whose name is computed, or that is passed on.
    """

    imports: tuple[Imported, ...] = ()
    loaders: tuple[tuple[int, str], ...] = ()
    computed: frozenset[int] = frozenset()


@lru_cache(maxsize=512)
def parsed(text: str) -> ast.Module:
    """Return the syntax tree of a module, a script or a notebook cell."""
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    return compile(text, "source", "exec", flags, dont_inherit=True)  # type: ignore[no-any-return]


@lru_cache(maxsize=512)
def scanned(tree: ast.AST) -> Scan:
    """Return what a module or a statement imports and uses."""
    imports: list[Imported] = []
    loaders: set[tuple[int, str]] = set()
    computed: set[int] = set()
    aliases: dict[str, str] = {}
    todo: list[tuple[ast.AST, bool]] = [(tree, False)]
    while todo:
        node, guarded = todo.pop()
        guards = guarded or isinstance(node, ast.If | ast.Try | ast.TryStar)
        if isinstance(node, ast.Subscript) and getattr(node.slice, "id", "") == "__name__":
            continue  # `sys.modules[__name__]`: a module finds itself, for cloudpickle.
        children = [each for each in ast.iter_child_nodes(node) if each._fields]
        if _is_plain_getattr(node):
            children = children[1:]  # It is called, and not passed on.
        todo += [(each, guards) for each in reversed(children)]
        match node:
            case ast.Import(names=names, lineno=line):
                imports += (Imported(line, each.name, (), guarded) for each in names)
                aliases |= {each.asname: each.name for each in names if each.asname}
            case ast.ImportFrom(module=module, names=names, level=level, lineno=line):
                items = tuple(each.name for each in names)
                imports.append(Imported(line, "." * level + (module or ""), items, guarded))
            case ast.Name(id="getattr", lineno=line):
                computed.add(line)
        if isinstance(node, _NAMING):
            loaders |= {(node.lineno, name) for name in _loaders(node, aliases)}
    return Scan(tuple(imports), tuple(sorted(loaders)), frozenset(computed))


def _is_plain_getattr(node: ast.AST) -> bool:
    """Say whether a node is a call of `getattr` with a name that stands in the source."""
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(), *_]):
            return True
    return False


def _loaders(node: ast.AST, aliases: Mapping[str, str]) -> Iterator[str]:
    """Yield the names in a node that load code which no import shows."""
    match node:
        case ast.Name(id=name) if _NAMES.fullmatch(name):
            yield name
        case ast.Constant(value=str(name)) if _ATTRIBUTES.fullmatch(name):
            yield name
        case ast.Attribute(value=value, attr=name):
            base = value.id if isinstance(value, ast.Name) else ""
            dotted = f"{aliases.get(base, base)}.{name}".lstrip(".")
            if _ATTRIBUTES.fullmatch(name) or _MODULES.fullmatch(dotted):
                yield dotted
        case ast.Import(names=names):
            yield from (each.name for each in names if _MODULES.fullmatch(each.name))
        case ast.ImportFrom(module=str(module), names=names, level=0):
            for name in (each.name for each in names):
                if _MODULES.fullmatch(f"{module}.{name}") or _ATTRIBUTES.fullmatch(name):
                    yield f"{module}.{name}"
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if _CALLED.fullmatch(name):
            yield name


def full_name(of: Imported, package: str | None) -> str:
    """Return the name of an imported module without dots before it."""
    return importlib.util.resolve_name(of.name, package or "") if of.name[0] == "." else of.name


def spec_of(names: Mapping[str, Any]) -> ModuleSpec:
    """Return where a module with these globals comes from; a pickle may have copied them."""
    name, file = str(names.get("__name__")), names.get("__file__")
    module = sys.modules.get(name)
    if module is not None and vars(module).get("__file__") == file:
        names = vars(module)
    if isinstance(spec := names.get("__spec__"), ModuleSpec):
        return spec
    spec = ModuleSpec(name, names.get("__loader__"), origin=file)
    spec.submodule_search_locations = names.get("__path__")
    spec.has_location = file is not None
    return spec


def spec_named(name: str) -> ModuleSpec | None:
    """Return where a module comes from, without loading it; None if it is missing."""
    if (module := sys.modules.get(name)) is not None:
        return spec_of(vars(module))
    package, folders = name.rpartition(".")[0], None
    if package:
        parent = spec_named(package)
        folders = None if parent is None else parent.submodule_search_locations
        if folders is None:
            return None
    finders = (getattr(finder, "find_spec", None) for finder in sys.meta_path)
    return next((spec for find in finders if find and (spec := find(name, folders, None))), None)


def file_of(spec: ModuleSpec) -> str | None:
    """Return the file of a module, or the first folder of a package without a file."""
    folders = spec.submodule_search_locations or ()
    return spec.origin if spec.has_location else next(iter(folders), None)


def text_of(spec: ModuleSpec) -> str | None:
    """Return the source text of a module; None if it has none."""
    if spec.loader is None and spec.submodule_search_locations:
        return ""  # a namespace
    get, file, text = getattr(spec.loader, "get_source", None), file_of(spec), None
    try:
        text = None if get is None else get(spec.name)
        if text is None and file is not None and file.endswith(tuple(SOURCE_SUFFIXES)):
            text = importlib.util.decode_source(Path(file).read_bytes())
    except (ImportError, OSError):
        pass
    return text if text is not None or file is None else cell(file, {})


def cell(file: str, names: Mapping[str, Any]) -> str | None:
    """Return the text of a script or a notebook cell; None if no source exists."""
    return "".join(linecache.getlines(file, dict(names))) or None


def definition_of(code: CodeType, names: Mapping[str, Any]) -> tuple[str, ast.stmt] | None:
    """Return the text and the tree of the smallest statement that defines a code."""
    text = cell(code.co_filename, names)
    return None if text is None else _smallest(text, code.co_firstlineno)


def definition_named(name: str, names: Mapping[str, Any]) -> tuple[str, ast.stmt] | None:
    """Return the same of a class in a script, or in the newest notebook cell that has it."""
    cells = [file for file, entry in linecache.cache.items() if entry[1:2] == (None,)]
    for file in [*cells[::-1], *filter(None, [names.get("__file__")])]:
        text = cell(file, names) or ""
        nodes = _statements(text) if f"class {name}" in text else ()
        begins = [_begin(n) for n in nodes if isinstance(n, ast.ClassDef) and n.name == name]
        if begins:
            return _smallest(text, begins[-1])
    return None


def _smallest(text: str, line: int) -> tuple[str, ast.stmt] | None:
    around = [each for each in _statements(text) if _begin(each) <= line <= (each.end_lineno or 0)]
    if not around:
        return None
    node = min(around, key=lambda each: (each.end_lineno or 0) - _begin(each))
    return "\n".join(text.splitlines()[_begin(node) - 1 : node.end_lineno]), node


@lru_cache(maxsize=64)
def _statements(text: str) -> list[ast.stmt]:
    return [node for node in ast.walk(parsed(text)) if isinstance(node, ast.stmt)]


def _begin(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


class Undetermined(Exception):
    """A part of the function cannot be determined.

    Args:
        what: the reason; a whole sentence, or one whose subject is the path of the walk.
        is_whole: `what` is a whole sentence.
    """

    def __init__(self, what: str, *, is_whole: bool = True) -> None:
        super().__init__(what)
        self.what = what
        self.is_whole = is_whole


class Entry(NamedTuple):
    """A part of a version, as `asyncwait journal explain` lists it."""

    kind: str
    name: str
    digest: str


class Modules:
    """Collects modules, and follows their imports, directly and indirectly."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, str], tuple[Scan, str]] = {}
        self._origins = set[str]()
        self._unread: list[tuple[Scan, str, str]] = []

    def entries(self) -> Iterator[Entry]:
        """Yield everything that was collected, ordered by name."""
        for (name, _), (_, text) in sorted(self._texts.items()):
            yield Entry("module", name, text)
        for origin in sorted(self._origins):
            parts = origin.split(" ") if origin.count(" ") == 2 else [origin]  # noqa: PLR2004
            yield Entry("package", " ".join(parts[:2]), "".join(parts[2:]))

    def installed(self, origin: str) -> None:
        """Collect an installed distribution."""
        self._origins.add(origin)

    def source(self, names: Mapping[str, Any]) -> Scan:
        """Collect the module with these globals, and the modules that it imports."""
        scan = self._module(spec_of(names))
        self._read()
        return scan

    def imports(self, scan: Scan, package: str, where: str) -> None:
        """Collect the modules that a text imports.

        Raises:
            Undetermined: a text loads code that no import shows, or a module or its source is
                missing.
        """
        self._unread.append((scan, package, where))
        self._read()

    def _read(self) -> None:
        while self._unread:
            scan, package, where = self._unread.pop()
            for line, name in scan.loaders[:1]:
                what = f"line {line} of {where} uses {name}, which loads code that no import shows"
                raise Undetermined(what)
            for each in scan.imports:
                name = full_name(each, package)
                spec = self._imported(name)
                if spec is None:
                    if not each.guarded:
                        raise Undetermined(f"{where} imports {name}, which is not installed here")
                    self._origins.add(f"no {name}")
                elif spec.submodule_search_locations and _origin(spec) is None:
                    for item in each.items:
                        self._imported(f"{name}.{item}")

    def _imported(self, name: str) -> ModuleSpec | None:
        """Collect a module and the packages round it; return None if the module is missing."""
        parts = name.split(".")
        spec = None
        for end in range(1, len(parts) + 1):
            spec = spec_named(".".join(parts[:end]))
            if spec is None:
                break
            if (origin := _origin(spec)) is not None:
                self._origins.add(origin)
                break
            self._module(spec)
        return spec

    def _module(self, spec: ModuleSpec) -> Scan:
        key = spec.name, file_of(spec) or ""
        if key not in self._texts:
            text = text_of(spec)
            if text is None:
                raise Undetermined(f"no source of module {spec.name} is found, at {key[1] or None}")
            try:
                scan = scanned(parsed(text))
            except SyntaxError as error:
                what = f"the source of module {spec.name} can't be parsed: {error}"
                raise Undetermined(what) from error
            data = text.encode("utf-8", "surrogatepass")
            self._texts[key] = scan, blake2b(data, digest_size=16).hexdigest()
            self._unread.append((scan, spec.parent or "", f"module {spec.name}"))
        return self._texts[key][0]


def _origin(spec: ModuleSpec) -> str | None:
    return origin_at(spec.name, file_of(spec))
