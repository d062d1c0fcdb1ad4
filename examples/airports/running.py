"""The service beside a run, in a process of its own."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SERVICE = Path(__file__).with_name("weather.py")


class Trouble(Exception):
    """The run can't be made. The message is one line for the user."""


class RunningService:
    """The service in a process of its own.

    Args:
        process: of the service, just started.
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
        """Return when it tells something; False if it ended before."""
        return bool(self._line())

    def end(self) -> list[list[Any]]:
        """End it, and return its log."""
        log: list[list[Any]] = json.loads(self._process.communicate()[0])
        return log


@contextmanager
def running_service(options: Mapping[str, Any]) -> Iterator[RunningService]:
    """Run the service while the body runs; its port 0 stands for any that is free."""
    command = [sys.executable, str(SERVICE), json.dumps(options)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            try:
                service = RunningService(process)
            except Trouble as trouble:
                raise Trouble(f"port {options['port']}: {trouble}") from None
            yield service
        finally:
            process.kill()
