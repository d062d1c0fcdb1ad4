"""Which of the broken rules explain the others."""

from collections.abc import Mapping, Sequence

import pytest

from asyncwait.conformance.verdict import SYMPTOMS, Cause, Failed, Failing, find_causes
from asyncwait.conformance.verdict._tally import GRAVE
from asyncwait.spec.rules import rules

MUSTS = ("ELEM-1", "ELEM-2", "ORD-4", "RES-1", "TIME-1", "END-8")


def causes(
    together: Sequence[str],
    seen: Mapping[str, int] | None = None,
    shoulds: tuple[str, ...] = (),
    about: str = "",
) -> tuple[Cause, ...]:
    """The causes where those rules are broken together; each applied 100 times, or as `seen` says.

    Behind a ">" stand those that are broken later.
    """
    applied = dict.fromkeys((*MUSTS, *shoulds), 100) | dict(seen or {})
    failed = [failed_in(rules, about) for rules in together]
    return find_causes(Failing(failed, applied), MUSTS, shoulds)


def failed_in(rules: str, about: str) -> Failed:
    first, _, later = (frozenset(part.split()) for part in rules.partition(">"))
    return Failed(first | later, first, first | later, frozenset(about.split()))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        # Where nothing is broken nothing is to be explained.
        (causes([]), ""),
        # The rule that is broken wherever others are explains them.
        (
            causes(["ORD-4 ELEM-1", "ORD-4 ELEM-1 ELEM-2", "ORD-4"]),
            "ORD-4 explains ELEM-1 ELEM-2",
        ),
        # Of rules broken alike the one that applies less often explains the others,
        (causes(["END-8 ELEM-2"] * 2, seen={"ELEM-2": 3}), "ELEM-2 explains END-8"),
        # or the one that is broken first,
        (causes(["ELEM-2 > ELEM-1"]), "ELEM-2 explains ELEM-1"),
        # or the one that examples are about: whoever wrote them knew what they show.
        (causes(["ELEM-1 ELEM-2"], about="ELEM-2"), "ELEM-2 explains ELEM-1"),
        # Where nothing else decides the chapters do, so a verdict is the same each time.
        (causes(["ELEM-2 ELEM-1"]), "ELEM-1 explains ELEM-2"),
        # That something does not come is explained by what else is wrong.
        (
            causes(["END-8 ELEM-2", "END-8 ELEM-2", "END-8 ELEM-2 ORD-4"], seen={"END-8": 50}),
            "ELEM-2 explains ORD-4 END-8",
        ),
        # What is broken elsewhere, too, needs a cause of its own.
        (causes([*["ORD-4 ELEM-1"] * 5, "ELEM-1", "ELEM-2"]), "ELEM-1 explains ORD-4, ELEM-2"),
        # Two causes together can explain a third rule; it is told with the later of them.
        (
            causes(
                [*["ORD-4 ELEM-1"] * 4, *["ELEM-2 ELEM-1"] * 3],
                seen={"ORD-4": 4, "ELEM-2": 3, "ELEM-1": 1_000},
            ),
            "ORD-4, ELEM-2 explains ELEM-1",
        ),
        # A SHOULD explains no MUST, even if it fits better: it does not decide the verdict.
        (
            causes([*["CAP-5"] * 9, "CAP-5 END-8"], seen={"CAP-5": 10}, shoulds=("CAP-5",)),
            "END-8, CAP-5",
        ),
        # A MUST explains a SHOULD that is broken nowhere else.
        (causes(["CAP-5 END-8"], shoulds=("CAP-5",)), "END-8 explains CAP-5"),
        # Rules that the backend is known to break, or lacks the capability for, explain nothing,
        (causes(["SNAP-5 ORD-4", "SNAP-5"]), "ORD-4"),
        # nor does what is broken wherever the other rule applies,
        (causes([*["END-8"] * 95, *["END-8 ORD-4"] * 5], seen={"ORD-4": 5}), "END-8, ORD-4"),
        # nor what may be chance: the first rule is broken in half of where the second applies.
        (causes(["ORD-4 ELEM-1", "ORD-4"], seen={"ELEM-1": 4}), "ORD-4, ELEM-1"),
        (causes(["ORD-4 ELEM-1"] * 5, seen={"ORD-4": 5, "ELEM-1": 10}), "ORD-4 explains ELEM-1"),
        # Nothing explains a loss, or a swallowed error.
        (causes(["ORD-4 RES-1 ELEM-1"] * 5, seen={"ORD-4": 5}), "ORD-4 explains ELEM-1, RES-1"),
    ],
)
def test_the_causes_are_told_with_what_they_explain(
    found: tuple[Cause, ...], expected: str
) -> None:
    told = [
        " ".join([each.rule, *["explains"] * bool(each.explains), *each.explains]) for each in found
    ]

    assert ", ".join(told) == expected
    assert rules().keys() >= SYMPTOMS | GRAVE
