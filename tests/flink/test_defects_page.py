"""The page of what is wrong in Flink: each scenario on it is played again."""

import re
from pathlib import Path

import pytest
from flink_defects import Operator, drawn

from asyncwait.backends.flink._exceptions import KNOWN, KNOWN_KEYED
from asyncwait.backends.flink.conformance import backend, keyed_backend
from asyncwait.spec.scenario import scenarios_from_json

PAGE = Path(__file__).resolve().parents[2] / "docs" / "flink-defects.md"

SECTION = re.compile(
    r"^## (?P<flink>[A-Z]+-\d+): .*?^It breaks (?P<rule>[A-Z]+-\d+): .*?"
    r"^```text\n(?P<drawn>.*?)\n```.*?^asyncwait play (?P<name>\S+) '(?P<json>.*?)'$",
    re.MULTILINE | re.DOTALL,
)
SECTIONS = [found.groupdict() for found in SECTION.finditer(PAGE.read_text(encoding="utf-8"))]


NAMES = [f"{n}-{each['flink']}-{each['rule']}" for n, each in enumerate(SECTIONS)]


@pytest.mark.parametrize("section", SECTIONS, ids=NAMES)
def test_a_scenario_of_the_page_shows_what_is_drawn(flink: None, section: dict[str, str]) -> None:
    """The rule is broken, for the departure beside it, and all happens as it stands there."""
    make = keyed_backend if section["name"] == "flink-keyed" else backend
    (scenario,) = scenarios_from_json(section["json"].encode())

    found = Operator(section["name"], make()).departs(scenario, section["flink"])

    shown = [failure for how, failure in found.items() if how.startswith(f"{section['rule']} ")]
    assert [drawn(failure) for failure in shown] == [section["drawn"].splitlines()]


def test_each_departure_with_an_example_is_on_the_page() -> None:
    """As often as it has examples."""
    own = [known for known in KNOWN_KEYED if known not in KNOWN]
    planned = [known.flink for known in (*KNOWN, *own) for _ in known.examples]

    assert [section["flink"] for section in SECTIONS] == planned
    assert len(planned) >= 20
