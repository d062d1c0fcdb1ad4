"""A job in a process of its own, which may be killed at any time; `killing.py` starts it.

What came of it is in a file when it ends: its rows, or one line of what was in its way.
"""

import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path
from uuid import uuid4

from fetching import Job
from jobs import Result, in_threads, on_pool, on_spark

from asyncwait.spec import AsyncWaitError


def do(on: str, job: Job, url: str, folder: Path, *, quiet: bool) -> Result:
    """Do a job on one of the three."""
    if on == "pool":
        return asyncio.run(on_pool(job, url, folder, quiet=quiet))
    return (in_threads if on == "threads" else on_spark)(job, url, folder, quiet=quiet)


def main() -> int:
    """Do what the only argument says, and leave what came of it in the folder."""
    told = json.loads(sys.argv[1])
    on, url, folder, quiet = (told.pop(name) for name in ("on", "url", "folder", "quiet"))
    try:
        came = asdict(do(on, Job(**told), url, Path(folder), quiet=quiet))
    except AsyncWaitError as error:
        came = {"error": str(error)}
    part = Path(folder, uuid4().hex)
    part.write_text(json.dumps(came))
    part.rename(Path(folder, "result"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
