"""A job is started, killed half-way, and started again; what it cost is in the service's log."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

from fetching import Job
from figures import Moments, Run
from jobs import Result
from running import RunningService, Trouble, running_service
from weather import Behaviour, Call

HERE = Path(__file__).parent


def run(on: str, job: Job, behaviour: Behaviour, *, port: int = 0, quiet: bool = True) -> Run:
    """Do a job in two starts, and return what they and the service tell of it."""
    with (
        TemporaryDirectory(ignore_cleanup_errors=True) as name,
        running_service(
            {**asdict(behaviour), "port": port, "tell_at": max(1, job.airports // 2)}
        ) as service,
    ):
        told = {"on": on, "url": service.url, "folder": name, "quiet": quiet, **asdict(job)}
        started = time.monotonic()
        killed = _die_half_way(told, service, Path(name))
        if not quiet:
            _say(f"{on}: killed half-way; it is started again")
        result = _second_start(told, Path(name))
        moments = Moments(started, killed, result.began, time.monotonic())
        return Run(on, job, moments, result, [Call(*line) for line in service.end()])


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
