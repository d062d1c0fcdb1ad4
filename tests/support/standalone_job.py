"""A job on a cluster: python standalone_job.py MASTER FOLDER; its rows and figures go to files."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any


async def fetch(value: int) -> tuple[int]:
    """Note the call; answer."""
    await asyncio.sleep(0.02)
    file = os.open(os.environ["ASYNCWAIT_CALLS"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, b"%d\n" % value)
    os.close(file)
    return (2 * value,)


def main(master: str, folder: Path) -> None:
    """Run it."""
    from asyncwait.backends.journal import Journal
    from asyncwait.backends.spark import Progress, embedded_spark, ordered_wait

    calls = str(folder / "calls")

    class Fetch:
        """The function, which finds its file in a worker, too."""

        async def __call__(self, value: int) -> Any:
            os.environ["ASYNCWAIT_CALLS"] = calls
            return await fetch(value)

    session = embedded_spark(master).session
    df = session.range(0, 1000, 1, 2)
    journal = Journal(str(folder / "journal"), "standalone", "1")
    with Progress(1000, session=session, show=False) as progress:
        out = ordered_wait(
            df, Fetch, "twice long", columns="id", capacity=5, journal=journal, progress=progress
        )
        rows = [(row.id, row.twice) for row in out.collect()]
    (folder / "summary").write_text(progress.summary())
    (folder / "rows").write_text(repr(rows))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
