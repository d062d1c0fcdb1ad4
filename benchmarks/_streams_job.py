"""A process that runs a stream until a file ends it: `_streams_job.py FOLDER`.

The settings in a file `changed` of the folder replace the usual settings.
"""

import asyncio
import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

from asyncwait.backends.spark import Carry, embedded_spark, ordered_wait

LANES = 2

STREAMING = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.shuffle.partitions": str(LANES),
}


def noted(calls: str) -> Any:
    """Return a function that takes 0.1 to 0.7 s, and notes first whom it is called for."""

    async def fetch(row: Any) -> dict[str, int]:
        file = os.open(calls, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(file, b"%d\n" % row.id)
        os.close(file)
        await asyncio.sleep(random.Random(row.id).uniform(0.1, 0.7))
        return {"twice": 2 * row.id}

    return fetch


def run(folder: Path) -> int:
    spark, changed = embedded_spark(f"local[{LANES},4]").session, folder / "changed"
    for name, value in STREAMING.items():
        spark.conf.set(name, value)
    given: dict[str, Any] = json.loads(changed.read_text()) if changed.exists() else {}
    for name, value in given.get("conf", {}).items():
        spark.conf.set(name, value)
    rows = spark.readStream.schema("id long, lane long")
    read = rows.option("maxFilesPerTrigger", 1).json(str(folder / "in"))
    told = {"order_by": "id", "lane_by": "lane", "pause": 0.3, "lease": 300, "version": "1"}
    options = {"carry": Carry(**told | given.get("carry", {}))} | given.get("options", {})
    out = ordered_wait(read, noted(str(folder / "calls")), "twice long", **options)
    writer = out.writeStream.format("parquet").option("path", str(folder / "out"))
    kept = writer.option("checkpointLocation", str(folder / "checkpoint"))
    query = kept.trigger(processingTime="100 milliseconds").start()
    parent = os.getppid()
    while query.isActive and os.getppid() == parent and not (folder / "stop").exists():
        time.sleep(0.2)
    query.stop()
    return int(query.exception() is not None)


if __name__ == "__main__":
    sys.exit(run(Path(sys.argv[1])))
