"""Flink's departures: each expected failure is one; examples and pages show all of them."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from flink_defects import FLINK, Defect, assert_departures, said_of

from asyncwait.backends.flink._expected_failures import KNOWN, KNOWN_KEYED, Known
from asyncwait.backends.flink.conformance import backend, keyed_backend
from asyncwait.backends.pyflink._expected_failures import KNOWN as KNOWN_PYTHON
from asyncwait.conformance import StreamBackend

pytestmark = pytest.mark.usefixtures("flink")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "flink.md"
KEPT = ("a-long-stream-is-let-go", "handler-after-two-days", "handler-gives-several-results")
KEPT_BY_KEY = (
    "one-call-after-another",
    "called-behind-a-watermark",
    "finished-and-held-by-a-watermark",
    "late-one-after-the-other",
    "keys-that-look-alike",
    "waiting-takes-room",
    "a-snapshot-of-a-line",
    "one-key-and-a-watermark",
    "a-long-stream-is-let-go",
)


@pytest.mark.parametrize(
    ("opened", "known", "kept"),
    [(backend, KNOWN, KEPT), (keyed_backend, KNOWN_KEYED, KEPT_BY_KEY)],
    ids=["flink", "flink-keyed"],
)
def test_what_is_known_shows_in_the_examples_and_nothing_else(
    opened: Callable[[], StreamBackend], known: tuple[Known, ...], kept: tuple[str, ...]
) -> None:
    assert_departures(known, said_of(opened()), kept)


@pytest.mark.parametrize("defect", FLINK.defects, ids=lambda defect: defect.id)
def test_the_page_of_defects_shows_what_an_example_shows(defect: Defect) -> None:
    assert FLINK.section(defect) in FLINK.text


def test_the_page_of_defects_has_a_section_for_each_example() -> None:
    assert FLINK.text.startswith(FLINK.head)
    assert FLINK.text.count("\n## ") == len(FLINK.defects) >= 20


def row_of(known: Known) -> str:
    often, seldom = ", ".join(known.rules), ", ".join(known.seldom)
    broken = "; ".join(filter(None, [often, f"seldom {seldom}" if seldom else ""]))
    return f"| {known.flink} | {broken} | {known.shows} |"


def test_the_page_tells_how_each_departure_shows() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    own = [known for known in KNOWN_KEYED if known not in KNOWN]

    rows = [line for line in lines if re.match(r"\| [A-Z]{2,3}-\d+ \|", line)]
    assert rows == [row_of(known) for known in (*KNOWN, *own, *KNOWN_PYTHON)]
