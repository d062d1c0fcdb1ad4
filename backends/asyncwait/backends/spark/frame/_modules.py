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


def missing_modules(fn: Any) -> set[str]:
    """Return the modules to which `fn` refers, and which belong to no installation."""
    referring = _Referring(io.BytesIO())
    referring.dump(fn)
    return {name for name in referring.names if not _is_installed(name)}


class _Referring(cloudpickle.Pickler):  # type: ignore[misc]
    """A pickler that collects the modules which a worker will import."""

    def __init__(self, file: Any) -> None:
        super().__init__(file)
        self.names: set[str] = set()

    def persistent_id(self, thing: Any) -> None:
        refers = cloudpickle._should_pickle_by_reference  # noqa: SLF001 - cloudpickle's own rule
        if isinstance(thing, ModuleType | FunctionType | type) and refers(thing):
            name = thing.__name__ if isinstance(thing, ModuleType) else thing.__module__
            self.names.add(name.partition(".")[0])


def _is_installed(name: str) -> bool:
    if name in {*sys.stdlib_module_names, "__main__", "asyncwait", "pyspark"}:
        return True
    module = sys.modules[name]
    paths = (getattr(module, "__file__", None), *getattr(module, "__path__", ()))
    parts = {part for path in paths if path for part in Path(path).parts}
    in_place = not parts or parts & {"site-packages", "dist-packages"}
    return bool(in_place) or name in packages_distributions()


def warn_of_missing(session: Any, work: Any) -> None:
    """Warn of modules that `work` needs, unless the workers are on this machine or have them."""
    if (master_of(session) or "").startswith("local"):
        return
    context = getattr(session, "sparkContext", None)
    how = "spark.addArtifacts(path, pyfile=True)"
    missing = missing_modules(work)
    if context is not None:
        missing, how = missing - _added(context), "addPyFile(path)"
    if missing and (context is None or not context.listArchives):
        names = one_line(", ".join(sorted(missing)))
        text = f"workers on other machines may lack modules of fn: {names}; send each by {how}"
        warnings.warn_explicit(text, RuntimeWarning, *caller())


def _added(context: Any) -> set[str]:
    names: set[str] = set()
    for file in (each.rpartition("/")[2] for each in context.listFiles):
        names.add(file.removesuffix(".py"))
        if file.endswith((".zip", ".egg")):
            with suppress(OSError, BadZipFile), ZipFile(SparkFiles.get(file)) as zipped:
                names |= {each.partition("/")[0].removesuffix(".py") for each in zipped.namelist()}
    return names
