"""The page on streams, which runs what it shows.

The module of its function imports no code that compiles texts, which a version would refuse.
"""

from pathlib import Path
from typing import Any

import pytest
from pages import blocks_of, run
from pyspark.sql.streaming import StreamingQuery
from streams import feed, score, until

from asyncwait.backends.spark import EmbeddedSpark
from asyncwait.backends.spark.conformance._streams import sunk

PAGE = Path(__file__).resolve().parents[3] / "docs" / "streams.md"


@pytest.mark.timeout(400)
def test_the_page_on_streams_shows_what_runs(
    streams: EmbeddedSpark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # A block writes a file.
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    feed(tmp_path / "in", 0, range(5))

    names: dict[str, Any] = {
        "spark": streams.session,
        "events": streams.session.readStream.schema("id long, time timestamp").json(
            str(tmp_path / "in")
        ),
        "score": score,
        "out": str(tmp_path / "out"),
        "checkpoint": str(tmp_path / "checkpoint"),
    }
    first, *others = [
        block
        for section in blocks_of(PAGE).values()
        for block in section
        if block.language == "python"
    ]
    run(first, PAGE, names)
    query: StreamingQuery = names["query"]
    try:
        until(lambda: sum(table.num_rows for table in sunk(tmp_path / "out")) == 5, query)
        for block in others:
            run(block, PAGE, names)
    finally:
        query.stop()
    rows = (row for table in sunk(tmp_path / "out") for row in table.to_pylist())

    assert sorted((row["id"], row["score"]) for row in rows) == [
        (each, each / 2) for each in range(5)
    ]
    assert names["counts"].columns == ["window", "count"]
