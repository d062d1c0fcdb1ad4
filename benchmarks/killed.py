"""Jobs that are killed: nothing is lost, nothing comes twice, and little is called twice.

    python benchmarks/killed.py [--kills 20] [--rows 2000]

A job on an embedded Spark enriches rows and keeps a journal. First its workers are killed, by a
call that does that to its own process; then, in a job of its own, the driver is, from outside, and
started again. Either happens so many times, at random moments. In the end each row has to be there
once, and no more calls may have been repeated for each kill than run at a time. Each call notes
itself in a file before it answers. Exits with 1 if one of these does not hold.
"""

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

CAPACITY, PARTITIONS = 10, 2
CALL = 0.01
"""Seconds that a call takes."""

_MOST_SECONDS = 120


class Fetch:
    """Notes its calls; kills its process now and then.

    Args:
        folder: for notes.
        kills: how often.
        chance: of each call to kill, while there are kills left.
    """

    def __init__(self, folder: str, kills: int, chance: float) -> None:
        self._folder = Path(folder)
        self._kills = kills
        self._chance = chance

    async def __call__(self, row: Any) -> tuple[int]:
        """Answer, or kill."""
        await asyncio.sleep(CALL)
        note(self._folder, row.id)
        if self._kills and random.random() < self._chance:
            killed = self._folder / "killed"
            with killed.open("a") as notes:
                notes.write("x")
            if killed.stat().st_size <= self._kills:
                os.kill(os.getpid(), signal.SIGKILL)
        return (2 * row.id,)


def note(folder: Path, number: int) -> None:
    """Note a call; one write is whole, whoever else writes."""
    file = os.open(folder / "calls", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, b"%d\n" % number)
    os.close(file)


def calls(folder: Path) -> list[int]:
    """Return the numbers of all rows that were called, in order of the calls."""
    notes = folder / "calls"
    return [int(line) for line in notes.read_text().split()] if notes.exists() else []


def job(folder: Path, rows: int, kills: int) -> None:
    """Run the job, and write what it gives."""
    from asyncwait.backends.journal import Journal
    from asyncwait.backends.spark import embedded_spark, ordered_wait

    session = embedded_spark(f"local[{PARTITIONS}, {kills + 2}]").session
    df = session.range(0, rows, 1, PARTITIONS)
    fetch = Fetch(str(folder), kills, 3 * kills / rows)
    journal = Journal(str(folder / "journal"), "killed", "1")
    out = ordered_wait(df, fetch, "twice long", capacity=CAPACITY, journal=journal)
    lines = "".join(f"{row.id} {row.twice}\n" for row in out.collect())
    part = folder / uuid4().hex
    part.write_text(lines)
    part.rename(folder / "rows")


def start(folder: Path, rows: int, kills: int) -> subprocess.Popen[bytes]:
    """Start the job in a process of its own."""
    command = [sys.executable, __file__, "--job", str(folder)]
    return subprocess.Popen([*command, "--rows", str(rows), "--kills", str(kills)])


def kill_workers(folder: Path, rows: int, kills: int) -> int:
    """Run the job whose workers are killed; return how many were."""
    assert start(folder, rows, kills).wait(_MOST_SECONDS * 5) == 0
    killed = folder / "killed"
    return min(kills, killed.stat().st_size) if killed.exists() else 0


def kill_drivers(folder: Path, rows: int, kills: int) -> int:
    """Start the job, and kill its driver when so many calls more are made; return how often."""
    done = 0
    while not (folder / "rows").exists():
        process = start(folder, rows, 0)
        more = random.randint(1, max(1, 2 * rows // max(1, kills)))
        until, seen = time.monotonic() + _MOST_SECONDS, len(calls(folder))
        while process.poll() is None and time.monotonic() < until:
            if done < kills and len(calls(folder)) >= seen + more:
                process.kill()
                done += 1
            time.sleep(0.002)  # A file in which another process writes rings no bell.
        process.kill()
        process.wait()
    return done


def check(what: str, folder: Path, rows: int, killed: int) -> bool:
    """Say how it went; return whether all holds."""
    came = (folder / "rows").read_text().splitlines()
    whole = came == [f"{number} {2 * number}" for number in range(rows)]
    repeated = len(calls(folder)) - rows
    most = killed * CAPACITY * PARTITIONS
    print(
        f"{what}: killed {killed} times; {len(came)} rows, "
        f"{'each once and in order' if whole else 'NOT as they should be'}; "
        f"{repeated} calls repeated, {most} may be"
    )
    return whole and repeated <= most


def main() -> int:
    """Run both, and say how it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20, help="of workers, and of drivers")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--job", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        job(arguments.job, arguments.rows, arguments.kills)
        return 0
    holds = True
    for what, kill in (("workers", kill_workers), ("drivers", kill_drivers)):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            folder = Path(name)
            killed = kill(folder, arguments.rows, arguments.kills)
            holds = check(what, folder, arguments.rows, killed) and holds
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
