"""A job on a cluster: python standalone_job.py MASTER FOLDER; its rows and figures go to files."""

import asyncio
import sys
from pathlib import Path


def main(master: str, folder: Path) -> None:
    from asyncwait.backends.journal import Journal
    from asyncwait.backends.spark import Progress, embedded_spark, ordered_wait

    calls = folder / "calls"

    class Fetch:
        async def __call__(self, value: int) -> tuple[int]:
            await asyncio.sleep(0.02)
            with calls.open("a") as notes:
                notes.write(f"{value}\n")
            return (2 * value,)

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
