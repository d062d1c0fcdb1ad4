"""The reference does what Flink was seen doing, but where it departs."""

import pytest
from known_departures import expected_of_the_reference, known_departures
from known_player import play_known
from known_traces import Known, known_traces

from asyncwait.spec.rules import departures

KNOWN = {known.name: known for known in known_traces()}


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
@pytest.mark.parametrize("known", KNOWN.values(), ids=KNOWN)
def test_the_reference_does_it_but_for_its_departures(known: Known, loop: str) -> None:
    """What is not named is the same, and what is named shows."""
    named = [departure for departure in known_departures() if departure.scenario == known.name]
    assert play_known(known.scenario, loop) == expected_of_the_reference(known, named)


def test_departures_are_named_as_the_specification_names_them() -> None:
    """By the ids of its rows; and each is of a scenario that there is."""
    assert {departure.id for departure in known_departures()} <= {row.flink for row in departures()}
    assert {departure.scenario for departure in known_departures()} <= KNOWN.keys()
