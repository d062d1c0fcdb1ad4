"""The command `asyncwait`, where everything that it needs is installed; else one clear error."""

import sys

from asyncwait.conformance._extras import importing_the_suite
from asyncwait.conformance.verdict import USAGE_ERROR
from asyncwait.spec import MissingExtra


def main() -> None:
    """Run the command."""
    try:
        with importing_the_suite():
            from asyncwait.conformance._commands import asyncwait
    except MissingExtra as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201 - click may be what is missing
        sys.exit(USAGE_ERROR)
    asyncwait(prog_name="asyncwait")


__all__ = ["main"]
