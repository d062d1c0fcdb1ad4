"""The kind of a finding: its text without what differs from one scenario to another."""

import re

LONGEST = 160
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
_REST = (
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
    for mask in _REST:
        text = re.sub(*mask, text)
    return text[:LONGEST].rstrip()


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
