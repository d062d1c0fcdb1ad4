"""The tutorial "enrich a DataFrame", and what lookups say of DataFrames, print what they say."""

from pathlib import Path
from typing import Any

from pages import blocks_of, run

from asyncwait.backends.spark import EmbeddedSpark

DOCS = Path(__file__).resolve().parents[2] / "docs"
TUTORIAL, LOOKUP = DOCS / "tutorials" / "dataframe.md", DOCS / "lookup.md"


def test_the_tutorial_prints_what_it_says(spark: EmbeddedSpark) -> None:
    blocks = [block for section in blocks_of(TUTORIAL).values() for block in section]
    names: dict[str, Any] = {"__name__": "__main__"}  # functions travel by value

    printed = [run(block, TUTORIAL, names) for block in blocks]

    assert printed == [block.printed for block in blocks]


def test_the_section_on_lookup_joins_prints_what_it_says(spark: EmbeddedSpark) -> None:
    (block,) = blocks_of(LOOKUP)["Join a DataFrame"]

    assert run(block, LOOKUP, {"__name__": "__main__"}) == block.printed
