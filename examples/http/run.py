"""Fetch two thousand things from a service that is late, fails, and says "come again".

python examples/http/run.py

The service runs on this machine, in a process of its own. At the end its log is compared with
what the operators have counted.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.append(str(Path(__file__).resolve().parents[1] / "serving"))

from running import exit_code, parser_of, require, running_service, told, whole
from service import Behaviour, Call

if TYPE_CHECKING:
    from fetching import Job
    from looking import Run

SERVICE = Path(__file__).with_name("service.py")
NEEDED = {"httpx": "httpx", "rich": "'asyncwait[progress]'"}
"""What is imported here, and what pip calls it."""


def run(on: str, job: "Job", behaviour: Behaviour, *, port: int = 0, quiet: bool = True) -> "Run":
    """Do a job, and return what both sides tell of it."""
    from fetching import in_threads, on_pool
    from looking import Run

    with running_service(SERVICE, {**asdict(behaviour), "port": port}) as service:
        if on == "pool":
            fetched = asyncio.run(on_pool(job, service.url, quiet=quiet))
        else:
            fetched = in_threads(job, service.url, quiet=quiet)
        return Run(on, job, behaviour, fetched, [Call(*line) for line in service.end()])


def _run_all(options: argparse.Namespace) -> int:
    """Do what was asked for, and return the exit code."""
    require(NEEDED | ({"matplotlib": "matplotlib"} if options.plot else {}))
    from fetching import Job
    from looking import column, mismatches

    job, behaviour = Job(options.requests, options.capacity), Behaviour(options.seed)
    runs = [
        run(on, job, behaviour, port=options.port, quiet=options.quiet)
        for on in (["pool", "threads"] if options.on == "both" else [options.on])
    ]
    return told(runs, options, column, mismatches)


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 0; 1 if figures differ; 2 if something could not be done."""
    parser = parser_of(__doc__, ["pool", "threads"], 20)
    asked = "how many (default: 2000)"
    parser.add_argument("--requests", type=whole(1), default=2000, metavar="N", help=asked)
    options = parser.parse_args(arguments)
    return exit_code(lambda: _run_all(options))


if __name__ == "__main__":
    sys.exit(main())
