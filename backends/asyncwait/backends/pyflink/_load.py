"""PyFlink's own modules, as they are installed, loaded a second time among stand-ins.

Their `import threading` gives what takes turns with the loop. Whoever else uses PyFlink in this
process is not concerned.
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

from asyncwait.spec import AsyncWaitError, MissingExtra

RELEASE = "2.3.0"
"""The release that the expected failures of this backend were found on."""

_FOLDER = "pyflink.fn_execution.datastream.process.async_function"


_STAND_INS = ("asyncio", "datetime", "threading")
"""Modules that others of the same name here, but for an underline, stand in for."""


class PyFlinkUnavailable(AsyncWaitError, RuntimeError):
    """There is no PyFlink here that can be run."""


def require_pyflink() -> None:
    """Refuse to go on without PyFlink, or with another release of it.

    Raises:
        MissingExtra: it is not installed.
        PyFlinkUnavailable: it is another release.
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
    """Return the module that holds `AsyncOperation`, which the thread of a stage may use.

    Raises:
        MissingExtra: PyFlink is not installed.
        PyFlinkUnavailable: it is another release.
    """
    require_pyflink()
    around = {name: import_module(f"{__package__}._{name}") for name in _STAND_INS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyFlink imports what it calls deprecated
        around[f"{_FOLDER}.queue"] = _loaded(f"{_FOLDER}.queue", around)
        return _loaded(f"{_FOLDER}.operation", around)


def _loaded(name: str, around: Mapping[str, ModuleType]) -> ModuleType:
    """Return a module of PyFlink's, which finds some of what it imports in `around`."""
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)

    def imported(wanted: str, *rest: Any) -> Any:
        return around[wanted] if wanted in around else builtins.__import__(wanted, *rest)

    vars(module)["__builtins__"] = {**vars(builtins), "__import__": imported}
    spec.loader.exec_module(module)
    return module
