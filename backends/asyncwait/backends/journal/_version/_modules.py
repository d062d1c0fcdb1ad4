"""The modules that count: the user's own by their text, installed distributions by version."""

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from importlib.machinery import ModuleSpec
from typing import Any, NamedTuple

from asyncwait.backends.journal._version._origin import origin_at
from asyncwait.backends.journal._version._source import (
    Scan,
    file_of,
    full_name,
    parsed,
    scanned,
    spec_named,
    spec_of,
    text_of,
)


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
