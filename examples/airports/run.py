"""Fetch the weather of 28,000 airports, be killed half-way, and call (almost) nothing twice.

python examples/airports/run.py

It is done by the pool, in threads and on Spark, each in a process that is killed (SIGKILL) and
started again with the same journal. The service runs on this machine; its log says what was
completed.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from running import Trouble

if TYPE_CHECKING:
    from figures import Run

WAYS = ("pool", "threads", "spark")
NEEDED = {"airportsdata": "airportsdata", "httpx": "httpx", "rich": "'asyncwait[progress]'"}
"""What is imported here, and what pip calls it."""


def require(packages: Mapping[str, str]) -> None:
    """See that packages can be imported.

    Args:
        packages: what is imported, and what pip calls it.

    Raises:
        Trouble: one can't be.
    """
    for package, pip in packages.items():
        try:
            import_module(package)
        except ImportError:
            message = f"{package} is not installed; try: pip install {pip}"
            raise Trouble(message) from None


def whole(least: int) -> Callable[[str], int]:
    """Return what reads a whole number that is not smaller."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"must be a whole number >= {least}, got {text!r}")
        return int(text)

    return read


def parser() -> argparse.ArgumentParser:
    """Return what reads the options."""
    made = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = made.add_argument
    add("--airports", type=whole(2), metavar="N", help="how many (default: all)")
    told = "calls at a time (default: 100)"
    add("--capacity", type=whole(1), default=100, metavar="N", help=told)
    add("--seed", type=int, default=1, metavar="N", help="another one, another service")
    add("--on", choices=[*WAYS, "all"], default="all", help="(default: all)")
    add("--port", type=int, default=0, metavar="N", help="of the service (default: one is found)")
    add("--plot", type=Path, metavar="FILE", help="draw calls and their latency (.png, .svg)")
    add("--quiet", action="store_true", help="say nothing if all is well")
    return made


def _run_all(options: argparse.Namespace) -> int:
    """Do what was asked for, and return the exit code."""
    asked = WAYS if options.on == "all" else (options.on,)
    on_spark = {"pyspark": "'asyncwait[spark]'"} if "spark" in asked else {}
    require(NEEDED | on_spark | ({"matplotlib": "matplotlib"} if options.plot else {}))
    from fetching import Job, airports
    from killing import run
    from weather import Behaviour

    job = Job(len(airports(options.airports)), options.capacity)
    runs = [
        run(on, job, Behaviour(options.seed), port=options.port, quiet=options.quiet)
        for on in asked
    ]
    return _told(runs, options)


def _told(runs: Sequence["Run"], options: argparse.Namespace) -> int:
    """Tell what runs came to, and return the exit code: 1 if figures differ."""
    from figures import mismatches
    from shown import draw, show

    if not options.quiet:
        show(runs)
    wrong = [line for made in runs for line in mismatches(made)]
    for line in wrong:
        print(f"error: {line}", file=sys.stderr)
    if options.plot:
        try:
            draw(runs, options.plot)
        except (OSError, ValueError) as error:
            raise Trouble(f"--plot {options.plot}: {error}") from error
    return 1 if wrong else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 0; 1 if figures differ; 2 if something could not be done."""
    options = parser().parse_args(arguments)
    try:
        return _run_all(options)
    except Trouble as trouble:
        print(f"error: {trouble}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
