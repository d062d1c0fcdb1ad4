"""A form for plain values is judged as its operator is: what is wrong in either shows."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from asyncwait.backends.faulty import FAULTY
from asyncwait.backends.pool import key_ordered_wait, ordered_wait, unordered_wait
from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.judging import judge
from asyncwait.conformance.running import adapted, plain_backend
from asyncwait.conformance.running._plain import gives_one, never_waits
from asyncwait.spec import Mode
from asyncwait.toolkit import plain_wait

MODES: tuple[Mode, ...] = ("ordered", "unordered", "key-ordered")
SOUND: dict[Mode, Any] = dict(
    zip(MODES, (ordered_wait, unordered_wait, key_ordered_wait), strict=True)
)
RULES = [f"{area}-1" for area in ("ORD", "CAP", "RES", "TIME", "FAIL", "END", "RETRY", "POLICY")]


def convicts(waits: dict[Mode, Any], rule: str) -> bool:
    """Whether an example shows that rule broken; those that are about it come first."""
    backend = plain_backend(waits)
    for example in sorted(EXAMPLES, key=lambda each: rule not in each.rules):
        scenario = adapted(example.scenario, backend.capabilities)
        (trace,) = backend.run([scenario])
        if rule in dict(judge(scenario, trace, CHECKS).violations()):
            return True
    return False


@pytest.mark.parametrize("rule", [*RULES, "HOLD-1", "KEY-1", "STAT-3"])
def test_what_is_faulty_is_convicted_through_plain_values(rule: str) -> None:
    opens = [each.open_operator for each in FAULTY if each.rule == rule]

    assert any(convicts({mode: plain_wait(each, mode) for mode in MODES}, rule) for each in opens)


def test_a_source_that_is_read_to_its_end_before_the_first_call_is_convicted() -> None:
    def greedy(mode: Mode) -> Any:
        def wait(source: Any, *args: Any, **options: Any) -> Any:
            read = list(source) if isinstance(source, Iterator) else source
            return SOUND[mode](read, *args, **options)

        return wait

    assert convicts({mode: greedy(mode) for mode in MODES}, "CAP-3")


@pytest.mark.parametrize("is_so", [gives_one, never_waits])
def test_both_kinds_of_functions_and_of_sources_are_played(is_so: Any) -> None:
    played = [adapted(each.scenario, plain_backend(SOUND).capabilities) for each in EXAMPLES]
    counts = Counter(map(is_so, played))

    assert min(counts[True], counts[False]) >= 80
