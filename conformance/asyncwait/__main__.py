# ruff: noqa: INP001 - the wheel has the package's root
"""The command `asyncwait`, also `python -m asyncwait`: one clear error where something is missing.

It lies beside the parts, so that nothing is imported before an interruption is seen to.
"""

import sys


def main() -> None:
    """Run the command."""
    try:
        _import_and_run()
    except KeyboardInterrupt:  # while modules are imported; the command sees to it from then on
        sys.exit(130)


def _import_and_run() -> None:
    from asyncwait.conformance.running import importing_the_suite
    from asyncwait.spec import MissingExtra

    try:
        with importing_the_suite():
            from asyncwait.conformance._commands import asyncwait
    except MissingExtra as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201 - click may be what is missing
        sys.exit(2)
    asyncwait(prog_name="asyncwait")


if __name__ == "__main__":
    main()
