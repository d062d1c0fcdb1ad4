"""A job is started, killed half-way, and started again; what it cost is in the service's log."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

from fetching import Job
from figures import Moments, Run
from jobs import Result
from weather import Behaviour, Call

HERE = Path(__file__).parent


class Trouble(Exception):
    """The run can't be made. The message is one line for whoever has started it."""


class RunningService:
    """The service in a process of its own.

    Args:
        process: it.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        told = json.loads(self._line() or '{"error": "the service did not start"}')
        if "error" in told:
            raise Trouble(told["error"])
        self.url = f"http://127.0.0.1:{told['port']}"

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def wait(self) -> bool:
        """Return when it has given as many answers as it was told; False if it ended before."""
        return bool(self._line())

    def end(self) -> list[Call]:
        """End it, and return its log."""
        return [Call(*line) for line in json.loads(self._process.communicate()[0])]


@contextmanager
def running_service(behaviour: Behaviour, port: int, tell_at: int) -> Iterator[RunningService]:
    """Run the service while the body runs; port 0 stands for any that is free."""
    options = {**asdict(behaviour), "port": port, "tell_at": tell_at}
    command = [sys.executable, str(HERE / "weather.py"), json.dumps(options)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            try:
                service = RunningService(process)
            except Trouble as trouble:
                raise Trouble(f"port {port}: {trouble}") from None
            yield service
        finally:
            process.kill()


def run(on: str, job: Job, behaviour: Behaviour, *, port: int = 0, quiet: bool = True) -> Run:
    """Do a job in two starts, and return what they and the service tell of it."""
    with (
        TemporaryDirectory(ignore_cleanup_errors=True) as name,
        running_service(behaviour, port, max(1, job.airports // 2)) as service,
    ):
        told = {"on": on, "url": service.url, "folder": name, "quiet": quiet, **asdict(job)}
        started = time.monotonic()
        killed = _die_half_way(told, service, Path(name))
        if not quiet:
            _say(f"{on}: killed half-way; it is started again")
        result = _second_start(told, Path(name))
        moments = Moments(started, killed, result.began, time.monotonic())
        return Run(on, job, moments, result, service.end())


def _start(told: dict[str, object]) -> subprocess.Popen[bytes]:
    """Start the job where Ctrl-C does not reach it: that is for this process, which kills it."""
    # Python may be told not to look beside the script; and who is killed does not clean up.
    path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
    env = {**os.environ, "PYTHONPATH": path, "TMPDIR": str(told["folder"])}
    command = [sys.executable, str(HERE / "job.py"), json.dumps(told)]
    return subprocess.Popen(command, env=env, start_new_session=True)


def _die_half_way(told: dict[str, object], service: RunningService, folder: Path) -> float:
    """Start the job, kill it, and return when that was."""
    killed = math.nan

    def kill() -> None:
        nonlocal killed
        if service.wait():
            killed = time.monotonic()
            process.kill()

    with _start(told) as process:
        try:
            Thread(target=kill, daemon=True).start()
            code = process.wait()
        finally:
            process.kill()
    if code != -signal.SIGKILL:
        _result(folder, code)
        raise Trouble(f"{told['on']}: all was done before it was killed; ask for more airports")
    return killed


def _second_start(told: dict[str, object], folder: Path) -> Result:
    with _start(told) as process:
        try:
            return _result(folder, process.wait())
        finally:
            process.kill()


def _result(folder: Path, code: int) -> Result:
    """Return what a start has left.

    Raises:
        Trouble: it has failed.
    """
    file = folder / "result"
    if code or not file.exists():
        raise Trouble(f"the job has failed, with exit code {code}")
    came = json.loads(file.read_text())
    if "error" in came:
        raise Trouble(came["error"])
    return Result([tuple(row) for row in came["rows"]], came["found"], came["began"])


def _say(text: str) -> None:
    """Print a line below a bar that nobody has finished, and show the cursor that it had hidden."""
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal:
        console.line()
        console.show_cursor()
    console.print(text, highlight=False)
