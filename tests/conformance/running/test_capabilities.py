"""What a backend does not have, and how far away that is."""

from types import SimpleNamespace
from typing import Any

import pytest

from asyncwait.conformance import Lacks, stream_backend
from asyncwait.conformance.running import UnknownBackend, missing_text
from asyncwait.conformance.running._child import hello_of
from asyncwait.reference import open_operator
from asyncwait.spec import InvalidConfig
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import ALL_CAPABILITIES, Capability, declared


def test_what_is_lacked_may_say_how_far_away_it_is() -> None:
    """It is lacked as any other."""
    lacks = {"copies": Lacks("not yet", "with 2.0"), "retry": Lacks("impossible")}

    backend = stream_backend(open_operator, lacks=lacks)

    assert backend.capabilities == declared(lacks=["copies", "retry"])
    assert backend.lacking == lacks


def test_a_profile_that_is_not_named_may_say_so_too() -> None:
    """It is missing with or without a word."""
    lacks = {"retry": Lacks("not yet")}

    backend = stream_backend(open_operator, profiles=["ordered"], lacks=lacks)

    assert backend.capabilities == declared(["ordered"])
    assert backend.lacking == {Capability.RETRY: Lacks("not yet")}


def test_of_what_is_missing_without_a_word_nothing_is_known() -> None:
    """Names alone are enough."""
    assert stream_backend(open_operator, lacks=["copies"]).lacking == {}
    assert Lacks() == Lacks("unknown", "")


@pytest.mark.parametrize(
    ("rule", "lacking", "said"),
    [
        ("ORD-1", {}, ""),
        ("COPY-1", {}, "needs copies, one-loop"),
        (
            "COPY-1",
            {"copies": Lacks("not yet", "with 2.0"), "one-loop": Lacks("impossible")},
            "needs copies, one-loop (copies not yet: with 2.0; one-loop impossible)",
        ),
        ("RETRY-5", {"retry": Lacks("not yet")}, ("needs retry, retry-after (retry not yet; "
         "retry-after not yet)")),
    ],
)  # fmt: skip
def test_a_rule_that_does_not_apply_says_why(rule: str, lacking: Any, said: str) -> None:
    """Of a part of a profile what is said of the profile."""
    can = ALL_CAPABILITIES - {"copies", "one-loop", "retry", "retry-after"}  # type: ignore[operator]

    assert missing_text(rules()[rule], can, lacking) == said


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: Lacks("soon"),  # type: ignore[arg-type]
            "level must be one of unknown, impossible, not yet, got 'soon' (str)",
        ),
        (lambda: Lacks("not yet", 2), "reason must be a text, got 2 (int)"),
        (
            lambda: stream_backend(open_operator, lacks={"copies": "soon"}),
            ("lacks['copies'] must be a Lacks, like {'copies': Lacks('not yet', 'with 2.0')}, "
            "got 'soon' (str)"),
        ),
        (
            lambda: stream_backend(open_operator, spec=0.1),  # type: ignore[arg-type]
            "version must be two numbers, like '0.1', got 0.1 (float)",
        ),
        (lambda: stream_backend(open_operator, spec="new"), ("version must be two numbers, like "
         "'0.1', got 'new' (str)")),
    ],
)  # fmt: skip
def test_what_nobody_can_go_by_is_refused(make: Any, said: str) -> None:
    """At once, where it was written."""
    with pytest.raises(InvalidConfig) as caught:
        make()

    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("spec", "lacking"), [(7, {}), ("0.1", {"copies": Lacks()}), ("0.1", {Capability.COPIES: 7})]
)
def test_a_backend_of_another_make_may_not_say_nonsense(spec: Any, lacking: Any) -> None:
    """It has these attributes or not."""
    backend: Any = SimpleNamespace(capabilities=ALL_CAPABILITIES, expected_failures={}, batch=False)
    assert hello_of("mine", backend).spec == ""

    backend.spec, backend.lacking = spec, lacking

    with pytest.raises(UnknownBackend, match=r"^backend 'mine': `spec` has to be a text, and "):
        hello_of("mine", backend)
