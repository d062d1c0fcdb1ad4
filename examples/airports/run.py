"""Fetch the weather of 28,000 airports, be killed half-way, and call (almost) nothing twice.

python examples/airports/run.py

The pool, threads and Spark do it, each in a process that is killed (SIGKILL) and started again with
the same journal. The service runs on this machine; its log says which calls were completed.
"""

import argparse
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from figures import Run, mismatches, show
from jobs import Job, Result, airports
from rich.console import Console
from weather import Behaviour, Call

HERE = Path(__file__).parent
WAYS = ("pool", "threads", "spark")


class Failed(Exception):
    """The run can't be made. The message is one line for the user."""


class Service:
    """The service in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.url = f"http://127.0.0.1:{json.loads(self._line())}"

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def wait(self) -> bool:
        """Return True when half of the answers were given; False if it ended before."""
        return bool(self._line())

    def end(self) -> list[Call]:
        """End it, and return its log."""
        return [Call(*line) for line in json.loads(self._process.communicate()[0])]


@contextmanager
def running(options: dict[str, Any]) -> Iterator[Service]:
    """Run the service while the body runs."""
    command = [sys.executable, str(HERE / "weather.py"), json.dumps(options)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield Service(process)
        finally:
            process.kill()


def run(on: str, job: Job, behaviour: Behaviour) -> Run:
    """Do a job in two starts."""
    half = max(1, job.airports // 2)
    with (
        TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        running({**asdict(behaviour), "tell_at": half}) as service,
    ):
        arguments = {"on": on, "url": service.url, "folder": folder, **asdict(job)}
        started = time.monotonic()
        killed = _die_half_way(arguments, service)
        _print(f"{on}: killed half-way; it is started again")
        with _start(arguments) as process:
            result = _result(folder, process.wait())
        return Run(on, job, started, killed, time.monotonic(), result, service.end())


@contextmanager
def _start(arguments: dict[str, Any]) -> Iterator[subprocess.Popen[bytes]]:
    """Start the job in a session of its own, which Ctrl-C does not reach; kill it at the end."""
    # Python may be told not to look beside the script; and a killed job does not clean up.
    path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
    env = {**os.environ, "PYTHONPATH": path, "TMPDIR": arguments["folder"]}
    command = [sys.executable, str(HERE / "jobs.py"), json.dumps(arguments)]
    with subprocess.Popen(command, env=env, start_new_session=True) as process:
        try:
            yield process
        finally:
            process.kill()


def _die_half_way(arguments: dict[str, Any], service: Service) -> float:
    """Start the job, kill it, and return the moment."""
    killed = math.nan

    def kill() -> None:
        nonlocal killed
        if service.wait():
            killed = time.monotonic()
            process.kill()

    with _start(arguments) as process:
        Thread(target=kill, daemon=True).start()
        code = process.wait()
    if code != -signal.SIGKILL:
        _result(arguments["folder"], code)
        raise Failed(f"{arguments['on']}: it ended before it was killed; ask for more airports")
    return killed


def _result(folder: str, code: int) -> Result:
    file = Path(folder, "result")
    if code or not file.exists():
        raise Failed(f"the job has failed, with exit code {code}")
    outcome = json.loads(file.read_text())
    if "error" in outcome:
        raise Failed(outcome["error"])
    return Result([tuple(row) for row in outcome["rows"]], outcome["found"], outcome["began"])


def _print(text: str) -> None:
    """Print a line below the progress bar of a killed process, and show the cursor again."""
    console = Console(stderr=True)
    if console.is_terminal:
        console.line()
        console.show_cursor()
    console.print(text, highlight=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 0; 1 if figures differ; 2 if the run could not be made."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--airports", type=int, metavar="N", help="how many (default: all)")
    parser.add_argument("--capacity", type=int, default=100, metavar="N", help="calls at a time")
    parser.add_argument("--on", choices=[*WAYS, "all"], default="all", help="(default: all)")
    options = parser.parse_args(arguments)
    job = Job(len(airports(options.airports)), options.capacity)
    ways = WAYS if options.on == "all" else (options.on,)
    try:
        runs = [run(on, job, Behaviour()) for on in ways]
    except Failed as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    show(runs)
    wrong = [line for made in runs for line in mismatches(made)]
    for line in wrong:
        print(f"error: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
