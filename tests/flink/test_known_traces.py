"""Flink does again what it was seen doing, and the reference does the same but where it departs."""

import pytest
from flink_player import play_on_flink
from known_departures import expected_of_the_reference, known_departures, without_hashes
from known_traces import Known, known_traces
from reference_player import play_on_reference

from asyncwait.spec.rules import departures

KNOWN = {known.name: known for known in known_traces()}

each_known = pytest.mark.parametrize("known", KNOWN.values(), ids=KNOWN)


@pytest.mark.usefixtures("flink")
@each_known
def test_flink_does_it_again(known: Known) -> None:
    """Event by event; in any order where that hangs on hashes."""
    played = play_on_flink(known.scenario)
    assert without_hashes(known, played) == without_hashes(known, known.trace)


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
@each_known
def test_the_reference_does_it_but_for_its_departures(known: Known, loop: str) -> None:
    """What is not named is the same, and what is named shows."""
    named = [departure for departure in known_departures() if departure.scenario == known.name]
    expected = expected_of_the_reference(known, named)
    assert play_on_reference(known.scenario, loop) == expected


def test_departures_are_named_as_the_specification_names_them() -> None:
    """By the ids of its rows; and each is of a scenario that there is."""
    assert {departure.id for departure in known_departures()} <= {row.flink for row in departures()}
    assert {departure.scenario for departure in known_departures()} <= KNOWN.keys()
