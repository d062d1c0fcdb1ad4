"""What a check of carrying is: for each spot it yields None, or what is wrong at which event."""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from asyncwait.conformance.carry._history import History
from asyncwait.conformance.judging import Finding

CarryCheck: TypeAlias = Callable[[History], Iterator[Finding]]

_CHECKS: dict[str, CarryCheck] = {}
CARRY_CHECKS: Mapping[str, CarryCheck] = _CHECKS
"""The check of each rule, by its id."""


def check(rule: str) -> Callable[[CarryCheck], CarryCheck]:
    """Make a function that looks at a history the check of a rule."""

    def make(look: CarryCheck) -> CarryCheck:
        assert rule not in _CHECKS, f"{rule} has a check already"
        _CHECKS[rule] = look
        return look

    return make
