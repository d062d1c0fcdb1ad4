"""A stream is started, killed half-way, and started again; what it cost is in the service's log."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from figures import Run
from files import EACH, Sink, Source
from service import running

HERE = Path(__file__).parent

WARM = 6
"""Files that come one by one, before the others."""

WITHIN = 400.0
"""Seconds without any news after which something is wrong."""


class Trouble(Exception):
    """The run can't be made. The message is one line for the user."""


class Stream:
    """The stream, which can be started, killed, and started again.

    Args:
        folder: of all its files.
        url: of the service.
        way: "carry" or "drained".
    """

    def __init__(self, folder: Path, url: str, way: str) -> None:
        self._folder, self._told = folder, [str(folder), url, way]
        self.sink = Sink(folder / "out")
        self._process = self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        # Python may be told not to look beside the script; and who is killed does not clean up.
        path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
        env = {**os.environ, "PYTHONPATH": path, "TMPDIR": str(self._folder)}
        command = [sys.executable, str(HERE / "job.py"), *self._told]
        return subprocess.Popen(command, env=env, start_new_session=True)

    def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds that the stream brings about.

        Raises:
            Trouble: it has ended, or nothing comes out any more.
        """
        seen, since = 0, time.monotonic()
        while not holds():
            if (code := self._process.poll()) is not None:
                raise Trouble(f"the stream has ended, with exit code {code}")
            if (now := len(self.sink.look())) != seen:
                seen, since = now, time.monotonic()
            if time.monotonic() > since + WITHIN:
                raise Trouble(f"nothing has come out for {WITHIN:g} s")
            time.sleep(0.05)  # Another process writes there, and rings no bell.

    def kill(self) -> None:
        """Kill the driver, its JVM and the workers; the call host has a session of its own."""
        for pid in _processes():
            with suppress(ProcessLookupError):
                if os.getsid(pid) == self._process.pid:
                    os.kill(pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()

    def start_again(self) -> None:
        """Start it again, from its checkpoint."""
        self._process = self._started()

    def stop(self) -> None:
        """Let it stop in order."""
        (self._folder / "stop").touch()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(60)

    def close(self) -> None:
        """End all that is left of it, its call host as well, which would wait for a next start."""
        self.kill()
        for pid in _processes():
            with suppress(OSError):
                if os.fsencode(self._folder) in Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, signal.SIGKILL)


def _processes() -> Iterator[int]:
    """Yield all there are; where the system has no /proc, hosts end with their lease."""
    for place in Path("/proc").glob("[0-9]*"):
        yield int(place.name)


@contextmanager
def _stream(url: str, way: str) -> Iterator[tuple[Source, Stream]]:
    with TemporaryDirectory(prefix="payments-", ignore_cleanup_errors=True) as name:
        source, stream = Source(Path(name, "in")), Stream(Path(name), url, way)
        try:
            yield source, stream
        finally:
            source.close()
            stream.close()


def run(way: str, seconds: float) -> Run:
    """Score payments in two starts of a stream, and return what came of them.

    Args:
        way: "carry" or "drained".
        seconds: of payments before the kill, and half as many when the second start has scores.
    """
    with running() as service, _stream(service.url, way) as (source, stream):
        _warm_up(source, stream)
        source.open()
        stream.until(_passed(seconds))
        stream.until(lambda: service.under_way.total() > 0)  # So that there is something to lose.
        killed, under_way = time.time(), service.under_way.total()
        stream.kill()
        print(f"{way}: killed with {under_way} calls under way, and started again", file=sys.stderr)
        stream.start_again()
        stream.until(lambda: any(each.at > killed for each in stream.sink.look()))
        stream.until(_passed(seconds / 2))
        source.close()
        stream.until(
            lambda: len({each.payment for each in stream.sink.look()}) == len(source.given)
        )
        stream.stop()
        scored, log = [*stream.sink.look()], [*service.log]
        return Run(way, source.given, scored, log, killed, under_way, WARM * EACH)


def _warm_up(source: Source, stream: Stream) -> None:
    """Bring some files one by one: the first micro-batches of a JVM take several times as long."""
    for _ in range(WARM):
        source.bring()
        stream.until(lambda: len(stream.sink.look()) == len(source.given))


def _passed(seconds: float) -> Callable[[], bool]:
    over = time.monotonic() + seconds
    return lambda: time.monotonic() >= over
