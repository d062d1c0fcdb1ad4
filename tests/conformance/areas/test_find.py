"""The areas are found: a new one is a chapter, a folder and a module of faults."""

from types import ModuleType

import pytest

from asyncwait.conformance.areas import CHECKS, all_witnesses
from asyncwait.conformance.areas._find import collect_checks
from asyncwait.conformance.judging import Check, Judgement
from asyncwait.spec.rules import areas


def module_with(*checks: Check) -> ModuleType:
    module = ModuleType("checks")
    vars(module).update({f"check_{number}": check for number, check in enumerate(checks)})
    return module


def test_checks_and_evidence_stand_in_the_order_of_the_chapters() -> None:
    assert list(dict.fromkeys(CHECKS[rule].rule.partition("-")[0] for rule in CHECKS)) == list(
        areas()
    )
    assert list(dict.fromkeys(w.rule.partition("-")[0] for w in all_witnesses())) == list(areas())


def test_a_rule_has_one_check() -> None:
    one = Check("ORD-1", lambda _: Judgement())

    with pytest.raises(ValueError, match=r"^ORD-1 has a check already$"):
        collect_checks([module_with(one), module_with(one)])
