"""What stands in a module, by its name: `module:attribute`."""

import importlib
from pathlib import PurePath
from typing import Any

from asyncwait.conformance._nearest import nearest
from asyncwait.conformance.harness import line_of
from asyncwait.spec import MissingExtra


def imported(name: str) -> Any:
    """Import a module and return what stands in it; that runs its code.

    Args:
        name: "module:attribute"; the attribute may have dots in it.

    Raises:
        ValueError: it can't be found; the message says why.
        MissingExtra: the module needs a package that is not installed.
    """
    module, colon, attribute = name.partition(":")
    if not (colon and module and attribute):
        raise ValueError(f"expected module:callable, got {name!r}")
    if module.endswith(".py") or "/" in module:
        meant = f"{PurePath(module).stem}:{attribute}"
        raise ValueError(f"expected module:callable, {module} is a file; in its folder: {meant}")
    found = _module(module)
    for part in attribute.split("."):
        if not hasattr(found, part):
            hint = nearest(part, dir(found))
            raise ValueError(f"{module} has no {attribute!r}{hint}")
        found = getattr(found, part)
    return found


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except MissingExtra:
        raise
    except BaseException as error:
        raise ValueError(f"can't import it: {line_of(error)}") from error
