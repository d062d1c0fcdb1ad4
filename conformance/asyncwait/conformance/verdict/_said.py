"""Words of the verdict line on expected failures, and on rules newer than what is claimed."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date

from asyncwait.conformance._counted import counted


def kinds_said(kinds: Iterable[str]) -> str:
    """Return how many expected failures of each kind there are; nothing where none says so."""
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(Counter(kinds).items()))
    return f" [{counts}]" if counts else ""


def expected_failures_said(expired: Mapping[str, date], stale: Iterable[str]) -> list[str]:
    """Return what is wrong with expected failures, in parts of the verdict line."""
    over = ", ".join(f"{rule} on {day}" for rule, day in expired.items())
    idle = ", ".join(stale)
    return [
        *([f"expected failures expired: {over}"] if over else []),
        *([f"expected failures that match nothing: {idle}"] if idle else []),
    ]


def newer_said(spec: str, newest: str, statuses: Mapping[str, str]) -> str:
    """Return what is to be told of rules that do not decide.

    Args:
        spec: the version that the backend claims.
        newest: the version of the newest rule.
        statuses: what became of each newer rule that applies, by its id.
    """
    if not statuses:
        return ""
    said = f"; advisory: of {counted(len(statuses), 'rule')} newer than {spec} it"
    parts = []
    for status, verb in (("fail", "fails"), ("expected-fail", "fails as expected")):
        if ids := [rule for rule, each in statuses.items() if each == status]:
            parts.append(f"{verb} {len(ids)}: {', '.join(ids)}")
    if open_ := [rule for rule, each in statuses.items() if each not in _DECIDED]:
        parts.append(f"is not judged by {len(open_)}: {', '.join(open_)}")
    return f"{said} {'; '.join(parts)}" if parts else f"{said} keeps all: claim {newest}"


_DECIDED = {"fail", "expected-fail", "pass", "unexpected-pass"}
