"""Score a stream of payments, be killed half-way, and pay for no score twice.

python examples/payments/run.py --plot payments.png

The stream runs on Spark in a process that is killed (SIGKILL) with its JVM and its workers, and
started again from its checkpoint: once with `carry`, and once without. The service runs on this
machine; its log says what was paid.
"""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

WAYS = ("carry", "drained")
NEEDED = {"httpx": "httpx", "pyspark": "'asyncwait[spark]'"}
"""What is imported here, and what pip calls it."""


def parser() -> argparse.ArgumentParser:
    """Return what reads the options."""
    made = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    told = "before the kill, and half as many after it (default: 12)"
    made.add_argument("--seconds", type=float, default=12, metavar="N", help=told)
    made.add_argument("--way", choices=[*WAYS, "both"], default="both", help="(default: both)")
    told = "draw how long each payment takes (.png, .svg)"
    made.add_argument("--plot", type=Path, metavar="FILE", help=told)
    return made


def missing(options: argparse.Namespace) -> str:
    """Name the first package that is needed and not there; nothing if there is none."""
    for package, pip in (NEEDED | ({"matplotlib": "matplotlib"} if options.plot else {})).items():
        try:
            import_module(package)
        except ImportError:
            return f"{package} is not installed; try: pip install {pip}"
    return ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 0; 1 if figures are not as they should be; 2 if there is trouble."""
    options = parser().parse_args(arguments)
    if lacking := missing(options):
        print(f"error: {lacking}", file=sys.stderr)
        return 2
    from figures import mismatches
    from killing import Trouble, run
    from shown import draw, show

    try:
        ways = WAYS if options.way == "both" else (options.way,)
        runs = [run(way, options.seconds) for way in ways]
    except Trouble as trouble:
        print(f"error: {trouble}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    show(runs)
    if options.plot:
        draw(runs, options.plot)
    wrong = [line for made in runs for line in mismatches(made)]
    for line in wrong:
        print(f"error: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
