"""The owner of a module: the user, or an installed distribution, which counts by its version."""

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
_RELEASED = {"asyncwait", "py4j", "pyspark"}
"""Packages that count by their version wherever they are: a folder of Spark, a checkout."""

PYTHON = "python"


def origin_of(of: Any) -> str | None:
    """Return the version of the code of a module; None if the module is the user's own.

    The version is "python" for the standard library. For a distribution it is the name, the
    version, and a digest of the installed files. An editable installation is the user's own, and so
    is a package without a list of its files, or a module that is not loaded.

    Args:
        of: a module, its name, its globals, or a copy of these that came in a pickle.
    """
    of = sys.modules.get(of) if isinstance(of, str) else of
    names = vars(of) if isinstance(of, ModuleType) else of or {}
    file = names.get("__file__") or next(iter(names.get("__path__") or ()), None)
    return origin_at(str(names.get("__name__")), file)


def found(names: Mapping[str, Any], path: str) -> Any:
    """Return the object of a qualified name in a module; None if the module has none."""
    first, *rest = path.split(".")
    thing = names.get(first)
    for name in rest:
        thing = getattr(thing, name, None)
    return thing


@cache
def origin_at(name: str, file: str | None) -> str | None:
    """Return the same for a module's name and its file, or a folder of its package."""
    top = name.partition(".")[0]
    if top.startswith("_cython_"):
        return top  # What extensions share that Cython has made; the name has the version.
    if file is None:
        return PYTHON if top in sys.stdlib_module_names and top != "__main__" else None
    *folders, last = Path(file).parts
    if _INSTALLED.isdisjoint(folders):
        if top in _RELEASED:
            return _release(top)
        is_python = any(os.path.realpath(file).startswith(each) for each in _library())
        return PYTHON if is_python else None
    depth = 1 + max(at for at, part in enumerate(folders) if part in _INSTALLED)
    top = [*folders, last][depth].partition(".")[0]
    begins = (f"\n{top}/", f"\n{top}.")
    files = _records(Path(*folders[:depth]))
    owners = [folder for folder, text in files if any(each in text for each in begins)]
    return "; ".join(map(_distribution, owners)) or None


@cache
def _records(site: Path) -> list[tuple[Path, str]]:
    """Return folder and list of files of all distributions in a folder.

    `importlib.metadata.packages_distributions` takes a second for a hundred distributions.
    """
    files = sorted(site.glob("*.dist-info/RECORD"))
    return [(file.parent, "\n" + file.read_text(encoding="utf-8")) for file in files]


@cache
def _library() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return tuple(os.path.realpath(paths[each]) + os.sep for each in ("stdlib", "platstdlib"))


def _distribution(folder: Path) -> str:
    from importlib import metadata  # It takes as long as all other imports together.

    known = metadata.PathDistribution(folder)
    lines = (known.read_text("RECORD") or "").splitlines()
    files = sorted(line for line in lines if ".py,sha256" in line or ".so,sha256" in line)
    digest = blake2b("\n".join(files).encode(), digest_size=8).hexdigest()
    return f"{known.metadata['Name']} {known.version} {digest}"


def _release(top: str) -> str:
    """Return name and version of a package, wherever it is."""
    from importlib import metadata

    try:
        return f"{top} {metadata.version(top)}"
    except metadata.PackageNotFoundError:
        return f"{top} {getattr(sys.modules.get(top), '__version__', '')}".strip()
