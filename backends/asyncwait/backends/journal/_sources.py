"""Source text of the user's modules, and versions of installed distributions."""

import ast
import importlib.util
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from hashlib import blake2b
from importlib.machinery import SOURCE_SUFFIXES, ModuleSpec
from pathlib import Path
from typing import Any, NamedTuple

PYTHON = "python"
"""Origin of the standard library, whose version is the one of Python."""

_INSTALLED = {"site-packages", "dist-packages"}
_RELEASED = {"asyncwait", "py4j", "pyspark"}
"""Packages that count by their version wherever they are: a folder of Spark, a checkout."""

_LOADERS = re.compile(
    r"eval|exec|compile|__loader__|__spec__"
    r"|(.*\.)?(__(builtins|globals|import|subclasses)__|_getframe|currentframe|f_globals|CodeType"
    r"|import_module|import_string|resolve_name|(iter_)?entry_points|module_from_spec"
    r"|spec_from_file_location|Source(less)?FileLoader|(C|Py|Win)DLL|cdll|dlopen|LoadLibrary)"
    r"|importlib\.(machinery|reload|util)|pkgutil\.(find_loader|get_loader)|pydoc\.locate"
    r"|sys\.(meta_path|modules|path_hooks)|import (builtins|cffi|code|codeop|ctypes"
    r"|importlib\.(machinery|util)|marshal|pkg_resources|runpy|stevedore|zipimport)(\..*)?"
)
"""Names by which code runs a text, or finds other code by a text that no import shows.

An attribute stands behind the name of its object and a dot, a module behind "import".
"""


class Undetermined(Exception):
    """A part of a function has no digest; the text says which part, and why."""


class Entry(NamedTuple):
    """A part of a version, as `asyncwait journal explain` lists it."""

    kind: str
    name: str
    digest: str


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

    def modules(self, package: str) -> list[str]:
        """Return the full name of the module, and of its items, which may be modules, too."""
        name = self.name
        if name[0] == ".":
            name = importlib.util.resolve_name(name, package)
        return [name, *(f"{name}.{item}" for item in self.items)]


class Scan(NamedTuple):
    """The imports of a text, and its uses of names that hide dependencies.

    Args:
        imports: import statements at any depth.
        loaders: line and name of each use of a name that loads code.
        computed: lines with a `getattr` whose name is computed, or that is passed on.
    """

    imports: tuple[Imported, ...] = ()
    loaders: tuple[tuple[int, str], ...] = ()
    computed: frozenset[int] = frozenset()

    def on(self, lines: set[int | None]) -> "Scan":
        """Return the part that stands on these lines."""
        return Scan(
            tuple(each for each in self.imports if each.line in lines),
            tuple(each for each in self.loaders if each[0] in lines),
            frozenset(self.computed & lines),
        )


@lru_cache(maxsize=512)
def scanned(text: str) -> Scan:
    """Scan the text of a module, a script or a notebook cell."""
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    imports: list[Imported] = []
    loaders: set[tuple[int, str]] = set()
    computed: set[int] = set()
    aliases: dict[str, str] = {}
    tree = compile(text, "source", "exec", flags, dont_inherit=True)
    todo: list[tuple[ast.AST, bool]] = [(tree, False)]
    while todo:
        node, guarded = todo.pop()
        children = [each for each in ast.iter_child_nodes(node) if each._fields]
        names: list[str] = []
        match node:
            case ast.Subscript(slice=ast.Name(id="__name__")):
                continue  # `sys.modules[__name__]`: a module finds itself, for cloudpickle.
            case ast.Import(names=parts, lineno=line):
                names = [f"import {each.name}" for each in parts]
                imports += (Imported(line, each.name, (), guarded) for each in parts)
                aliases |= {each.asname: each.name for each in parts if each.asname}
            case ast.ImportFrom(module=module, names=parts, level=level, lineno=line):
                items = tuple(each.name for each in parts)
                if level == 0:
                    full = [f"{module}.{item}" for item in items]
                    names = [*full, *(f"import {each}" for each in (module, *full))]
                imports.append(Imported(line, "." * level + (module or ""), items, guarded))
            case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(), *_]):
                children = children[1:]  # Its name stands in the text.
            case ast.Name(id=name, lineno=line):
                names = [name]
                computed |= {line} if name == "getattr" else set()
            case ast.Attribute(value=value, attr=name):
                base = value.id if isinstance(value, ast.Name) else ""
                names = [f"{aliases.get(base, base)}.{name}"]
            case ast.Constant(value=str(name)):
                names = [f".{name}"]
        names = [each.removeprefix("import ") for each in names if _LOADERS.fullmatch(each)]
        loaders |= {(getattr(node, "lineno", 0), each.lstrip(".")) for each in names}
        guards = guarded or isinstance(node, ast.If | ast.Try | ast.TryStar)
        todo += [(each, guards) for each in reversed(children)]
    return Scan(tuple(imports), tuple(sorted(loaders)), frozenset(computed))


