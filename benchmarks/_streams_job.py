"""A process that runs a stream until a file stops it, and its sinks: `_streams_job.py FOLDER SINK`.

When Spark plays a micro-batch again, "parquet" leaves it out; "manifests", a sink by the data
source API, receives it and ignores its second commit; "foreachBatch" writes it once more.
"""

import asyncio
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote, urlparse
from uuid import uuid4

import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql.datasource import DataSource, DataSourceStreamWriter, WriterCommitMessage
from pyspark.sql.streaming import DataStreamWriter

from asyncwait.backends.spark import Carry, embedded_spark, ordered_wait

LANES = 2

STREAMING = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.shuffle.partitions": str(LANES),
}


Row: TypeAlias = dict[str, Any]

SINKS = ("parquet", "manifests", "foreachBatch")


class Part(WriterCommitMessage):
    def __init__(self, path: str) -> None:
        self.path = path


class ManifestWriter(DataSourceStreamWriter):
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, iterator: Iterator[Any]) -> Part:
        path = self._folder / f"part-{uuid4().hex}"
        with path.open("w") as file:
            file.writelines(f"{json.dumps(row.asDict())}\n" for row in iterator)
        return Part(str(path))

    def commit(self, messages: list[Any], batchId: int) -> None:  # noqa: N803 - Spark's names
        fresh = self._folder / f"fresh-{uuid4().hex}"
        fresh.write_text("".join(f"{json.dumps({'path': each.path})}\n" for each in messages))
        try:
            os.link(fresh, self._folder / str(batchId))
        except FileExistsError:  # It has this batch.
            (self._folder / f"ignored-{batchId}").touch()
        fresh.unlink()

    def abort(self, messages: list[Any], batchId: int) -> None:  # noqa: N803
        """Leave what has been written: no manifest names it."""


class Manifests(DataSource):
    @classmethod
    def name(cls) -> str:
        return "manifests"

    def streamWriter(self, schema: Any, overwrite: bool) -> ManifestWriter:  # noqa: N802, FBT001
        folder = Path(self.options["path"])
        folder.mkdir(exist_ok=True)
        return ManifestWriter(folder)


def appending(folder: Path) -> Callable[[DataFrame, int], None]:
    """Return what writes each attempt at a micro-batch into a file of its own."""

    def append(rows: DataFrame, number: int) -> None:
        folder.mkdir(exist_ok=True)
        fresh = folder / f"fresh-{uuid4().hex}"
        fresh.write_text("".join(f"{json.dumps(row.asDict())}\n" for row in rows.collect()))
        fresh.rename(folder / f"{number}-{len([*folder.glob(f'{number}-*')])}")

    return append


class Arrived:
    """Rows that have arrived in a sink.

    Args:
        sink: kind of the sink.
        folder: folder into which the sink writes.
    """

    def __init__(self, sink: str, folder: Path) -> None:
        self._log = folder / "_spark_metadata" if sink == "parquet" else folder
        self._seen: set[str] = set()
        self.batches: dict[int, list[Row]] = {}
        self.again: list[tuple[int, list[Row]]] = []
        """Rows of further attempts at a micro-batch, in a sink that takes all attempts."""

    def look(self) -> None:
        for number, file in sorted(self._attempts()):
            if str(file) not in self._seen:
                self._seen.add(str(file))
                if number in self.batches:
                    self.again.append((number, _rows(str(file))))
                else:
                    self.batches[number] = _rows(str(file))
        for number, file in sorted(self._entries()):
            told = [json.loads(line) for line in file.read_text().splitlines() if line[:1] == "{"]
            new = [each["path"] for each in told if each["path"] not in self._seen]
            self._seen.update(new)
            self.batches[number] = [row for path in new for row in _rows(path)]

    def _attempts(self) -> Iterator[tuple[int, Path]]:
        for file in self._log.glob("[0-9]*-[0-9]*"):
            yield int(file.name.partition("-")[0]), file

    def _entries(self) -> Iterator[tuple[int, Path]]:
        for entry in os.scandir(self._log) if self._log.exists() else ():
            number = entry.name.removesuffix(".compact")
            if number.isdigit() and int(number) not in self.batches:
                yield int(number), Path(entry.path)

    def rows(self) -> list[Row]:
        return [row for number in sorted(self.batches) for row in self.batches[number]]


def _rows(path: str) -> list[Row]:
    if path.startswith("file:"):
        return pq.read_table(unquote(urlparse(path).path)).to_pylist()  # type: ignore[no-any-return]
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


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


def run(folder: Path, sink: str) -> int:
    spark = embedded_spark(f"local[{LANES},4]").session
    spark.dataSource.register(Manifests)
    for name, value in STREAMING.items():
        spark.conf.set(name, value)
    rows = spark.readStream.schema("id long, lane long")
    read = rows.option("maxFilesPerTrigger", 1).json(str(folder / "in"))
    carry = Carry(order_by="id", lane_by="lane", pause=0.3, lease=300, version="1")
    out = ordered_wait(read, noted(str(folder / "calls")), "twice long", carry=carry)
    writer = writing(out, sink, folder / "out")
    kept = writer.option("checkpointLocation", str(folder / "checkpoint"))
    query = kept.trigger(processingTime="100 milliseconds").start()
    parent = os.getppid()
    while query.isActive and os.getppid() == parent and not (folder / "stop").exists():
        time.sleep(0.2)
    query.stop()
    return int(query.exception() is not None)


if __name__ == "__main__":
    sys.exit(run(Path(sys.argv[1]), sys.argv[2]))
