"""The version of a function: a digest of source text, of versions and of the values it holds."""

import sys
from typing import Any

from asyncwait.backends.journal._version._source import Entry, Undetermined
from asyncwait.backends.journal._version._things import add
from asyncwait.backends.journal._version._walk import Walk
from asyncwait.spec import InvalidConfig

_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
RULE = "source-1"


def version_of(
    fn: Any, *, asker: str = "journal", way_out: str = 'Journal(path, job, version="1")'
) -> str:
    """Return a version of a function for a `Journal`.

    The version is a digest of:

    - the source text of the function's module and of all modules of the user's own that this
      module imports, directly or indirectly, with comments and docstrings; of a function of a
      script or a notebook, the definitions that it reaches, and the modules that these use;
    - the versions of Python, 3.11 for example, and of the installed distributions in use. An
      editable installation is the user's own;
    - the values in closures, defaults, attributes, `partial`, instances and globals that the
      function reaches, with the data below subclasses of `str`, `dict` and the like.

    So a changed comment is another version, too; `Journal(path, job, version="2")` decides
    otherwise. Data outside of Python is no part of it: environment, files, services.

    Args:
        fn: a function or any other object that can be called.
        asker: the part of asyncwait that needs the version, for errors.
        way_out: how to give a version explicitly, for errors.

    Returns:
        For example "source-1:3.11:" and 32 hexadecimal digits.

    Raises:
        InvalidConfig: a part can't be determined: no source exists, code is loaded from a text or
            by names that no import shows, or a value such as a socket has no state to compare.
    """
    return explained(fn, asker=asker, way_out=way_out)[0]


def explained(
    fn: Any, *, asker: str = "journal", way_out: str = 'Journal(path, job, version="1")'
) -> tuple[str, list[Entry]]:
    """Return the version of a function, and everything that it is a digest of."""
    if not callable(fn) and not hasattr(fn, "async_invoke"):
        raise InvalidConfig.of("fn", fn, "a function, or an object that can be called")
    walk = Walk(add)
    name = getattr(fn, "__qualname__", type(fn).__qualname__)
    try:
        told = walk.through(fn, name)
    except Exception as error:
        what = f"{walk.path[:500]} can't be read ({type(error).__name__}: {error})"
        if isinstance(error, Undetermined):
            what = error.what if error.is_whole else f"{walk.path[:500]} is {error.what}"
        text = f"{asker}: the version of {name} can't be determined: {what}; use {way_out}"
        raise InvalidConfig(text) from error
    return f"{RULE}:{_PYTHON}:{told}", walk.entries
