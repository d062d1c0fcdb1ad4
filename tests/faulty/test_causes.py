"""Whether the report on a faulty operator begins with the rule that it was made to break."""

import pytest

from asyncwait.backends.faulty import FAULTY, Faulty
from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.harness import play
from asyncwait.conformance.verdict import Case, Tally, causes_of, conclude
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import ALL_CAPABILITIES

FIRST, AMONG_THREE = 3 / 4, 4 / 5
"""Shares. The others break a rule that implies their own, or one that fits at least as well."""

SAMPLE: list[Faulty] = [faulty for faulty in FAULTY if not faulty.blocks][::5]
"""A fifth of the gallery, of all areas: the whole takes minutes."""

LARGE = 20
"""Inputs; what a larger example shows, a small one of the same rule does too."""

SMALL = [
    example
    for example in EXAMPLES
    if len(example.scenario.inputs) <= LARGE and not example.scenario.tracked
]


def place_of_its_rule(faulty: Faulty) -> int:
    """Where its rule stands among the causes of what is found, from 0; 99 for nowhere."""
    tally = Tally(CHECKS, rules())
    for example in SMALL:
        case = Case(example.name, example.scenario, example.scenario, about=example.rules)
        tally.add(case, play(faulty.open_operator, example.scenario, faulty.loop))
    results = conclude(tally, rules(), ALL_CAPABILITIES, {})
    causes = [cause.rule for cause in causes_of(tally, results)]
    return causes.index(faulty.rule) if faulty.rule in causes else 99


@pytest.mark.timeout(900)
def test_its_own_rule_stands_first(capsys: pytest.CaptureFixture[str]) -> None:
    """For most of the gallery; where it does not, it stands close by or is explained."""
    places = [place_of_its_rule(faulty) for faulty in SAMPLE]

    first, close = places.count(0), sum(place < 3 for place in places)
    with capsys.disabled():
        print(f"\nits own rule first: {first} of {len(places)}, among three: {close}")
    assert first >= FIRST * len(places)
    assert close >= AMONG_THREE * len(places)