class Sources:
    """Modules of the user, followed through their imports, and installed distributions."""

    def __init__(self) -> None:
        self._scans: dict[str, tuple[Scan | None, str]] = {}
        self._origins = set[str]()
        self._unread: list[tuple[Scan, str, str]] = []

    def entries(self) -> Iterator[Entry]:
        """Yield the modules and the distributions, ordered by name."""
        for name, (_, digest) in sorted(self._scans.items()):
            yield Entry("module", name, digest)
        for origin in sorted(self._origins):
            name, _, digest = origin.partition("|")
            yield Entry("package", name, digest)

    def installed(self, origin: str) -> None:
        """Collect an installed distribution."""
        self._origins.add(origin)

    def module(self, name: str) -> Scan | None:
        """Collect a module of the user with its imports; return None if it has no source."""
        if name not in self._scans:
            self._collect(name, spec_named(name))
            self._follow()
        return self._scans[name][0]

    def imports(self, scan: Scan, package: str, where: str) -> None:
        """Collect the modules that a text imports.

        Raises:
            Undetermined: a text loads code that no import shows, or a module is missing.
        """
        self._unread.append((scan, package, where))
        self._follow()

    def _follow(self) -> None:
        while self._unread:
            scan, package, where = self._unread.pop()
            for line, name in scan.loaders[:1]:
                what = f"line {line} of {where} uses {name}, which loads code that no import shows"
                raise Undetermined(what)
            for each in scan.imports:
                name, *items = each.modules(package)
                if not self._imported(name):
                    if not each.guarded:
                        raise Undetermined(f"{where} imports {name}, which is not installed here")
                    self._origins.add(f"no {name}")
                for item in items:
                    self._imported(item)

    def is_own(self, name: str) -> bool:
        """Return True for a module of the user that exists."""
        spec = spec_named(name)
        return spec is not None and origin_at(spec.name, _file(spec)) is None

    def _imported(self, name: str) -> bool:
        """Collect a module and its packages; return False if the module is missing."""
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            spec = spec_named(".".join(parts[:end]))
            if spec is None:
                return False
            if (origin := origin_at(spec.name, _file(spec))) is not None:
                self._origins.add(origin)
                return True
            if spec.name not in self._scans:
                self._collect(spec.name, spec)
        return True

    def _collect(self, name: str, spec: ModuleSpec | None) -> None:
        text = None if spec is None else _text(spec)
        if spec is None or text is None:
            self._scans[name] = None, "no source"
            return
        try:
            scan = scanned(text)
        except SyntaxError as error:
            raise Undetermined(f"the source of module {name} can't be parsed: {error}") from error
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16)
        self._scans[name] = scan, digest.hexdigest()
        self._unread.append((scan, spec.parent or "", f"module {name}"))


def spec_named(name: str) -> ModuleSpec | None:
    """Return the spec of a module, and load only its packages; None if the module is missing."""
    module = sys.modules.get(name)
    if module is None or getattr(module, "__spec__", None) is not None:
        try:
            return importlib.util.find_spec(name)
        except Exception:  # Its package is missing, or raises when it is loaded.
            return None
    spec = ModuleSpec(
        name, module.__dict__.get("__loader__"), origin=module.__dict__.get("__file__")
    )
    spec.has_location = spec.origin is not None
    return spec


