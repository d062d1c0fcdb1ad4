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
    "ELEM-1": 34,
    "ELEM-2": 14,
    "ELEM-3": 22,
    "ELEM-4": 12,
    "ELEM-5": 6,
    "ELEM-6": 5,
    "ELEM-7": 7,
    "ELEM-8": 4,
    "ORD-1": 13,
    "ORD-2": 15,
    "ORD-3": 16,
    "ORD-4": 42,
    "ORD-5": 38,
    "WM-1": 74,
    "WM-2": 49,
    "WM-3": 83,
    "WM-4": 9,
    "WM-5": 20,
    "WM-6": 16,
    "WM-7": 2,
    "CAP-1": 26,
    "CAP-2": 32,
    "CAP-3": 14,
    "CAP-4": 21,
    "CAP-5": 9,
    "CAP-6": 5,
    "CAP-7": 3,
    "RES-1": 33,
    "RES-2": 1107,
    "RES-3": 9,
    "RES-4": 10,
    "RES-5": 8,
    "RES-6": 4,
    "RES-7": 35,
    "RES-8": 3,
    "RES-9": 18,
    "TIME-1": 23,
    "TIME-2": 26,
    "TIME-3": 27,
    "TIME-4": 16,
    "TIME-5": 12,
    "TIME-6": 8,
    "TIME-7": 5,
    "TIME-8": 6,
    "TIME-9": 4,
    "TIME-10": 10,
    "FAIL-1": 28,
    "FAIL-2": 19,
    "FAIL-3": 4,
    "FAIL-4": 3,
    "FAIL-5": 11,
    "FAIL-6": 8,
    "FAIL-7": 6,
    "FAIL-8": 4,
    "FAIL-9": 5,
    "FAIL-10": 24,
    "FAIL-11": 7,
    "FAIL-12": 7,
    "SNAP-1": 19,
    "SNAP-2": 26,
    "SNAP-3": 13,
    "SNAP-4": 10,
    "SNAP-5": 11,
    "SNAP-6": 2,
    "SNAP-7": 4,
    "SNAP-8": 9,
    "SNAP-9": 6,
    "SNAP-10": 3,
    "SNAP-11": 2,
    "REST-1": 49,
    "REST-2": 4,
    "REST-3": 5,
    "REST-4": 17,
    "REST-5": 52,
    "REST-6": 36,
    "REST-7": 35,
    "END-1": 16,
    "END-2": 6,
    "END-3": 29,
    "END-4": 9,
    "END-5": 15,
    "END-6": 9,
    "END-7": 11,
    "END-8": 2,
    "END-9": 10,
    "END-10": 8,
    "END-11": 5,
    "END-12": 1,
    "END-13": 3,
    "END-14": 1,
    "END-15": 4,
    "END-16": 3,
    "END-17": 2,
    "END-18": 2,
    "END-19": 4,
    "END-20": 2,
    "RETRY-1": 83,
    "RETRY-2": 34,
    "RETRY-3": 55,
    "RETRY-4": 56,
    "RETRY-5": 2,
    "RETRY-6": 7,
    "RETRY-7": 9,
    "RETRY-8": 3,
    "RETRY-9": 16,
    "RETRY-10": 9,
    "RETRY-11": 14,
    "RETRY-12": 8,
    "RETRY-13": 2,
    "RETRY-14": 4,
    "RETRY-15": 5,
    "RETRY-16": 4,
    "RETRY-17": 4,
    "POLICY-1": 32,
    "POLICY-2": 31,
    "POLICY-3": 2,
    "POLICY-4": 2,
    "POLICY-5": 7,
    "POLICY-6": 2,
    "POLICY-7": 12,
    "POLICY-8": 3,
    "POLICY-9": 2,
    "HOLD-1": 12,
    "HOLD-2": 20,
    "HOLD-3": 18,
    "HOLD-4": 10,
    "HOLD-5": 2,
    "KEY-1": 22,
    "KEY-2": 44,
    "KEY-3": 22,
    "KEY-4": 2,
    "KEY-5": 9,
    "KEY-6": 5,
    "KEY-7": 4,
    "KEY-8": 8,
    "KEY-9": 4,
    "KEY-10": 4,
    "KEY-11": 1,
    "KEY-12": 7,
    "KEY-13": 1,
    "CTX-1": 29,
    "CTX-2": 22,
    "CTX-3": 15,
    "CTX-4": 16,
    "CTX-5": 18,
    "CANCEL-1": 19,
    "CANCEL-2": 18,
    "CANCEL-3": 7,
    "COPY-1": 26,
    "COPY-2": 2,
    "COPY-3": 2,
    "COPY-4": 8,
    "STAT-1": 28,
    "STAT-2": 7,
    "STAT-3": 12,
    "STAT-4": 15,
    "STAT-5": 11,
    "STAT-6": 10,
    "STAT-7": 5,
    "STAT-8": 9,
    "STAT-9": 40,
    "STAT-10": 11,
    "STAT-11": 4,
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
