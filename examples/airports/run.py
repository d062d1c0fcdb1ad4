"""Fetch the weather of 28,000 airports, be killed half-way, and call (almost) nothing twice.

python examples/airports/run.py

It is done by the pool, and on Spark, each in a process that is killed (SIGKILL) and started again
with the same journal. The service runs on this machine; its log says what was completed.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "serving"))

from running import exit_code, parser_of, require, told, whole

NEEDED = {"airportsdata": "airportsdata", "httpx": "httpx", "rich": "'asyncwait[progress]'"}
"""What is imported here, and what pip calls it."""


def _run_all(options: argparse.Namespace) -> int:
    """Do what was asked for, and return the exit code."""
    asked = ["pool", "spark"] if options.on == "both" else [options.on]
    on_spark = {"pyspark": "'asyncwait[spark]'"} if "spark" in asked else {}
    require(NEEDED | on_spark | ({"matplotlib": "matplotlib"} if options.plot else {}))
    from fetching import Job, airports
    from figures import column, mark, mismatches
    from killing import run
    from weather import Behaviour

    job = Job(len(airports(options.airports)), options.capacity)
    runs = [
        run(on, job, Behaviour(options.seed), port=options.port, quiet=options.quiet)
        for on in asked
    ]
    return told(runs, options, column, mismatches, mark)


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 0; 1 if figures differ; 2 if something could not be done."""
    parser = parser_of(__doc__, ["pool", "spark"], 100)
    parser.add_argument("--airports", type=whole(2), metavar="N", help="how many (default: all)")
    options = parser.parse_args(arguments)
    return exit_code(lambda: _run_all(options))


if __name__ == "__main__":
    sys.exit(main())
