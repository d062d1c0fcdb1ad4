"""Score a stream of payments, be killed half-way, and pay for no score twice.

python examples/payments/run.py

The stream runs on Spark in a process that is killed (SIGKILL) with its JVM and its workers, and
started again from its checkpoint: once with `carry`, and once without. The service runs on this
machine; its log says which scores it has billed.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote, urlparse

from figures import Payment, Run, Scored, mismatches, show
from service import running

HERE = Path(__file__).parent
WAYS = ("carry", "drained")

EVERY, EACH, ACCOUNTS = 0.2, 4, 50
"""Seconds between two files, payments in each file, and accounts."""

WARM = 6
"""Files that come one by one, before the others."""

WITHIN = 400.0
"""Seconds without any news after which the run fails."""


class Failed(Exception):
    """The run can't be made. The message is one line for the user."""


class Source:
    """The folder of the input, which grows whether or not the stream runs."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self._over = threading.Event()
        self._bringing = threading.Thread(target=self._bring_on, daemon=True)
        self.given: list[Payment] = []

    def bring(self) -> None:
        """Bring a whole file of payments; Spark ignores names that begin with a dot."""
        first, now = len(self.given), time.time()
        new = [Payment(each, each % ACCOUNTS, now) for each in range(first, first + EACH)]
        fresh = self._folder / f".{first}"
        fresh.write_text("\n".join(json.dumps(each._asdict()) for each in new))
        fresh.rename(self._folder / f"{first:06}.json")
        self.given += new

    def open(self) -> None:
        """Bring one file after the other, until it is closed."""
        self._bringing.start()

    def _bring_on(self) -> None:
        while not self._over.wait(EVERY):
            self.bring()

    def close(self) -> None:
        """Bring no more files."""
        self._over.set()
        if self._bringing.is_alive():
            self._bringing.join()


class Sink:
    """The folder of the output; its log counts, because a killed stream leaves other files, too."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "_spark_metadata"
        self._seen = set[str]()
        self.scored: list[Scored] = []

    def look(self) -> Sequence[Scored]:
        """Return all scores that have come out, in their order."""
        import pyarrow.parquet as pq  # tests of the other parts need no Spark

        for entry in sorted(self._log.glob("[0-9]*"), key=lambda each: int(each.stem)):
            for line in entry.read_text().splitlines()[1:]:
                file = json.loads(line)
                if file["path"] not in self._seen:
                    self._seen.add(file["path"])
                    table = pq.read_table(unquote(urlparse(file["path"]).path))
                    at = file["modificationTime"] / 1_000
                    self.scored += [Scored(_payment(r), r["score"], at) for r in table.to_pylist()]
        return self.scored


def _payment(row: dict[str, float]) -> Payment:
    return Payment(int(row["id"]), int(row["account"]), row["at"])


class Stream:
    """The stream, which can be started, killed, and started again."""

    def __init__(self, folder: Path, url: str, way: str) -> None:
        self._folder, self._told = folder, [str(folder), url, way]
        self.sink = Sink(folder / "out")
        self._process = self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        # Python may be told not to look beside the script; and a killed job does not clean up.
        path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
        env = {**os.environ, "PYTHONPATH": path, "TMPDIR": str(self._folder)}
        command = [sys.executable, str(HERE / "job.py"), *self._told]
        return subprocess.Popen(command, env=env, start_new_session=True)

    def until(self, holds: Callable[[], bool]) -> None:
        """Wait for a condition that the stream brings about.

        Raises:
            Failed: the stream has ended, or nothing comes out any more.
        """
        seen, since = 0, time.monotonic()
        while not holds():
            if (code := self._process.poll()) is not None:
                raise Failed(f"the stream has ended, with exit code {code}")
            if (now := len(self.sink.look())) != seen:
                seen, since = now, time.monotonic()
            if time.monotonic() > since + WITHIN:
                raise Failed(f"nothing has come out for {WITHIN:g} s")
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
        """Let it stop by itself."""
        (self._folder / "stop").touch()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(60)

    def close(self) -> None:
        """End all its processes, also its call host, which would wait for a next start."""
        self.kill()
        for pid in _processes():
            with suppress(OSError):
                if os.fsencode(self._folder) in Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, signal.SIGKILL)


def _processes() -> Iterator[int]:
    """Yield all processes; on systems without /proc, call hosts end with their lease."""
    for place in Path("/proc").glob("[0-9]*"):
        yield int(place.name)


def run(way: str, seconds: float) -> Run:
    """Score payments in two starts of a stream.

    Args:
        way: "carry" or "drained".
        seconds: of payments before the kill, and half as many when the second start has scores.
    """
    with (
        running() as service,
        TemporaryDirectory(prefix="payments-", ignore_cleanup_errors=True) as folder,
        _ending(Source(Path(folder, "in")), Stream(Path(folder), service.url, way)) as both,
    ):
        source, stream = both
        for _ in range(WARM):  # The first micro-batches of a JVM take several times as long.
            source.bring()
            stream.until(lambda: len(stream.sink.look()) == len(source.given))
        source.open()
        stream.until(_passed(seconds))
        stream.until(lambda: service.under_way.total() > 0)  # so that the kill can lose a call
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


@contextmanager
def _ending(source: Source, stream: Stream) -> Iterator[tuple[Source, Stream]]:
    try:
        yield source, stream
    finally:
        source.close()
        stream.close()


def _passed(seconds: float) -> Callable[[], bool]:
    over = time.monotonic() + seconds
    return lambda: time.monotonic() >= over


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 0; 1 if figures differ; 2 if the run could not be made."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    seconds = "before the kill, and half as many after it (default: 12)"
    parser.add_argument("--seconds", type=float, default=12, metavar="N", help=seconds)
    parser.add_argument("--way", choices=[*WAYS, "both"], default="both", help="(default: both)")
    options = parser.parse_args(arguments)
    try:
        ways = WAYS if options.way == "both" else (options.way,)
        runs = [run(way, options.seconds) for way in ways]
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
