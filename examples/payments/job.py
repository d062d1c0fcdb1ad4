"""The stream, in a process of its own, which `run.py` starts and kills.

`scored` is the code that one writes for a stream of one's own.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

import httpx
from pyspark.sql import DataFrame

from asyncwait.backends.services import transient
from asyncwait.backends.spark import Carry, embedded_spark, ordered_wait
from asyncwait.spec import Retry

LANES = 4
"""Each lane has its order; two threads of Spark for each of two cores mostly wait."""

SETTINGS = {
    "spark.sql.shuffle.partitions": str(LANES),
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
}

LEASE = 300
"""Seconds that calls go on without a driver: longer than a start takes on a busy machine."""


class Score:
    """Asks the service for the score of a payment.

    Args:
        url: of the service.
    """

    def __init__(self, url: str) -> None:
        self._url = url

    async def open(self) -> None:
        """Make the client; the operator limits its calls."""
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=100)
        self._client = httpx.AsyncClient(
            base_url=self._url, limits=limits, timeout=httpx.Timeout(None), trust_env=False
        )

    async def close(self) -> None:
        """Close it."""
        await self._client.aclose()

    async def __call__(self, payment: Any) -> dict[str, float]:
        """Return the score."""
        response = await self._client.get(f"/score/{payment.id}")
        response.raise_for_status()
        return {"score": response.json()["score"]}


def scored(payments: DataFrame, url: str, *, carried: bool) -> DataFrame:
    """Return payments with their scores."""
    carry = Carry(lane_by="account", order_by="id", lease=LEASE) if carried else None
    retry = Retry(max_attempts=6, initial=0.1, on_error=transient)
    return ordered_wait(payments, Score(url), "score double", retry=retry, carry=carry)


def run(folder: Path, url: str, *, carried: bool) -> int:
    """Run the stream until a file stops it, or its parent has ended."""
    session = embedded_spark(f"local[{LANES}]").session
    for name, value in SETTINGS.items():
        session.conf.set(name, value)
    payments = session.readStream.schema("id long, account long, at double")
    out = scored(payments.json(str(folder / "in")), url, carried=carried)
    writer = out.writeStream.format("parquet").option("path", str(folder / "out"))
    kept = writer.option("checkpointLocation", str(folder / "checkpoint"))
    query = kept.trigger(processingTime="250 milliseconds").start()
    parent = os.getppid()
    while query.isActive and os.getppid() == parent and not (folder / "stop").exists():
        time.sleep(0.1)  # Files that appear ring no bell.
    query.stop()
    if (error := query.exception()) is not None:
        print(f"error: {error}", file=sys.stderr)
    return int(error is not None)


if __name__ == "__main__":
    sys.exit(run(Path(sys.argv[1]), sys.argv[2], carried=sys.argv[3] == "carry"))
