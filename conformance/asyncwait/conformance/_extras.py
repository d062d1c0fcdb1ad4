"""What the suite needs beyond the harness: named where it is missing."""

from collections.abc import Generator
from contextlib import contextmanager

from asyncwait.spec import MissingExtra

EXTRA = "conformance"
"""The extra that installs what the suite needs."""

NEEDED = frozenset({"click", "rich"})
"""What it installs, by the names under which it is imported."""


@contextmanager
def importing_the_suite() -> Generator[None]:
    """Turn a failing import of what the suite needs into the error that names the extra.

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
