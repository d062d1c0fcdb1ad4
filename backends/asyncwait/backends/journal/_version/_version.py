"""Which version of a function it is: a digest of what runs, not of the text that it is made of."""

import sys
from typing import Any

from asyncwait.backends.journal._version._things import add
from asyncwait.backends.journal._version._walk import Untold, Walk
from asyncwait.spec import InvalidConfig

_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
_RULE = "code-2"


def version_of(
    fn: Any, *, asker: str = "journal", way_out: str = "Journal(path, job, version)"
) -> str:
    """Return a version of a function for a `Journal`.

    It is a digest of its code as it runs, of what is bound to it (closures, defaults, `partial`,
    the object of a method, attributes, decorators), and of what all that reaches: the functions,
    classes and values of the user's own modules that it names, imports inside of it included.
    Layout, comments, docstrings and where in a file it stands don't count. The standard library
    counts by the version of Python, 3.11 for example, and an installed package by its version and
    what was installed; one that is installed so that it can be edited is the user's own.

    What it reads from outside (environment, files, services), or is set in modules of installed
    packages, is not seen. Docstrings count where code asks for `__doc__`, and where a class
    derives from one of an installed package, which may make a prompt of it.

    Args:
        fn: a function or any other thing that can be called.
        asker: what needs it, as an error says.
        way_out: what to write where there is no telling.

    Returns:
        For example "code-2:3.11:" and 32 hexadecimal digits.

    Raises:
        InvalidConfig: there is no telling what some of that is.
    """
    walk = Walk(add, docs=False)
    try:
        walk.through(fn)
        if walk.asks_for_docs:
            walk = Walk(add, docs=True)
            walk.through(fn)
    except Exception as error:
        name = getattr(fn, "__qualname__", type(fn).__qualname__)
        what, label = f"nothing that can be looked at ({type(error).__name__}: {error})", ""
        if isinstance(error, Untold):
            what, label = error.what, error.label
        text = (
            f"{asker}: there is no telling the version of {name}: {name}{walk.path[:500]}{label} "
            f"is {what}; use {way_out}"
        )
        raise InvalidConfig(text) from error
    return f"{_RULE}:{_PYTHON}:{walk.digest.hexdigest()}"
