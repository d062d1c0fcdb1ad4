"""Where the checks of carrying are."""

from collections.abc import Callable
from typing import TypeAlias

from asyncwait.conformance._checks import Checks
from asyncwait.conformance.carry._history import History
from asyncwait.conformance.judging import Judgement

CarryCheck: TypeAlias = Callable[[History], Judgement]

CARRY_CHECKS = check = Checks[History]()
"""The check of each rule, by its id."""
