"""Which of the broken rules explain the others."""

from collections.abc import Mapping

from asyncwait.conformance.verdict import SYMPTOMS, Cause, Failed, Failing, find_causes
from asyncwait.spec.rules import rules

MUSTS = ("ELEM-1", "ELEM-2", "ORD-4", "END-8")


def causes(
    *together: str,
    seen: Mapping[str, int] | None = None,
    shoulds: tuple[str, ...] = (),
    judged: int = 1_000,
    about: str = "",
) -> tuple[Cause, ...]:
    """The causes where those rules are broken together, of many that were judged.

    Behind a ">" stand those that are broken later.
    """
    applied = dict.fromkeys((*MUSTS, *shoulds), 100) | dict(seen or {})
    failed = [failed_in(rules, about) for rules in together]
    return find_causes(Failing(failed, applied, judged), MUSTS, shoulds)


def failed_in(rules: str, about: str) -> Failed:
    """A scenario in which all apply that are broken."""
    first, _, later = (frozenset(part.split()) for part in rules.partition(">"))
    return Failed(first | later, first, first | later, frozenset(about.split()))


def test_where_nothing_is_broken_nothing_is_to_be_explained() -> None:
    """The usual case."""
    assert causes() == ()


def test_the_rule_that_is_broken_wherever_others_are_explains_them() -> None:
    """Calls that start out of order give results the wrong timestamps and keys."""
    found = causes("ORD-4 ELEM-1", "ORD-4 ELEM-1 ELEM-2", "ORD-4")

    assert found == (Cause("ORD-4", ("ELEM-1", "ELEM-2")),)


def test_of_rules_broken_alike_the_one_that_applies_less_often_explains_the_others() -> None:
    """Whatever is broken, the run may fail to end; what is always broken says more."""
    found = causes("END-8 ELEM-2", "END-8 ELEM-2", seen={"ELEM-2": 3})

    assert found == (Cause("ELEM-2", ("END-8",)),)


def test_of_rules_broken_alike_the_one_that_is_broken_first_explains_the_others() -> None:
    """What comes behind follows from it."""
    assert causes("ELEM-2 > ELEM-1") == (Cause("ELEM-2", ("ELEM-1",)),)


def test_of_rules_broken_alike_the_one_that_examples_are_about_explains_the_others() -> None:
    """Whoever wrote them knew what they show."""
    assert causes("ELEM-1 ELEM-2", about="ELEM-2") == (Cause("ELEM-2", ("ELEM-1",)),)


def test_that_something_does_not_come_is_explained_by_what_else_is_wrong() -> None:
    """Nothing comes in time that is lost."""
    found = causes("END-8 ELEM-2", "END-8 ELEM-2", "END-8 ELEM-2 ORD-4", seen={"END-8": 50})

    assert found[0].rule == "ELEM-2"
    assert rules().keys() >= SYMPTOMS


def test_what_is_broken_elsewhere_too_needs_a_cause_of_its_own() -> None:
    """An operator can have two slips."""
    found = causes(*["ORD-4 ELEM-1"] * 5, "ELEM-1", "ELEM-2")

    assert found == (Cause("ELEM-1", ("ORD-4",)), Cause("ELEM-2"))


def test_two_causes_together_can_explain_a_third_rule() -> None:
    """It is told with the later of them."""
    seen = {"ORD-4": 4, "ELEM-2": 3, "ELEM-1": 1_000}
    found = causes(*["ORD-4 ELEM-1"] * 4, *["ELEM-2 ELEM-1"] * 3, seen=seen)

    assert found == (Cause("ORD-4"), Cause("ELEM-2", ("ELEM-1",)))


def test_the_chapters_decide_where_nothing_else_does() -> None:
    """So a verdict is the same each time."""
    assert causes("ELEM-2 ELEM-1") == (Cause("ELEM-1", ("ELEM-2",)),)


def test_a_should_explains_no_must() -> None:
    """Even if it fits better: it does not decide the verdict."""
    found = causes(*["CAP-5"] * 9, "CAP-5 END-8", seen={"CAP-5": 10}, shoulds=("CAP-5",))

    assert found == (Cause("END-8"), Cause("CAP-5"))


def test_a_must_explains_a_should() -> None:
    """If that is broken nowhere else."""
    assert causes("CAP-5 END-8", shoulds=("CAP-5",)) == (Cause("END-8", ("CAP-5",)),)


def test_rules_that_do_not_count_explain_nothing() -> None:
    """Those that the backend is known to break, or lacks the capability for."""
    assert causes("SNAP-5 ORD-4", "SNAP-5") == (Cause("ORD-4"),)


def test_what_is_broken_everywhere_explains_nothing() -> None:
    """An operator that never closes its source may have any other slip besides."""
    found = causes(
        *["END-8 ORD-4 ELEM-1"] * 5,
        *["END-8"] * 15,
        *["END-8 ELEM-2"] * 5,
        judged=25,
        seen={"END-8": 25, "ELEM-2": 5, "ORD-4": 5},
    )

    assert found == (Cause("END-8"), Cause("ELEM-2"), Cause("ORD-4", ("ELEM-1",)))


def test_what_may_be_chance_explains_nothing() -> None:
    """Of ten scenarios the first rule breaks five; one that breaks another is soon among them."""
    assert causes("ORD-4 ELEM-1", *["ORD-4"] * 4, judged=10) == (Cause("ORD-4"), Cause("ELEM-1"))
    assert causes(*["ORD-4 ELEM-1"] * 5, judged=10, seen={"ORD-4": 5}) == (
        Cause("ORD-4", ("ELEM-1",)),
    )
