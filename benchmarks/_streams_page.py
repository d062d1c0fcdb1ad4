"""The page of what was measured of streams: a text for each part, and its table."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from _page import Rows, machine, markdown

Table: TypeAlias = tuple[Sequence[str], Rows]

HEAD = """# Streams whose calls stay in flight: kills, and figures

By `python benchmarks/streams.py`, in a session with two lanes; {machine}.
"""

TEXTS: Mapping[str, str] = {
    "kills": """## Kills

A stream reads a file of 20 rows in each micro-batch and makes calls of 0.1 to 0.7 s. What is named
is killed by SIGKILL at a random moment, and the stream goes on. The seam is a micro-batch that the
sink has while Spark's own commit of it has not come. When a batch is played again, "parquet" leaves
it out; "manifests", a sink by the data source API, is given it and ignores its second commit;
"foreachBatch" writes it once more, as sinks do that look at no numbers.

Resent are micro-batches that a sink was given once more; repeated are their rows, where all of them
were as before. Disorder counts rows before their predecessor in a lane, again the calls after the
first one of a row. After each kill one more file comes: a query that is started again where a
micro-batch was complete begins none without rows, and what is in flight waits.
""",
    "soak": """## A stream without rest

The same stream into Parquet is kept busy, and killed every 50 micro-batches, each part in its turn;
the seconds are those since its start. The state of a lane is the bytes of its one value in the
state store, seen every ten micro-batches.
""",
    "latency": """## Latency

20 events a second, whose calls take 50 ms, but one in a hundred 5 s; of the others it is told how
long they took from their creation to the commit of the sink.
""",
    "cost": """## Cost

Micro-batches of 20,000 rows of 108 B, calls that return at once, no sink.
""",
    "left": """## What is left

What there is of call hosts, as long as that after a query has ended; `lease` is 60 s.
""",
}


def write(path: Path, tables: Mapping[str, Table]) -> None:
    parts = [f"{TEXTS[part]}\n{markdown(*table)}" for part, table in tables.items()]
    path.write_text("\n".join([HEAD.format(machine=machine()), *parts]), encoding="utf-8")
