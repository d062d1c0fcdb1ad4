"""What a check is: a pure function from a history to what held and what did not; and its findings."""

import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import force_setattr

from asyncwait.conformance.judging._leg import History, LegHistory

LONGEST_KIND = 160
"""Characters of a kind: a text may quote what is of any length."""

CUT = "..."
"""The end of a kind whose text was cut in the middle of something."""

_ELEMENT = r"\b(?:Record|Watermark|WatermarkStatus|LatencyMarker|Barrier|Snapshot)\b"

_VALUES = (
    # What an error says; its class stands in front of that.
    (r"\b(got|explains|with) ([A-Z]\w+): .*", r"\1 \2"),
    # Texts, objects, numbers.
    (r"(?<!\w)b?'(?:\\.|[^'\\])*'(?!\w)|(?<!\w)b?\"(?:\\.|[^\"\\])*\"(?!\w)", "_"),
    (r"<[^<>]*>|\b(?:True|False)\b|(?<!\w)-?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|inf|nan)(?!\w)", "_"),
)
_INNERMOST = (r"\[[^][]*\]|\{[^{}]*\}", "_")
_TUPLE = (r"\bRecord \((?:[^()]|\([^()]*\))*\)(?= @| \(| [a-z]|$)", "Record _")
_PARENTHESIS = (r"\s*\([^()]*\)", "")
_OTHERS = (
    (r"\(.*", CUT),
    (r"\b(order) .*", r"\1"),
    (r"\bRecord (?:_+|None)(?!\w)", "Record"),
    (r" @ (?:_|None)(?!\w)", ""),
    (rf"{_ELEMENT}(?:, {_ELEMENT})+", "elements"),
    # Which of them it is depends on the scenario; records are what most checks are about.
    (r"\b(?:Watermark|WatermarkStatus|LatencyMarker|Barrier|Snapshot)\b", "element"),
    (r"\bNone\b", "_"),
    (r"_(?: to _|, _)+", "_"),
    # What calls raise in scenarios: nothing of the operator's.
    (
        r"\b(?:Planned|(?:Value|Lookup|Timeout|Key)Error|Unpicklable|RetryAfter|StopIteration)\b",
        "E",
    ),
    (r"\bRuntimeError or E\b", "E"),
    (r"\b(attempt|call|record|task|timer)s\b", r"\1"),
    (r"\b(?:are) left\b", "is left"),
    (r" while it is left$", ""),
)


def kind_of(text: str) -> str:
    """Return what a finding is about, in the words of its check: names, numbers and values go.

    Two findings of one kind come from the same branch of a check, as a rule; so what fails in the
    same way in a scenario that another seed has drawn is of the same kind.

    Args:
        text: of a violation.
    """
    for mask in _VALUES:
        text = re.sub(*mask, text)
    text = re.sub(*_TUPLE, _collapsed(*_INNERMOST, text))
    text = _collapsed(*_PARENTHESIS, text)
    for mask in _OTHERS:
        text = re.sub(*mask, text)
    return text[:LONGEST_KIND].rstrip()


def is_of_kind(text: str, kind: str) -> bool:
    """Whether a finding is of a kind; one whose text was cut is, if it begins like it."""
    own = kind_of(text)
    return own == kind or (own.endswith(CUT) and kind.startswith(own.removesuffix(CUT)))


def _collapsed(pattern: str, by: str, text: str) -> str:
    """Replace what is innermost until nothing is left of it."""
    before = ""
    while before != text:
        before, text = text, re.sub(pattern, by, text)
    return text


LONGEST = 1_000
"""Characters of what is said of a violation."""


class Violation(Struct, frozen=True):
    """One spot where a rule is broken.

    Args:
        text: what was expected, and what was seen.
        at: ms since the leg began.
        leg: 0-based.
    """

    text: str
    at: float
    leg: int = 0

    def __post_init__(self) -> None:
        # It may quote what a foreign program has told, of any length.
        if len(self.text) > LONGEST:
            force_setattr(self, "text", f"{self.text[:LONGEST]}...")


class Judgement(Struct, frozen=True):
    """What a check says of one trace.

    Args:
        applied: how often the rule's premise held.
        violations: where the rule was broken; none means that it held each time.
        error: why the check broke on this trace, so that it has not judged; empty if it has.
    """

    applied: int = 0
    violations: tuple[Violation, ...] = ()
    error: str = ""


Finding: TypeAlias = tuple[str, float] | None
"""One place where a rule applied: None where it held, else what is wrong and when."""

LegCheck: TypeAlias = Callable[[LegHistory], Iterator[Finding]]
WholeCheck: TypeAlias = Callable[[History], Judgement]


class Check(Struct, frozen=True):
    """What judges by one rule: a function of a history, without any effect.

    Args:
        rule: id of the rule.
        function: says how often the rule applied, and where it was broken.
    """

    rule: str
    function: WholeCheck

    def __call__(self, history: History) -> Judgement:
        """Judge `history`."""
        return self.function(history)


def leg_check(rule: str, *, judges_wrong_arguments: bool = False) -> Callable[[LegCheck], Check]:
    """Make a check of a function that looks at one leg at a time.

    Args:
        rule: id of the rule that it judges.
        judges_wrong_arguments: also a leg that was opened with a wrong argument and went on.
            That leg was not given what its scenario says, and shows nothing of any other rule.
    """

    def make(function: LegCheck) -> Check:
        def judge_legs(history: History) -> Judgement:
            applied, violations = 0, []
            for number, leg in enumerate(history.legs):
                if leg.went_on_wrongly and not judges_wrong_arguments:
                    continue
                for finding in function(leg):
                    applied += 1
                    if finding is not None:
                        violations.append(Violation(*finding, leg=number))
            return Judgement(applied, tuple(violations))

        return Check(rule, judge_legs)

    return make


def check(rule: str) -> Callable[[WholeCheck], Check]:
    """Make a check of a function that looks at a whole trace; see `leg_check`."""
    return lambda function: Check(rule, function)
