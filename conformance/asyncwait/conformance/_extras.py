"""Packages that the suite needs beyond the harness: an error names a missing one."""

from collections.abc import Generator
from contextlib import contextmanager

from asyncwait.spec import MissingExtra

EXTRA = "conformance"
"""The extra that installs these packages."""

NEEDED = frozenset({"click", "rich"})
"""The packages of the extra, by the names under which they are imported."""


@contextmanager
def importing_the_suite() -> Generator[None]:
    """Turn a failing import of a needed package into the error that names the extra.

    Raises:
        MissingExtra: one of `NEEDED` is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        top = (error.name or "").partition(".")[0]
        if top not in NEEDED:
            raise
        raise MissingExtra(top, EXTRA) from None
