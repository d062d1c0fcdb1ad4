"""The process of a call host: `python -m asyncwait.backends.spark.carry._serve FOLDER`."""

import asyncio
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from pyspark import cloudpickle

from asyncwait.backends.spark.carry._folder import HostFolder
from asyncwait.backends.spark.carry._host import CallHost, broken_text
from asyncwait.backends.spark.carry._records import set_aside
from asyncwait.backends.spark.carry._wire import LENGTH, Answer, Asked, message, read_question
from asyncwait.backends.spark.carry._work import CarryWork


class _Server:
    """Answers visits until its lease is over.

    Args:
        work: of the host.
        host: which holds the calls.
    """

    def __init__(self, work: CarryWork, host: CallHost) -> None:
        self._lease = work.lease
        self._host = host
        self._visits = 0
        self._over = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._last = self._loop.time()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer what comes on a connection until that is closed."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                (length,) = LENGTH.unpack(await reader.readexactly(LENGTH.size))
                asked = read_question(await reader.readexactly(length))
                if not isinstance(asked, Asked):
                    self._over.set()
                    break
                writer.write(message(await self._answer_to(asked, reader)))
                await writer.drain()
        writer.close()

    async def _answer_to(self, asked: Asked, reader: asyncio.StreamReader) -> Answer:
        self._visits += 1
        try:
            return Answer.of(await self._unless_gone(asked, reader))
        except ConnectionError:
            raise
        except Exception as error:
            self._over.set()
            return Answer(broken=broken_text(error))
        finally:
            self._visits -= 1
            self._last = self._loop.time()

    async def _unless_gone(self, asked: Asked, reader: asyncio.StreamReader) -> Any:
        """Serve a visit; if the visitor goes, end it, or it would hold on to what it wanted."""
        visit = asyncio.ensure_future(self._host.visit(asked.visit))
        gone = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait((visit, gone), return_when=asyncio.FIRST_COMPLETED)
            if not visit.done():
                raise ConnectionError("the visitor has gone")
            return visit.result()
        finally:
            for each in (visit, gone):
                each.cancel()
            await asyncio.gather(visit, gone, return_exceptions=True)

    async def until_over(self) -> None:
        """Wait until nobody has visited for as long as the lease, or somebody ends the host."""
        while not self._over.is_set():
            left = self._last + self._lease - self._loop.time()
            if self._visits == 0 and left <= 0:
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(max(left, 0.1)):
                    await self._over.wait()


async def serve(folder: HostFolder) -> None:
    """Serve the job in a folder, and remove the folder in the end."""
    work: CarryWork = cloudpickle.loads(folder.job.read_bytes())
    set_aside()
    host = CallHost(work, folder.path.name)
    server = _Server(work, host)
    fresh = folder.path / "fresh"
    listening = await asyncio.start_unix_server(server.answer, fresh, limit=1 << 20)
    fresh.rename(folder.socket)  # Now it answers.
    try:
        await server.until_over()
    finally:
        with folder.locked():
            folder.remove()
        listening.close()
        await host.aclose()


def main(folder: HostFolder) -> int:
    """Start the host as nobody's child, and return 0 when it answers, or 1 if it never will."""
    host = os.fork()
    if host == 0:
        asyncio.run(serve(folder))
        return 0
    while not folder.socket.exists():
        if os.waitpid(host, os.WNOHANG) != (0, 0):
            return 1
        time.sleep(0.01)
    return 0


if __name__ == "__main__":
    sys.exit(main(HostFolder(Path(sys.argv[1]))))
