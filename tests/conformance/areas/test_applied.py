"""How often each rule applies in the examples that are about it.

A check whose premise is a little too wide or too narrow convicts nobody of the gallery, and says
"passed" of what it has not looked at. So the numbers are kept: `APPLIED` is what the reference
gives; whoever changes an example or a premise sees what that changes, and `python
tests/conformance/areas/test_applied.py` prints the table anew.
"""

from collections import Counter
from functools import cache

import pytest

from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import judge
from asyncwait.reference import open_operator

APPLIED = {
    "ELEM-1": 19,
    "ELEM-2": 12,
    "ELEM-3": 22,
    "ELEM-4": 12,
    "ELEM-5": 3,
    "ELEM-6": 5,
    "ELEM-7": 7,
    "ELEM-8": 4,
    "ORD-1": 11,
    "ORD-2": 11,
    "ORD-3": 7,
    "ORD-4": 28,
    "ORD-5": 22,
    "WM-1": 22,
    "WM-2": 17,
    "WM-3": 27,
    "WM-4": 3,
    "WM-5": 12,
    "WM-6": 12,
    "WM-7": 2,
    "CAP-1": 26,
    "CAP-2": 22,
    "CAP-3": 8,
    "CAP-4": 16,
    "CAP-5": 3,
    "CAP-6": 5,
    "CAP-7": 2,
    "RES-1": 17,
    "RES-2": 1107,
    "RES-3": 8,
    "RES-4": 7,
    "RES-5": 7,
    "RES-6": 3,
    "RES-7": 5,
    "RES-8": 3,
    "TIME-1": 13,
    "TIME-2": 20,
    "TIME-3": 14,
    "TIME-4": 7,
    "TIME-5": 8,
    "TIME-6": 6,
    "TIME-7": 5,
    "TIME-8": 5,
    "TIME-9": 3,
    "TIME-10": 8,
    "FAIL-1": 15,
    "FAIL-2": 14,
    "FAIL-3": 3,
    "FAIL-4": 3,
    "FAIL-5": 5,
    "FAIL-6": 8,
    "FAIL-7": 5,
    "FAIL-8": 3,
    "FAIL-9": 5,
    "FAIL-10": 11,
    "FAIL-11": 5,
    "SNAP-1": 18,
    "SNAP-2": 23,
    "SNAP-3": 12,
    "SNAP-4": 6,
    "SNAP-5": 11,
    "SNAP-6": 2,
    "SNAP-7": 4,
    "SNAP-8": 9,
    "SNAP-9": 6,
    "SNAP-10": 2,
    "SNAP-11": 2,
    "REST-1": 14,
    "REST-2": 4,
    "REST-3": 5,
    "REST-4": 12,
    "REST-5": 34,
    "REST-6": 33,
    "REST-7": 17,
    "END-1": 16,
    "END-2": 5,
    "END-3": 14,
    "END-4": 6,
    "END-5": 14,
    "END-6": 8,
    "END-7": 7,
    "END-8": 2,
    "END-9": 4,
    "END-10": 4,
    "END-11": 5,
    "END-12": 1,
    "END-13": 3,
    "END-14": 1,
    "END-15": 3,
    "END-16": 3,
    "END-17": 2,
    "END-18": 2,
    "END-19": 4,
    "END-20": 1,
    "RETRY-1": 31,
    "RETRY-2": 5,
    "RETRY-3": 34,
    "RETRY-4": 34,
    "RETRY-5": 2,
    "RETRY-6": 7,
    "RETRY-7": 6,
    "RETRY-8": 1,
    "RETRY-9": 4,
    "RETRY-10": 3,
    "RETRY-11": 4,
    "RETRY-12": 4,
    "RETRY-13": 2,
    "RETRY-14": 2,
    "RETRY-15": 5,
    "RETRY-16": 4,
    "RETRY-17": 4,
}


@cache
def applied() -> Counter[str]:
    """Return how often each rule applied in its own examples."""
    found: Counter[str] = Counter()
    for example in EXAMPLES:
        judged = judge(example.scenario, play(open_operator, example.scenario, "asyncio"), CHECKS)
        assert not judged.error
        found.update({rule: judged.by_rule[rule].applied for rule in example.rules})
    return found


@pytest.mark.parametrize("rule", CHECKS)
def test_a_rule_looks_at_what_it_is_about(rule: str) -> None:
    """It applies as often as it did when somebody looked."""
    assert applied()[rule] == APPLIED[rule]


if __name__ == "__main__":
    print("\n".join(f'    "{rule}": {applied()[rule]},' for rule in CHECKS))
