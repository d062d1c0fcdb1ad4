"""Where a stream reads, and where it writes: payments in small files, and scores in Parquet."""

import json
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlparse

EVERY, EACH, ACCOUNTS = 0.2, 4, 50
"""Seconds between two files, payments in each, and accounts that they come from."""


class Payment(NamedTuple):
    """What comes in."""

    id: int
    account: int
    at: float


class Scored(NamedTuple):
    """What comes out, and when that was."""

    payment: Payment
    score: float
    at: float


class Source:
    """The folder that payments come into, whether or not anybody reads it.

    Args:
        folder: for files; it is made.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self._over = threading.Event()
        self._bringing = threading.Thread(target=self._bring_on, daemon=True)
        self.given: list[Payment] = []

    def bring(self) -> None:
        """Bring a file of payments, whole: Spark leaves out what begins with a dot."""
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
        """Bring no more."""
        self._over.set()
        if self._bringing.is_alive():
            self._bringing.join()


class Sink:
    """The folder that Spark writes scores into.

    Args:
        folder: of it. What counts is its log: a stream that is killed leaves other files, too.
    """

    def __init__(self, folder: Path) -> None:
        self._log = folder / "_spark_metadata"
        self._seen = set[str]()
        self.scored: list[Scored] = []
        """In the order in which they came out."""

    def look(self) -> Sequence[Scored]:
        """Return all that has come out by now."""
        for entry in sorted(self._log.glob("[0-9]*"), key=lambda each: int(each.stem)):
            for line in entry.read_text().splitlines()[1:]:
                file = json.loads(line)
                if file["path"] not in self._seen:
                    self._seen.add(file["path"])
                    self.scored += _read(file["path"], file["modificationTime"] / 1_000)
        return self.scored


def _read(path: str, at: float) -> list[Scored]:
    import pyarrow.parquet as pq

    rows = pq.read_table(unquote(urlparse(path).path)).to_pylist()
    return [
        Scored(Payment(*(row[name] for name in Payment._fields)), row["score"], at) for row in rows
    ]
