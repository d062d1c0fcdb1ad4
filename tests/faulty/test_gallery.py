"""The gallery: what is faulty is convicted by its rule, what is only odd is not."""

import inspect
import re
import subprocess
import sys
from functools import cache

import pytest
from odd import ODD, sound
from sample import some
from sweep import is_convicted

from asyncwait.backends.faulty import FAULTY, Faulty, Variation
from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.generation import generate
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import judge
from asyncwait.conformance.running import adapted
from asyncwait.reference import open_operator
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import Scenario, Trace

VARIATIONS: tuple[Variation, ...] = (*FAULTY, *ODD)
MOST_LINES = 20
SCENARIOS_FOR_ODD = 300

each_faulty = pytest.mark.parametrize("faulty", FAULTY, ids=lambda faulty: faulty.name)
each_odd = pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd.name)


@pytest.mark.sampled(3)
@pytest.mark.timeout(900)  # some seconds, on a busy machine minutes
@each_faulty
def test_the_quick_suite_convicts_it_by_its_rule(faulty: Faulty) -> None:
    assert is_convicted(faulty, faulty.loop, seed=0)


@pytest.mark.sampled
@pytest.mark.timeout(300)
@each_odd
def test_no_rule_convicts_what_is_only_odd(odd: Variation) -> None:
    backend = odd.backend()
    every = some([*_examples(), *_generated(SCENARIOS_FOR_ODD)], 10, odd.name)
    scenarios = [adapted(scenario, backend.capabilities) for scenario in every]
    found = [
        (rule, scenario.name or scenario, violation)
        for scenario, trace in zip(scenarios, backend.run(scenarios), strict=True)
        for rule, violation in judge(scenario, trace, CHECKS).violations()
    ]
    assert found == []


@each_odd
def test_what_is_odd_can_be_told_from_the_reference(odd: Variation) -> None:
    """An operator that passes because it does what the reference does would prove nothing."""
    assert any(
        play(odd.open_operator, scenario) != _of_the_reference(number)
        for number, scenario in enumerate(_examples())
    )


def test_every_rule_is_broken_by_one() -> None:
    assert {faulty.rule for faulty in FAULTY} == set(rules())


def test_the_change_is_small() -> None:
    lines = {each.name: sum(map(_lines_of, (each.change, *each.also))) for each in FAULTY}

    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}


def test_it_overrides_what_is_public() -> None:
    hidden = [
        f"{one.__name__}.{name}"
        for variation in VARIATIONS
        for change in (variation.change, *variation.also)
        for one in _own_classes(change)
        for name in vars(one)
        if name.startswith("_") and not name.startswith("__")
        for base in one.__mro__[1:]
        if not base.__module__.startswith(("asyncwait.backends.faulty", "odd"))
        and inspect.isfunction(vars(base).get(name))
    ]

    assert hidden == []


def test_what_has_its_own_mechanism_is_written_from_the_contract_alone() -> None:
    imports = re.compile(r"^\s*(?:from|import) (\S+)", re.MULTILINE)
    found = {*imports.findall(inspect.getsource(sound))}

    assert found - sys.stdlib_module_names - {"asyncwait.spec", "asyncwait.spec.snapshots"} == {
        "trio",
        "asyncwait.toolkit",
        "collections.abc",
    }


def test_without_trio_the_others_are_there() -> None:
    program = (
        "import sys; sys.modules['trio'] = None\n"
        "from asyncwait.backends.faulty import gallery\n"
        "gallery()['faulty-reads-on-after-leaving'](), gallery()['faulty-tells-the-cancelled']()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)

    assert b"MissingExtra: trio is not installed" in done.stderr


def _examples() -> list[Scenario]:
    return [example.scenario for example in EXAMPLES]


@cache
def _of_the_reference(number: int) -> Trace:
    return play(open_operator, EXAMPLES[number].scenario)


@cache
def _generated(count: int) -> tuple[Scenario, ...]:
    return generate(count, seed=0)


def _own_classes(change: type) -> set[type]:
    made_of = [*change.__mro__, *vars(change).values()]
    return {one for one in made_of if inspect.isclass(one) and one.__module__ == change.__module__}


def _lines_of(change: type) -> int:
    """Count the lines of a change; classes inside others stand in their lines."""
    sources = {_source_of(one) for one in _own_classes(change)}
    outermost = [text for text in sources if not any(_is_inside(text, other) for other in sources)]
    return sum(len(text.splitlines()) for text in outermost)


def _source_of(change: type) -> str:
    source = inspect.getsource(change)
    return source[source.index("class ") :]


def _is_inside(text: str, other: str) -> bool:
    return text != other and text in other
