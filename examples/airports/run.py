"""Fetch the weather of 28,000 airports, be killed half-way, and call (almost) nothing twice.

python examples/airports/run.py

It is done by the pool, and on Spark, each in a process that is killed (SIGKILL) and started again
with the same journal. The service runs on this machine; its log says what was completed.
"""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from figures import Run

NEEDED = {
    "airportsdata": "airportsdata",
    "httpx": "httpx",
    "rich": "'asyncwait[progress]'",
    "pyspark": "'asyncwait[spark]'",
    "matplotlib": "matplotlib",
}
"""What is imported here, and what pip calls it."""


class MissingPackage(Exception):
    """The run can't be made. The message is one line for whoever has started it."""


def _require(*packages: str) -> None:
    for package in packages:
        try:
            import_module(package)
        except ImportError:
            message = f"{package} is not installed; try: pip install {NEEDED[package]}"
            raise MissingPackage(message) from None


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--airports", type=_whole, metavar="N", help="how many (default: all)")
    add("--on", choices=["pool", "spark", "both"], default="both", help="(default: both)")
    add("--capacity", type=_whole, default=100, metavar="N", help="calls at a time (default: 100)")
    add("--plot", type=Path, metavar="FILE", help="draw calls and their latency (.png, .svg)")
    add("--seed", type=int, default=1, metavar="N", help="another one, another service")
    add("--port", type=int, default=0, metavar="N", help="of the service (default: one is found)")
    add("--quiet", action="store_true", help="say nothing if all is well")
    return parser.parse_args(arguments)


def _whole(text: str) -> int:
    if not text.isdecimal() or int(text) < 2:
        raise argparse.ArgumentTypeError(f"must be a whole number >= 2, got {text!r}")
    return int(text)


def _run_all(options: argparse.Namespace) -> int:
    """Do what was asked for, and return the exit code."""
    from fetching import Job, airports
    from figures import mismatches
    from killing import run
    from weather import Behaviour

    job = Job(len(airports(options.airports)), options.capacity)
    runs = [
        run(on, job, Behaviour(options.seed), port=options.port, quiet=options.quiet)
        for on in _asked(options)
    ]
    if not options.quiet:
        from table import show

        show(runs)
    wrong = [line for made in runs for line in mismatches(made)]
    for line in wrong:
        print(f"error: {line}", file=sys.stderr)
    if options.plot:
        _draw(runs, options.plot)
    return 1 if wrong else 0


def _asked(options: argparse.Namespace) -> list[str]:
    return ["pool", "spark"] if options.on == "both" else [options.on]


def _draw(runs: "Sequence[Run]", path: Path) -> None:
    from killing import Trouble
    from picture import draw

    try:
        draw(runs, path)
    except (OSError, ValueError) as error:
        raise Trouble(f"--plot {path}: {error}") from error


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 0; 1 if figures differ; 2 if something could not be done."""
    options = _options(arguments)
    optional = {"pyspark": "spark" in _asked(options), "matplotlib": options.plot is not None}
    try:
        _require("airportsdata", "httpx", "rich", *filter(optional.get, optional))
    except MissingPackage as missing:
        return _refused(missing)
    from killing import Trouble  # only now it can be imported

    try:
        return _run_all(options)
    except Trouble as trouble:
        return _refused(trouble)
    except KeyboardInterrupt:
        return 130


def _refused(why: Exception) -> int:
    print(f"error: {why}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
