"""What tells one scenario from another."""

import msgspec

from asyncwait.spec import Record
from asyncwait.spec.scenario import (
    Scenario,
    Timed,
    id_of,
    key_of,
)

SCENARIO = Scenario(capacity=1, inputs=(Timed(0, Record("a")),))


def test_an_id_is_eight_digits_that_stay_the_same() -> None:
    assert id_of(SCENARIO) == "620a446d"
    assert key_of(SCENARIO) == (
        b'{"capacity":1,"inputs":[{"at":0,"element":{"type":"record","value":"a"}}]}'
    )


def test_a_name_makes_no_other_scenario() -> None:
    assert id_of(msgspec.structs.replace(SCENARIO, name="one")) == id_of(SCENARIO)
