"""What tests of the progress of Spark jobs do with its port, its reports and its figures."""

import socket
import threading
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from asyncwait.backends.spark.progress import JobFigures, Progress, TaskFigures, TaskName
from asyncwait.backends.spark.progress._wire import Report, connect, packed

SOON = 30.0
"""Seconds; a wait that takes so long has failed."""

NEVER = 1e6
"""Seconds, from one report to the next."""

FIRST = TaskName(1, 0, 0)


def wait(progress: Progress, is_so: Callable[[JobFigures], bool]) -> JobFigures:
    assert progress._tally.wait_for(is_so, SOON), progress.figures()
    return progress.figures()


def connected(progress: Progress) -> socket.socket:
    return connect(replace(progress.endpoint, host="127.0.0.1"), SOON)


def message(**changes: Any) -> bytes:
    fields: dict[str, Any] = {
        "run": b"run",
        "number": 0,
        "state": "running",
        "name": FIRST,
        "figures": TaskFigures(calls=1),
    }
    return packed(Report(**fields | changes))


class Played:
    def __init__(self, **figures: int) -> None:
        self.figures = TaskFigures(**figures)
        self.asked, self.may_answer = threading.Event(), threading.Event()
        self.may_answer.set()
        self.times = 0

    def __call__(self) -> TaskFigures:
        self.times += 1
        self.asked.set()
        self.may_answer.wait(SOON)
        return self.figures
