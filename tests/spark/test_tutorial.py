"""The tutorial "enrich a DataFrame" prints what it says, on Spark."""

from pathlib import Path
from typing import Any

from pages import blocks_of, run

from asyncwait.backends.spark import EmbeddedSpark

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorials" / "dataframe.md"


def test_the_tutorial_prints_what_it_says(spark: EmbeddedSpark) -> None:
    """Its blocks run one after the other, as a reader would type them."""
    blocks = [block for section in blocks_of(PAGE).values() for block in section]
    names: dict[str, Any] = {"__name__": "__main__"}  # functions travel by value

    printed = [run(block, PAGE, names) for block in blocks]

    assert printed == [block.printed for block in blocks]