def _file(spec: ModuleSpec) -> str | None:
    """Return the file of a module, or the first folder of a package without a file."""
    folders = spec.submodule_search_locations or ()
    return spec.origin if spec.has_location else next(iter(folders), None)


def _text(spec: ModuleSpec) -> str | None:
    if spec.loader is None and spec.submodule_search_locations:
        return ""  # a namespace
    get, file = getattr(spec.loader, "get_source", None), _file(spec)
    try:
        if get is not None:
            return get(spec.name)  # type: ignore[no-any-return]
        if file is not None and file.endswith(tuple(SOURCE_SUFFIXES)):
            return importlib.util.decode_source(Path(file).read_bytes())
    except (ImportError, OSError):
        pass
    return None


def origin_of(module: str | Mapping[str, Any] | None) -> str | None:
    """Return the origin of installed code; None for a module of the user.

    The origin is "python" for the standard library, and else name and version of a distribution
    with a digest of its installed files. An editable installation is the user's own.

    Args:
        module: the name of a module, or its globals, which may have come in a pickle.
    """
    names = vars(sys.modules.get(module, object)) if isinstance(module, str) else module or {}
    file = names.get("__file__") or next(iter(names.get("__path__") or ()), None)
    return origin_at(module if isinstance(module, str) else str(names.get("__name__")), file)


@cache
def origin_at(name: str, file: str | None) -> str | None:
    """Return the origin of a module by its name and its file, or a folder of its package."""
    top = name.partition(".")[0]
    if file is None:
        if top.startswith("_cython_"):  # All extensions share it; its name has the version.
            return top
        return PYTHON if top in sys.stdlib_module_names and top != "__main__" else None
    *folders, last = Path(file).parts
    if _INSTALLED.isdisjoint(folders):
        if top in _RELEASED:
            return _release(top)
        library = map(sysconfig.get_path, ("stdlib", "platstdlib"))
        path = Path(file).resolve()
        return (
            PYTHON if any(path.is_relative_to(Path(each).resolve()) for each in library) else None
        )
    depth = 1 + max(at for at, part in enumerate(folders) if part in _INSTALLED)
    top = [*folders, last][depth].partition(".")[0]
    begins = (f"\n{top}/", f"\n{top}.")
    files = _records(Path(*folders[:depth]))
    return "; ".join(_named(*each) for each in files if any(b in each[1] for b in begins)) or None


@cache
def _records(site: Path) -> list[tuple[str, str]]:
    """Return the list of files of each distribution in a folder, by name and version.

    `importlib.metadata.packages_distributions` takes a second for a hundred distributions.
    """
    files = sorted(site.glob("*.dist-info/RECORD"))
    return [(file.parent.stem, "\n" + file.read_text(encoding="utf-8")) for file in files]


def _named(distribution: str, record: str) -> str:
    lines = (each for each in record.splitlines() if re.search(r"\.(py|so),sha256", each))
    digest = blake2b("\n".join(sorted(lines)).encode(), digest_size=8).hexdigest()
    return f"{distribution.replace('-', ' ')}|{digest}"


def _release(top: str) -> str:
    from importlib import metadata  # It takes as long as all other imports together.

    try:
        return f"{top} {metadata.version(top)}"
    except metadata.PackageNotFoundError:
        return f"{top} {getattr(sys.modules.get(top), '__version__', '')}".strip()


def found(names: Mapping[str, Any], path: str) -> Any:
    """Return the object of a qualified name in a module; None if the module has none."""
    first, *rest = path.split(".")
    thing = names.get(first)
    for name in rest:
        thing = getattr(thing, name, None)
    return thing


def words(constants: Iterable[Any]) -> Iterator[str]:
    """Yield the names in texts: "model", "settings.model", or "{settings.model}" in a format."""
    for text in constants:
        if type(text) is str:
            fields = re.findall(r"{[^{}]*}", text)
            is_name = re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*", text)
            yield from re.findall(r"[^\W\d]\w*", text if is_name else " ".join(fields))
