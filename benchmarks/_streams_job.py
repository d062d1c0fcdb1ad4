"""A process that runs a stream until it is told to stop: `_streams_job.py FOLDER SINK`.

With `soak` behind these, it notes how much the state of each lane holds, now and then. What a file
`changed` in the folder names takes the place of the usual settings.
"""

import asyncio
import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

from _streams_sink import Manifests, appending
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import length
from pyspark.sql.streaming import DataStreamWriter

from asyncwait.backends.spark import Carry, embedded_spark, ordered_wait
from asyncwait.backends.spark.carry._processor import STATE

LANES = 2

NOTED = 10
"""Micro-batches from one look at the state to the next."""

STREAMING = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.shuffle.partitions": str(LANES),
}


def session(master: str) -> SparkSession:
    found = embedded_spark(master).session
    for name, value in STREAMING.items():
        found.conf.set(name, value)
    found.dataSource.register(Manifests)
    return found


def noted(calls: str) -> Any:
    """Return a function that takes 0.1 to 0.7 s, and notes first whom it is called for."""

    async def fetch(row: Any) -> dict[str, int]:
        file = os.open(calls, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(file, b"%d\n" % row.id)
        os.close(file)
        await asyncio.sleep(random.Random(row.id).uniform(0.1, 0.7))
        return {"twice": 2 * row.id}

    return fetch


def writing(out: DataFrame, sink: str, folder: Path) -> DataStreamWriter:
    if sink == "foreachBatch":
        return out.writeStream.foreachBatch(appending(folder))
    return out.writeStream.format(sink).option("path", str(folder))


def note_states(spark: SparkSession, folder: Path) -> None:
    read = spark.read.format("statestore").option("stateVarName", STATE)
    states = read.load(str(folder / "checkpoint")).select(length("value.state").alias("bytes"))
    with (folder / "states").open("a") as file:
        file.writelines(f"{row.bytes}\n" for row in states.collect())


def run(folder: Path, sink: str, *, soak: bool) -> int:
    spark, changed = session(f"local[{LANES},4]"), folder / "changed"
    given: dict[str, Any] = json.loads(changed.read_text()) if changed.exists() else {}
    for name, value in given.get("conf", {}).items():
        spark.conf.set(name, value)
    rows = spark.readStream.schema("id long, lane long")
    read = rows.option("maxFilesPerTrigger", 1).json(str(folder / "in"))
    told = {"order_by": "id", "lane_by": "lane", "pause": 0.3, "lease": 300, "version": "1"}
    options = {"carry": Carry(**told | given.get("carry", {}))} | given.get("options", {})
    out = ordered_wait(read, noted(str(folder / "calls")), "twice long", **options)
    writer = writing(out, sink, folder / "out")
    kept = writer.option("checkpointLocation", str(folder / "checkpoint"))
    query = kept.trigger(processingTime="100 milliseconds").start()
    parent, noted_at = os.getppid(), 0
    while query.isActive and os.getppid() == parent and not (folder / "stop").exists():
        time.sleep(0.2)
        told = query.lastProgress
        if soak and told is not None and told["batchId"] >= noted_at + NOTED:
            note_states(spark, folder)
            noted_at = told["batchId"]
    query.stop()
    return int(query.exception() is not None)


if __name__ == "__main__":
    sys.exit(run(Path(sys.argv[1]), sys.argv[2], soak="soak" in sys.argv[3:]))
