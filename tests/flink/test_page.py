"""The page about Flink's operators tells of all that they are known to break."""

import re
from pathlib import Path

from asyncwait.backends.flink._expected_failures import KNOWN, KNOWN_KEYED, Known
from asyncwait.backends.pyflink._expected_failures import KNOWN as KNOWN_PYTHON

PAGE = Path(__file__).resolve().parents[2] / "docs" / "flink.md"


def row_of(known: Known) -> str:
    often, seldom = ", ".join(known.rules), ", ".join(known.seldom)
    broken = "; ".join(filter(None, [often, f"seldom {seldom}" if seldom else ""]))
    return f"| {known.flink} | {broken} | {known.shows} |"


def test_the_page_tells_how_each_departure_shows() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    own = [known for known in KNOWN_KEYED if known not in KNOWN]

    rows = [line for line in lines if re.match(r"\| [A-Z]{2,3}-\d+ \|", line)]
    assert rows == [row_of(known) for known in (*KNOWN, *own, *KNOWN_PYTHON)]
