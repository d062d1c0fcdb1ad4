"""Whose a module is: the user's own, of which every change counts, or an installed package's."""

import importlib
import os
import sys
import sysconfig
from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from pathlib import Path
from types import ModuleType
from typing import Any

_INSTALLED = {"site-packages", "dist-packages"}
_WITH_SPARK = {"pyspark", "py4j"}
"""They may lie in a folder of Spark's own, beside no metadata."""

PYTHON = "python"


def origin_of(module: ModuleType) -> str | None:
    """Return what tells the code of a module; None if it is the user's own.

    That is "python" for the standard library, and name, version and a digest of the files that
    were installed for a distribution. What is installed so that it can be edited is the user's own.
    """
    names = vars(module)  # not by `getattr`: a module may have a `__getattr__`
    file = names.get("__file__") or next(iter(names.get("__path__", ())), None)
    return _origin(module.__name__, file)


def origin_named(name: Any) -> str | None:
    """Return the same for the name of a module; one that is not loaded is the user's own."""
    module = sys.modules.get(name) if isinstance(name, str) else None
    return None if module is None else origin_of(module)


def origin_of_names(names: Mapping[str, Any]) -> str | None:
    """Return the same for the globals of a function, be they a copy that came in a pickle."""
    module = sys.modules.get(str(names.get("__name__")))
    is_its = module is not None and names.get("__file__") == vars(module).get("__file__")
    return origin_of(module) if is_its and module is not None else None


def found(names: Mapping[str, Any], path: str) -> Any:
    """Return what a qualified name leads to in a module; None if that is nothing."""
    first, *rest = path.split(".")
    thing = names.get(first)
    for name in rest:
        thing = getattr(thing, name, None)
    return thing


@cache
def _origin(name: str, file: str | None) -> str | None:
    top = name.partition(".")[0]
    if top == "__main__":
        return None
    if file is None:
        return PYTHON if top in sys.stdlib_module_names else None
    path = Path(file)
    if _INSTALLED.isdisjoint(path.parts):
        if top in _WITH_SPARK:
            return f"{top} {importlib.import_module(f'{top}.version').__version__}"
        is_python = any(os.path.realpath(path).startswith(each) for each in _library())
        return PYTHON if is_python else None
    names = sorted(set(_distributions(tuple(sys.path)).get(top, ())))
    return "; ".join(map(_distribution, names)) or None


@cache
def _distributions(_: tuple[str, ...]) -> Mapping[str, list[str]]:
    """Return which ones have each top-level name, on a path; to read them all takes long."""
    from importlib import metadata  # It takes as long as all others together.

    return metadata.packages_distributions()


@cache
def _library() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return tuple(os.path.realpath(paths[each]) + os.sep for each in ("stdlib", "platstdlib"))


def _distribution(name: str) -> str:
    """Return name, version and a digest of the files, which tells two builds of one version."""
    from importlib import metadata

    known = metadata.distribution(name)
    lines = (known.read_text("RECORD") or "").splitlines()
    files = sorted(line for line in lines if ".py,sha256" in line or ".so,sha256" in line)
    digest = blake2b("\n".join(files).encode(), digest_size=8).hexdigest()
    return f"{name} {known.version} {digest}"
