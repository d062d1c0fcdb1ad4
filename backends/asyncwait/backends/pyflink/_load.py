"""PyFlink's own modules, as installed, loaded a second time with replacements.

Their `import threading` gets a module whose threads take turns with the loop. Other users of
PyFlink in this process are not affected.
"""

import builtins
import importlib.util
import warnings
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import Any

from asyncwait.backends.flink import RELEASE
from asyncwait.spec import AsyncWaitError, MissingExtra

_FOLDER = "pyflink.fn_execution.datastream.process.async_function"


_STAND_INS = ("asyncio", "datetime", "threading")
"""Modules that are replaced by the module of this package with the same name and an underscore."""


class PyFlinkUnavailable(AsyncWaitError, RuntimeError):
    """The installed PyFlink cannot run here."""


def require_pyflink() -> None:
    """Refuse a missing PyFlink, or another release of it.

    Raises:
        MissingExtra: PyFlink is not installed.
        PyFlinkUnavailable: another release is installed.
    """
    try:
        found = version("apache-flink")
    except PackageNotFoundError:
        raise MissingExtra("apache-flink", "pyflink") from None
    if found != RELEASE:
        raise PyFlinkUnavailable(
            f"PyFlink {found} is installed, and this backend knows {RELEASE}; "
            f"try: pip install apache-flink=={RELEASE}"
        )


@cache
def operation() -> Any:
    """Return the module of `AsyncOperation`; only the thread of a stage may call it.

    Raises:
        MissingExtra: PyFlink is not installed.
        PyFlinkUnavailable: another release is installed.
    """
    require_pyflink()
    around = {name: import_module(f"{__package__}._{name}") for name in _STAND_INS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyFlink imports deprecated names
        around[f"{_FOLDER}.queue"] = _loaded(f"{_FOLDER}.queue", around)
        return _loaded(f"{_FOLDER}.operation", around)


def _loaded(name: str, around: Mapping[str, ModuleType]) -> ModuleType:
    """Return a module of PyFlink's, whose imports are looked up in `around` first."""
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)

    def imported(wanted: str, *rest: Any) -> Any:
        return around[wanted] if wanted in around else builtins.__import__(wanted, *rest)

    vars(module)["__builtins__"] = {**vars(builtins), "__import__": imported}
    spec.loader.exec_module(module)
    return module
