"""A DataFrame job with a journal that is killed and started again; as a script, the job itself."""

import asyncio
import os
import random
import shutil
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from streams import end, started

from asyncwait.backends.journal import Journal
from asyncwait.backends.spark import embedded_spark, ordered_wait

ROWS, LANES, CAPACITY, KILLS = 20_000, 2, 100, 3


def calling(calls: str) -> Any:
    """Return a function that takes 10 to 100 ms, and notes first whom it is called for."""

    async def fetch(row: Any) -> tuple[int]:
        file = os.open(calls, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(file, b"%d\n" % row.id)
        os.close(file)
        await asyncio.sleep(0.01 + row.id % 10 / 100)
        return (2 * row.id,)

    return fetch


def job(folder: Path) -> None:
    rows = embedded_spark(f"local[{LANES}]").session.range(ROWS, numPartitions=4)
    done = ordered_wait(
        rows,
        calling(f"{folder}/calls"),
        "twice long",
        journal=Journal(f"{folder}/journal", "soak", "1"),
        capacity=CAPACITY,
    )
    done.write.mode("overwrite").parquet(f"{folder}/out")


def killed(folder: Path, seed: int) -> Mapping[str, int]:
    """Kill a job at random moments, have it end at last, and return what became of its rows."""
    sweep(folder)
    folder.mkdir(parents=True)
    rng = random.Random(seed)
    for moment in sorted(rng.random() * 0.9 * ROWS for _ in range(KILLS)):
        process = started(Path(__file__), folder)
        while process.poll() is None and _calls(folder) < moment:
            time.sleep(0.05)  # another process calls, and tells it by a file
        time.sleep(rng.random() / 2)  # the kill comes at no moment of the job's choosing
        end(folder)
        process.wait()
    if started(Path(__file__), folder).wait():
        raise RuntimeError((folder / "log").read_text()[-2_000:])
    return _counted(folder)


def _counted(folder: Path) -> Mapping[str, int]:
    out = pq.read_table(folder / "out").to_pylist()
    ids = Counter(row["id"] for row in out)
    again = _calls(folder) - ROWS
    return {
        "lost": ROWS - len(ids),
        "twice": ids.total() - len(ids),
        # What was in flight at a kill may be called again, and nothing else.
        "wrong": sum(row["twice"] != 2 * row["id"] for row in out)
        + max(0, again - KILLS * LANES * CAPACITY),
        "again": again,
    }


def _calls(folder: Path) -> int:
    notes = folder / "calls"
    return notes.read_bytes().count(b"\n") if notes.exists() else 0


def sweep(folder: Path) -> None:
    end(folder)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    job(Path(sys.argv[1]))
