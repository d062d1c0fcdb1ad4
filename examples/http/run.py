"""Fetch two thousand things from a service that is late, fails, and says "come again".

python examples/http/run.py

The service runs on this machine, in a process of its own. At the end its log is compared with
what the operators have counted.
"""

import argparse
import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from service import Behaviour, Call

if TYPE_CHECKING:
    from fetching import Job
    from looking import Run

SERVICE = Path(__file__).with_name("service.py")

NEEDED = {
    "httpx": "httpx",
    "rich": "'asyncwait[progress]'",
    "matplotlib": "matplotlib",
}
"""What is imported here, and what pip calls it."""


class Trouble(Exception):
    """The run can't be made. The message is one line for whoever has started it."""


class RunningService:
    """The service in a process of its own.

    Args:
        process: it.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        assert process.stdout is not None
        told = json.loads(process.stdout.readline() or '{"error": "the service did not start"}')
        if "error" in told:
            raise Trouble(told["error"])
        self.url = f"http://127.0.0.1:{told['port']}"

    def end(self) -> list[Call]:
        """End it, and return its log."""
        return [Call(*line) for line in json.loads(self._process.communicate()[0])]


@contextmanager
def running_service(behaviour: Behaviour, port: int = 0) -> Iterator[RunningService]:
    """Run the service while the body runs; 0 stands for any port that is free."""
    command = [sys.executable, str(SERVICE), json.dumps({**asdict(behaviour), "port": port})]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield RunningService(process)
        except Trouble as trouble:
            raise Trouble(f"port {port}: {trouble}") from None
        finally:
            process.kill()


def run(on: str, job: "Job", behaviour: Behaviour, *, port: int = 0, quiet: bool = True) -> "Run":
    """Do a job, and return what both sides tell of it."""
    from fetching import in_threads, on_pool
    from looking import Run

    with running_service(behaviour, port) as service:
        if on == "pool":
            fetched = asyncio.run(on_pool(job, service.url, quiet=quiet))
        else:
            fetched = in_threads(job, service.url, quiet=quiet)
        return Run(on, job, behaviour, fetched, service.end())


def _require(*packages: str) -> None:
    for package in packages:
        try:
            import_module(package)
        except ImportError:
            message = f"{package} is not installed; try: pip install {NEEDED[package]}"
            raise Trouble(message) from None


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--requests", type=_whole, default=2000, metavar="N", help="how many (default: 2000)")
    add("--capacity", type=_whole, default=20, metavar="N", help="calls at a time (default: 20)")
    add("--seed", type=int, default=1, metavar="N", help="another one, another service")
    add("--on", choices=["pool", "threads", "both"], default="both", help="(default: both)")
    add("--port", type=int, default=0, metavar="N", help="of the service (default: one is found)")
    add("--plot", type=Path, metavar="FILE", help="draw calls and their latency (.png, .svg)")
    add("--quiet", action="store_true", help="say nothing if all is well")
    return parser.parse_args(arguments)


def _whole(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number >= 1, got {text!r}")
    return int(text)


def _run_all(options: argparse.Namespace) -> int:
    """Do what was asked for, and return the exit code."""
    _require("httpx", "rich", *(["matplotlib"] if options.plot else []))
    from fetching import Job
    from looking import mismatches

    job, behaviour = Job(options.requests, options.capacity), Behaviour(options.seed)
    runs = [
        run(on, job, behaviour, port=options.port, quiet=options.quiet)
        for on in (["pool", "threads"] if options.on == "both" else [options.on])
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


def _draw(runs: "Sequence[Run]", path: Path) -> None:
    from picture import draw

    try:
        draw(runs, path)
    except (OSError, ValueError) as error:
        raise Trouble(f"--plot {path}: {error}") from error


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 0; 1 if figures differ; 2 if something could not be done."""
    options = _options(arguments)
    try:
        return _run_all(options)
    except Trouble as trouble:
        print(f"error: {trouble}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
