"""Modules of the user that a function needs, and that workers on other machines may lack."""

import io
import sys
import warnings
from contextlib import suppress
from importlib.metadata import packages_distributions
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any
from zipfile import BadZipFile, ZipFile

from pyspark import SparkFiles
from pyspark.cloudpickle import cloudpickle

from asyncwait.backends.spark._session import master_of
from asyncwait.backends.spark.frame._twice import caller
from asyncwait.spec.texts import one_line


def missing_modules(fn: Any) -> list[str]:
    """Return the modules to which `fn` refers, and which are no part of an installation."""
    referring = _Referring(io.BytesIO())
    referring.dump(fn)
    return sorted(name for name in referring.names if not _is_installed(name))


class _Referring(cloudpickle.Pickler):  # type: ignore[misc]
    """A pickler that collects the modules which a worker will import."""

    def __init__(self, file: Any) -> None:
        super().__init__(file)
        self.names: set[str] = set()

    def persistent_id(self, thing: Any) -> None:
        if not isinstance(thing, ModuleType | FunctionType | type):
            return
        if cloudpickle._should_pickle_by_reference(thing):  # noqa: SLF001 - the one rule for it
            name = thing.__name__ if isinstance(thing, ModuleType) else thing.__module__
            self.names.add(name.partition(".")[0])


def _is_installed(name: str) -> bool:
    if name in sys.stdlib_module_names or name in ("__main__", "asyncwait", "pyspark"):
        return True
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), None)
    if file is None or {"site-packages", "dist-packages"} & {*Path(file).parts}:
        return True
    return name in packages_distributions()


def warn_of_missing(session: Any, work: Any) -> None:
    """Warn of modules that `work` needs, unless the workers are on this machine or have them."""
    if (master_of(session) or "").startswith("local"):
        return
    context = getattr(session, "sparkContext", None)
    missing = [name for name in missing_modules(work) if name not in _added(context)]
    if not missing or (context is not None and context.listArchives):
        return
    how = "spark.addArtifacts(path, pyfile=True)" if context is None else "addPyFile(path)"
    names = one_line(", ".join(missing))
    text = f"workers on other machines may lack modules of fn: {names}; send each by {how}"
    warnings.warn_explicit(text, RuntimeWarning, *caller())


def _added(context: Any) -> set[str]:
    """Return the modules that `addPyFile` has sent."""
    names: set[str] = set()
    for file in () if context is None else context.listFiles:
        name = file.rpartition("/")[2]
        names.add(name.removesuffix(".py"))
        with suppress(OSError, BadZipFile), ZipFile(SparkFiles.get(name)) as zipped:
            names |= {each.partition("/")[0].removesuffix(".py") for each in zipped.namelist()}
    return names
