"""The process of a call host: `python -m asyncwait.backends.spark.carry._serve FOLDER`."""

import asyncio
import os
import signal
import socket
import sys
import sysconfig
import threading
import time
from contextlib import suppress
from pathlib import Path
from traceback import walk_stack
from typing import Any

from pyspark import cloudpickle

import asyncwait
from asyncwait.backends.spark.carry._client import STARTING, HostFolder
from asyncwait.backends.spark.carry._host import (
    Answer,
    Asked,
    CallHost,
    CarryWork,
    Sign,
    broken_text,
    read_question,
)
from asyncwait.backends.spark.carry._records import set_aside
from asyncwait.backends.spark.progress._wire import LENGTH, packed

_CLOSING = 10.0
"""Seconds for calls and the function's `close` to end."""

_GAPS = 3
"""Number of micro-batches that may be missed, if they come less often than the lease ends."""

_LONGEST_GAP = 3600.0
"""Longest interval of micro-batches in seconds; a longer one means that the query was down."""


class HostServer:
    """Answers visits until its lease is over.

    Until the first visit the lease is the time in which a host must start: on a busy machine the
    first visit may come late. Later the lease is longer than the interval of micro-batches:
    otherwise each micro-batch would find a host without results.
    """

    def __init__(self, work: CarryWork, host: CallHost) -> None:
        self._lease = max(work.lease, STARTING)
        self._least = work.lease
        self._gap = 0.0
        self._host = host
        self._visits = 0
        self._over = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._last = self._loop.time()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                (length,) = LENGTH.unpack(await reader.readexactly(LENGTH.size))
                asked = read_question(await reader.readexactly(length))
                if asked is None:
                    self.end()
                    break
                writer.write(await self._answer_to(asked, reader))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, _VisitorGone):
            pass
        finally:
            writer.close()

    def end(self) -> None:
        self._over.set()

    async def _answer_to(self, asked: Asked, reader: asyncio.StreamReader) -> bytes:
        self._visits += 1
        outcomes = None
        try:
            outcomes = await self._unless_gone(asked, reader)
            return packed(Answer(outcomes, figures=self._host.figures()))
        except _VisitorGone:
            raise
        except Exception as error:
            # A fault in the rows of one visit does not affect other lanes.
            if outcomes is not None or self._host.is_broken:
                self.end()
            return packed(Answer(broken=broken_text(error)))
        finally:
            self._visits -= 1
            self._last = self._loop.time()
            self._gap = min(asked.gap / 1000, _LONGEST_GAP) or self._gap
            self._lease = max(self._least, _GAPS * self._gap)

    async def _unless_gone(self, asked: Asked, reader: asyncio.StreamReader) -> Any:
        """Serve a visit; end it if the visitor goes, so that its rows are no longer wanted."""
        visit = asyncio.ensure_future(self._host.visit(asked.visit))
        gone = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait((visit, gone), return_when=asyncio.FIRST_COMPLETED)
            if not visit.done():
                raise _VisitorGone
            return visit.result()
        finally:
            for each in (visit, gone):
                each.cancel()
            await asyncio.gather(visit, gone, return_exceptions=True)

    async def until_over(self) -> None:
        """Wait until the lease has passed without a visit, or a visitor ends the host."""
        while not self._over.is_set():
            left = self._last + self._lease - (begun := self._loop.time())
            if self._visits == 0 and left <= 0:
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(min(max(left, 0.1), 1.0)):  # A visit changes the lease.
                    await self._over.wait()
            if self._loop.time() > begun + 2.0:  # The loop stood still; visits may have come.
                self._last = self._loop.time()


_TURN = 0.2
"""Seconds between two marks of an event loop that turns."""


class _Watch:
    """Sends signs of life of the event loop on which it is made, from a thread of its own."""

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._turn()
        threading.Thread(target=self._run, name="asyncwait-watch", daemon=True).start()

    def _turn(self) -> None:
        self._turned = time.monotonic()
        self._loop.call_later(_TURN, self._turn)

    def _run(self) -> None:
        while True:
            with suppress(OSError), self._listening.accept()[0] as made:
                made.sendall(packed(self._sign()))
            time.sleep(0.001)  # A process that can open no more files would loop without a pause.

    def _sign(self) -> Sign:
        frame = sys._current_frames().get(self._thread)  # noqa: SLF001 - of another thread
        stack = [(each.f_code, line) for each, line in walk_stack(frame)]
        own = [each for each in stack if not each[0].co_filename.startswith(_OTHERS)] or stack
        told = [f'File "{code.co_filename}", line {at} in {code.co_name}' for code, at in own[:3]]
        return Sign(time.monotonic() - self._turned, told)


_OTHERS = (
    *asyncwait.__path__,
    *(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")),
    "<frozen ",
)
"""Files that are not the user's: of this package, of Python, and of installed packages."""


class _VisitorGone(Exception):
    """The visitor has gone; a class of its own, as the function may raise connection errors."""


async def serve(folder: HostFolder) -> None:
    """Serve the job in a folder, and finally remove the folder, unless another host owns it."""
    work: CarryWork = cloudpickle.loads(folder.job.read_bytes())
    set_aside()
    host = work.host(folder.path.name)
    server = HostServer(work, host)
    for each in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(each, server.end)
    watched = socket.socket(socket.AF_UNIX)
    watched.bind(str(folder.watch))
    watched.listen()
    _Watch(watched)
    fresh = folder.path / "fresh"
    listening = await asyncio.start_unix_server(server.answer, fresh, limit=1 << 20)
    mine = fresh.stat()
    fresh.rename(folder.socket)  # Now it answers.
    try:
        await server.until_over()
    finally:
        _exit_within(_CLOSING)
        with folder.locked():
            if folder.is_left_by(mine):
                folder.remove()
        listening.close()  # Not before, or another socket could be the same file.
        await host.aclose()


def _exit_within(seconds: float) -> None:
    """End the process after some seconds: a call may ignore its cancellation, or block a thread."""
    timer = threading.Timer(seconds, os._exit, (0,))
    timer.daemon = True
    timer.start()


def main(folder: HostFolder) -> int:
    """Start the host as an orphan; return 0 when it answers, or 1 if it has ended."""
    host = os.fork()
    if host == 0:
        asyncio.run(serve(folder))
        return 0
    while not folder.socket.exists():
        if os.waitpid(host, os.WNOHANG) != (0, 0):
            return 1
        time.sleep(0.01)  # A new socket file sends no event.
    return 0


if __name__ == "__main__":
    sys.exit(main(HostFolder(Path(sys.argv[1]))))
