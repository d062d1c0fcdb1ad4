"""The page of what is wrong in Flink: each scenario on it is played again."""

import pytest
from flink_defects import FLINK

SECTIONS = FLINK.sections()


@pytest.mark.parametrize("section", SECTIONS, ids=FLINK.names())
def test_a_scenario_of_the_page_shows_what_is_drawn(flink: None, section: dict[str, str]) -> None:
    assert FLINK.plays(section) == [section["drawn"].splitlines()]


def test_each_departure_with_an_example_is_on_the_page() -> None:
    planned = [known.flink for listed in FLINK.listed.values() for known, _ in listed.planned]

    assert [section["flink"] for section in SECTIONS] == planned
    assert len(planned) >= 20
