"""The threads of the senders: each does one thing at a time, when it is told to."""

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import TypeAlias

Job: TypeAlias = Callable[[], object]

ENDS_WITHIN = 20.0
"""Seconds that a sender may take: it never waits for the owner, but for the machine perhaps."""


class Task:
    """Something that a thread does."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._done = threading.Event()

    def __call__(self) -> None:
        """Do it."""
        try:
            self._job()
        finally:
            self._done.set()

    def wait(self, seconds: float) -> bool:
        """Wait until it is done, for so long at most; say whether it is."""
        return self._done.wait(seconds)


class Hand:
    """A thread that does what it is given, one after the other."""

    def __init__(self, enlist: Job) -> None:
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, args=[enlist], daemon=True)
        self._thread.start()

    def do(self, job: Job) -> Task:
        """Have the thread do it; don't wait for that."""
        task = Task(job)
        self._tasks.put(task)
        return task

    def let_go(self) -> None:
        """Have the thread end when it has done everything."""
        self._tasks.put(None)
        self._thread.join(ENDS_WITHIN)

    def _run(self, enlist: Job) -> None:
        enlist()
        while (task := self._tasks.get()) is not None:
            task()


class Desk:
    """Where a thread has something done in the thread of the loop, which waits here."""

    def __init__(self) -> None:
        self._inbox: SimpleQueue[Task | None] = SimpleQueue()

    def ask(self, job: Job) -> Task:
        """Have it done by who waits in `serve_until`. For any thread."""
        task = Task(job)
        self._inbox.put(task)
        return task

    def serve_until_done(self, start: Callable[[Job], object]) -> None:
        """Start something and do what is asked for here, until it says that it is over.

        Raises:
            Empty: it says nothing for too long.
        """
        start(lambda: self._inbox.put(None))
        while (task := self._inbox.get(timeout=ENDS_WITHIN)) is not None:
            task()
