"""The page of what is wrong in PyFlink: each scenario on it is played again."""

import pytest
from flink_defects import PYFLINK

SECTIONS = PYFLINK.sections()


@pytest.mark.parametrize("section", SECTIONS, ids=PYFLINK.names())
def test_a_scenario_of_the_page_shows_what_is_drawn(section: dict[str, str]) -> None:
    assert PYFLINK.plays(section) == [section["drawn"].splitlines()]


def test_each_departure_with_an_example_is_on_the_page() -> None:
    planned = [known.flink for listed in PYFLINK.listed.values() for known, _ in listed.planned]

    assert [section["flink"] for section in SECTIONS] == planned
    assert len(planned) >= 8
