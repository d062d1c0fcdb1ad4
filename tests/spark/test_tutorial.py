"""The tutorial "enrich a DataFrame" prints what it says, and the README's code runs, on Spark."""

import re
from pathlib import Path
from typing import Any

from pages import blocks_of, run

from asyncwait.backends.spark import EmbeddedSpark

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "tutorials" / "dataframe.md"


def test_the_tutorial_prints_what_it_says(spark: EmbeddedSpark) -> None:
    """Its blocks run one after the other, as a reader would type them."""
    blocks = [block for section in blocks_of(PAGE).values() for block in section]
    names: dict[str, Any] = {"__name__": "__main__"}  # functions travel by value

    printed = [run(block, PAGE, names) for block in blocks]

    assert printed == [block.printed for block in blocks]


def test_the_code_of_the_readme_enriches_its_rows(spark: EmbeddedSpark) -> None:
    """What it makes of the rows is what it says."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(
        r"^```python\n(from asyncwait\.backends\.spark.*?)^```$", readme, re.MULTILINE | re.DOTALL
    )
    names: dict[str, Any] = {"__name__": "__main__"}

    exec(code, names)  # noqa: S102 - the page is ours

    assert [(row.city, row.letters, row.error) for row in names["out"].collect()] == [
        ("Oslo", 4, None),
        ("Rome", 4, None),
    ]
