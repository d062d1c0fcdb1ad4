"""The file of expected failures that a run needs: an entry for each broken rule."""

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.conformance.expected_failures import ExpectedFailures, moment_of, sort_out
from asyncwait.conformance.verdict import Tally, Verdict
from asyncwait.conformance.verifying._gate import Entry, Settled, entries_of
from asyncwait.spec.rules import rules
from asyncwait.spec.texts import counted

MOST_SCENARIOS = 50
"""Most scenarios in an entry; with more, it lists none: its rule fails nearly everywhere."""

DAYS = 90
"""Days from the creation of an entry to its expiry, unless the author sets another day."""

_BEGINNING = re.compile(r"(?:[ \t\r]*(?:#[^\n]*)?(?:\n|\Z))*")
"""The lines of comment at the beginning of a file."""

_NEW = """\
# Rules that are known to be broken. `asyncwait verify` says so when one of them holds again.
"""


class Played(Struct, frozen=True):
    """A backend that was verified."""

    verdict: Verdict
    tally: Tally
    settled: Settled
    own: ExpectedFailures


class Update(Struct, frozen=True):
    """The new text of a file, and lines on its changes."""

    text: str
    lines: tuple[str, ...]


def updated(
    text: str,
    name: str,
    played: Sequence[Played],
    today: date,
    left_out: Mapping[str, str] = MappingProxyType({}),
) -> Update:
    """Return the file that the played runs need.

    Entries that are still needed, or whose rules were not judged, keep their contents, with the
    scenarios added that break their rules. Entries whose rules hold, or that match nothing, are
    dropped. Any other broken rule gets an entry. An entry is strict only if each verified backend
    breaks its rule.

    Args:
        text: of the present file; empty if it does not exist.
        name: of the file.
        played: the verified backends, each to its end and by all rules.
        today: the day from which a new entry counts.
        left_out: why a backend was not verified, by its name.

    Raises:
        InvalidConfig: the file is wrong.
    """
    entries = entries_of(text, name)
    shown = [_shown(one) for one in played]
    unjudged = {rule: why for why in left_out.values() for rule in rules()}
    for one in played:
        unjudged |= {r.rule.id: f"{r.status}: {r.note}" for r in one.verdict.results if r.is_open}
    fates = [_fate(entry, shown, unjudged, today) for entry in entries]
    kept = [entry for entry, _ in fates if entry is not None]
    known = {entry.rule for entry in entries}
    wanted = [rule for rule in rules() if rule not in known and any(rule in each for each in shown)]
    new = [_new(rule, played, shown, today) for rule in wanted]
    lines = [line for _, line in fates if line]
    lines += [f"{entry.rule} added: {entry.reason}" for entry in new]
    if text and (*kept, *new) == entries:
        return Update(text, tuple(lines))
    beginning = _BEGINNING.match(text)
    head = beginning[0].strip() if text.strip() and beginning else _NEW.strip()
    parts = filter(None, [head, *map(_written, (*kept, *new))])
    return Update("\n\n".join(parts) + "\n", tuple(lines))


def _shown(played: Played) -> Mapping[str, Sequence[str]]:
    """Return each rule that needs an entry, with the scenarios in which it breaks first.

    Violations after an expected violation do not count; an entry for one would match nothing in
    the next run. Of several violations in the same instant, each may come alone with another seed:
    so each gets an entry, unless one of them has an entry already.
    """
    old = played.settled.entries
    results = played.verdict.results
    deciding = {r.rule.id for r in results if r.rule.level == "MUST" and not r.is_newer}
    # An entry that need not show may be needed in another run.
    found = defaultdict[str, list[str]](list, {r: [] for r, e in old.items() if not e.strict})
    for case, broken in played.tally.broken:
        counting = sort_out(broken, played.own, case.called).findings & {*deciding, *old}
        first = min(map(moment_of, broken.values()))
        at_first = {rule for rule in counting if moment_of(broken[rule]) == first}
        for rule in at_first.intersection(old) or at_first or counting:
            # A generated scenario has another name with each seed.
            found[rule].append(case.id if case.generated else case.name)
    return found


def _few(*scenarios: Sequence[str]) -> tuple[str, ...]:
    few = tuple(dict.fromkeys(each for some in scenarios for each in some))
    return few if len(few) <= MOST_SCENARIOS else ()


def _fate(
    entry: Entry,
    shown: Sequence[Mapping[str, Sequence[str]]],
    unjudged: Mapping[str, str],
    today: date,
) -> tuple[Entry | None, str]:
    """Return the remaining entry, or None if it is not needed, and a line on the change."""
    rule = entry.rule
    broken = [each[rule] for each in shown if rule in each]
    if rule in unjudged and not broken:
        return entry, f"{rule} kept: it was not judged ({unjudged[rule]})"
    if not broken:
        return None, f"{rule} dropped: nothing shows it any more"
    if entry.is_over(today):
        return entry, f"{rule} left as it is: it expired on {entry.until}"
    scenarios = entry.scenarios and _few(entry.scenarios, *broken)
    strict = entry.strict and (rule in unjudged or len(broken) == len(shown))
    changed = replace(entry, scenarios=scenarios, strict=strict)
    return changed, "" if changed == entry else f"{rule} changed: it fails elsewhere, or not always"


def _new(
    rule: str,
    played: Sequence[Played],
    shown: Sequence[Mapping[str, Sequence[str]]],
    today: date,
) -> Entry:
    breaking = [one for one, each in zip(played, shown, strict=True) if rule in each]
    (result,) = [r for r in breaking[0].verdict.results if r.rule.id == rule]
    first = result.failures[0]
    seen = counted(result.broken, "scenario")
    return Entry(
        rule=rule,
        reason=f"seen in {seen}: {first.violation.text}, in {first.case.label}",
        scenarios=_few(*(each.get(rule, ()) for each in shown)),
        # The generated scenarios of another seed may not show it.
        strict=not first.case.generated and len(breaking) == len(played),
        until=today + timedelta(DAYS),
    )


def _written(entry: Entry) -> str:
    lines = [
        "[[expected-failure]]",
        f"rule = {_quoted(entry.rule)}",
        f"reason = {_quoted(entry.reason)}",
        *(["strict = false"] if not entry.strict else []),
        *([f"until = {entry.until}"] if entry.until else []),
        *(["scenarios = ["] if entry.scenarios else []),
        *(f"    {_quoted(each)}," for each in entry.scenarios),
        *(["]"] if entry.scenarios else []),
    ]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """Return a text as TOML, which has JSON's escapes and one more."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
