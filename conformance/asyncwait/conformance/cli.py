"""The command `asyncwait`, where everything that it needs is installed; else one clear error."""

import sys

from asyncwait.spec import MissingExtra

USAGE_ERROR = 2

EXTRA = "conformance"
"""The extra that installs what the commands need."""

NEEDED = frozenset({"click", "hypothesis", "rich"})
"""What it installs for them, by the names under which it is imported."""


def main() -> None:
    """Run the command."""
    try:
        from asyncwait.conformance._commands import asyncwait
    except ModuleNotFoundError as error:
        top = (error.name or "").partition(".")[0]
        if top not in NEEDED:
            raise
        print(f"error: {MissingExtra(top, EXTRA)}", file=sys.stderr)  # noqa: T201 - no click here
        sys.exit(USAGE_ERROR)
    # A backend may stand in a module of the present folder, as it may for `python -m`.
    if "" not in sys.path:
        sys.path.insert(0, "")
    asyncwait(prog_name="asyncwait")


__all__ = ["main"]
