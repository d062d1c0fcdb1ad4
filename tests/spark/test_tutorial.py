"""The pages on DataFrames, lookup joins and streams, which run, and print what they say."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from pages import blocks_of, run
from streams import feed, score, two_lanes, until

from asyncwait.backends.spark import EmbeddedSpark
from asyncwait.backends.spark.conformance._streams import sunk

DOCS = Path(__file__).resolve().parents[2] / "docs"
TUTORIAL, LOOKUP = DOCS / "tutorials" / "dataframe.md", DOCS / "lookup.md"
STREAMS = DOCS / "streams.md"


def test_the_tutorial_prints_what_it_says(spark: EmbeddedSpark) -> None:
    blocks = [block for section in blocks_of(TUTORIAL).values() for block in section]
    names: dict[str, Any] = {"__name__": "__main__"}  # functions travel by value

    printed = [run(block, TUTORIAL, names) for block in blocks]

    assert printed == [block.printed for block in blocks]


def test_the_section_on_lookup_joins_prints_what_it_says(spark: EmbeddedSpark) -> None:
    (block,) = blocks_of(LOOKUP)["Join a DataFrame"]

    assert run(block, LOOKUP, {"__name__": "__main__"}) == block.printed


@pytest.mark.timeout(400)
def test_the_page_on_streams_shows_what_runs(
    spark: EmbeddedSpark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # A block writes a file.
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    feed(tmp_path / "in", 0, range(5))

    names: dict[str, Any] = {
        "spark": spark.session,
        "events": spark.session.readStream.schema("id long, time timestamp").json(
            str(tmp_path / "in")
        ),
        "score": score,
        "out": str(tmp_path / "out"),
        "checkpoint": str(tmp_path / "checkpoint"),
    }
    first, *others = [
        block
        for section in blocks_of(STREAMS).values()
        for block in section
        if block.language == "python"
    ]
    with ExitStack() as ending:
        ending.enter_context(two_lanes(spark))
        run(first, STREAMS, names)
        query = names["query"]
        ending.callback(query.stop)
        until(lambda: sum(table.num_rows for table in sunk(tmp_path / "out")) == 5, query)
        for block in others:
            run(block, STREAMS, names)
    rows = (row for table in sunk(tmp_path / "out") for row in table.to_pylist())

    assert sorted((row["id"], row["score"]) for row in rows) == [
        (each, each / 2) for each in range(5)
    ]
    assert names["counts"].columns == ["window", "count"]
