"""The file of expected failures as a run asks for it: an entry for each rule that is broken."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date, timedelta
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.conformance._words import counted
from asyncwait.conformance.expected_failures import (
    ExpectedFailure,
    ExpectedFailures,
    moment_of,
    sort_out,
)
from asyncwait.conformance.expected_failures.file._terms import Entry, Settled, entries_of
from asyncwait.conformance.judging import Violation
from asyncwait.conformance.verdict import Case, RuleResult, Tally, Verdict
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import Scenario

MOST_SCENARIOS = 50
"""An entry with more names none: its rule is broken nearly wherever it applies."""

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
    """A file as it is to be."""

    text: str
    lines: tuple[str, ...]


class Shown(Struct, frozen=True):
    """Results of one run of a backend, by the ids of rules.

    Args:
        broken: the scenarios that break each rule which needs an entry.
        unjudged: why nothing is known of a rule.
    """

    broken: Mapping[str, tuple[str, ...]]
    unjudged: Mapping[str, str]

    def keeps(self, rule: str) -> bool:
        """Whether an entry of the rule stays."""
        return rule in self.broken or rule in self.unjudged


def updated(
    text: str,
    name: str,
    played: Sequence[Played],
    today: date,
    left_out: Mapping[str, str] = MappingProxyType({}),
) -> Update:
    """Return the file that what was played asks for.

    Entries that are still needed, and those whose rules were not judged, keep what they say; but
    the scenarios that break their rules are added. Entries whose rules hold, or that match nothing,
    are dropped. A rule that is broken besides gets an entry.

    Args:
        text: of the file so far; empty if there is none.
        name: of the file.
        played: the backends that were verified, each to its end and by all rules.
        today: from which a new entry counts.
        left_out: why a backend was not verified, by its name.

    Raises:
        InvalidConfig: the file is wrong.
    """
    entries = entries_of(text, name)
    shown = {one.verdict.backend: _shown(one) for one in played}
    shown |= {backend: Shown({}, dict.fromkeys(rules(), why)) for backend, why in left_out.items()}
    asked = [{b: each for b, each in shown.items() if entry.speaks_of(b)} for entry in entries]
    pairs = list(zip(entries, asked, strict=True))
    kept = [each for entry, of in pairs for each in _kept(entry, of, today)]
    lines = [line for entry, of in pairs for line in _fate(entry, of, today)]
    new = [
        _new(one, rule, scenarios, today, is_alone=len(played) == 1)
        for one in played
        for rule, scenarios in shown[one.verdict.backend].broken.items()
        if rule not in one.settled.entries
    ]
    lines += [f"{entry.rule} added{of_backend(entry.backend)}: {entry.reason}" for entry in new]
    lines += [line for one in played for line in _untested(one, shown[one.verdict.backend].broken)]
    if text and (*kept, *new) == entries:
        return Update(text, tuple(lines))
    beginning = _BEGINNING.match(text)
    head = beginning[0].strip() if text.strip() and beginning else _NEW.strip()
    parts = filter(None, [head, *map(_written, (*kept, *new))])
    return Update("\n\n".join(parts) + "\n", tuple(lines))


def _shown(played: Played) -> Shown:
    wanted = _wanted(played)
    expected_failures = {**played.own, **dict.fromkeys(wanted, (ExpectedFailure("needed"),))}
    found: dict[str, dict[str, None]] = {rule: {} for rule in wanted}
    for case, broken in played.tally.broken:
        said = sort_out(case.scenario, broken, expected_failures, case.called)
        for rule in said.known.keys() & found.keys():
            found[rule][_listed(case)] = None
    broken_in = {rule: tuple(scenarios) for rule, scenarios in found.items()}
    return Shown(broken_in, unjudged_in(played.verdict))


def _listed(case: Case) -> str:
    """Return what an entry calls a scenario: a generated one has another name with each seed."""
    return case.id if case.generated else case.name


def _wanted(played: Played) -> tuple[str, ...]:
    verdict, old = played.verdict, played.settled.entries
    deciding = {r.rule.id for r in verdict.results if r.rule.level == "MUST" and not r.is_newer}
    runs = [(case.scenario, broken) for case, broken in played.tally.broken]
    found = needed(runs, played.own, deciding & played.tally.counts.keys(), old)
    # An entry that need not show may be needed in another run.
    unseen = (rule for rule, entry in old.items() if not entry.strict and rule not in found)
    return (*(rule for rule in rules() if rule in found), *unseen)


def needed(
    runs: Sequence[tuple[Scenario, Mapping[str, Violation]]],
    expected_failures: ExpectedFailures,
    deciding: Collection[str],
    old: Collection[str] = (),
) -> tuple[str, ...]:
    """Return the ids of the rules by which the backend may fail first, so that nothing else counts.

    What comes behind an expected violation does not count any more; an entry for it would match
    nothing in the next run. What comes with one, in the same instant, may come alone with another
    seed: so each of those has an entry, unless one of them has had one before.
    """
    found: set[str] = set()
    for scenario, broken in runs:
        counting = sort_out(scenario, broken, expected_failures).findings & {*deciding, *old}
        first = min(map(moment_of, broken.values()), default=None)
        at_first = {rule for rule in counting if moment_of(broken[rule]) == first}
        found |= at_first.intersection(old) or at_first or counting
    return tuple(sorted(found))


def unjudged_in(verdict: Verdict) -> dict[str, str]:
    """Return why nothing is known of a rule, by its id."""
    return {r.rule.id: f"{r.status}: {r.note}" for r in verdict.results if r.is_open}


def _kept(entry: Entry, asked: Mapping[str, Shown], today: date) -> Iterator[Entry]:
    """Yield an entry as it stays: once for all backends, or once for each that needs it."""
    staying = [backend for backend, shown in asked.items() if shown.keeps(entry.rule)]
    if entry.says_how or entry.scenarios:
        entry = replace(entry, scenarios=_scenarios(entry, asked, today), says_how=False)
    if len(staying) == len(asked):
        yield entry
    else:
        yield from (replace(entry, backend=backend) for backend in staying)


def _scenarios(entry: Entry, asked: Mapping[str, Shown], today: date) -> tuple[str, ...]:
    if not (entry.scenarios or entry.says_how) or entry.is_over(today):
        return entry.scenarios
    seen = (each for shown in asked.values() for each in shown.broken.get(entry.rule, ()))
    return _few(tuple(dict.fromkeys((*entry.scenarios, *seen))))


def _few(scenarios: tuple[str, ...]) -> tuple[str, ...]:
    return scenarios if len(scenarios) <= MOST_SCENARIOS else ()


def _fate(entry: Entry, asked: Mapping[str, Shown], today: date) -> Iterator[str]:
    """Yield what becomes of an entry, for people; nothing where all is as it was."""
    rule, of = entry.rule, of_backend(entry.backend)
    staying = [backend for backend, shown in asked.items() if shown.keeps(rule)]
    if asked and not staying:
        yield f"{rule} dropped{of}: nothing shows it any more"
    elif len(staying) < len(asked):
        yield f"{rule} kept for {', '.join(staying)} only"
    elif asked and entry.is_over(today):
        yield f"{rule} left as it is{of}: it expired on {entry.until}"
    scenarios = _scenarios(entry, asked, today)
    if staying and scenarios != entry.scenarios:
        more = counted(len(scenarios) - len(entry.scenarios), "more scenario")
        yield f"{rule} fails{of} in {more if scenarios else f'over {MOST_SCENARIOS} scenarios'}"
    for backend, shown in asked.items():
        if rule in shown.unjudged and rule not in shown.broken:
            whose = of_backend(backend) if len(asked) > 1 else of
            yield f"{rule} kept{whose}: it was not judged ({shown.unjudged[rule]})"


def of_backend(name: str) -> str:
    """Return whose an entry is, to be put behind its rule; nothing for everybody's."""
    return f" for {name}" if name else ""


def _untested(played: Played, wanted: Collection[str]) -> Iterator[str]:
    """Yield a line on the rules of which the next run will say that they are untested.

    Some never applied. Some were broken behind what is expected now, where nothing counts.
    """
    open_ = [
        result.rule.id
        for result in played.verdict.results
        if result.status in {"untested", "fail"}
        and not result.is_forgiven
        and result.rule.id not in wanted
        and played.tally.counts[result.rule.id].held == 0
    ]
    if open_:
        backend = played.verdict.backend
        yield f"{backend} stays inconclusive, as nothing shows these rules: {', '.join(open_)}"


def _new(
    played: Played, rule: str, scenarios: tuple[str, ...], today: date, *, is_alone: bool
) -> Entry:
    (result,) = [r for r in played.verdict.results if r.rule.id == rule]
    return Entry(
        rule=rule,
        reason=_seen(result),
        scenarios=_few(scenarios),
        # The generated scenarios of another seed may not show it.
        strict=not result.failures[0].case.generated,
        until=today + timedelta(DAYS),
        backend="" if is_alone else played.verdict.backend,
    )


def _seen(result: RuleResult) -> str:
    first = result.failures[0]
    seen = counted(result.broken, "scenario")
    return f"seen in {seen}: {first.violation.text}, in {first.case.label}"


def _written(entry: Entry) -> str:
    lines = [
        "[[expected-failure]]",
        f"rule = {_quoted(entry.rule)}",
        *([f"backend = {_quoted(entry.backend)}"] if entry.backend else []),
        f"reason = {_quoted(entry.reason)}",
        *(["strict = false"] if not entry.strict else []),
        *([f"until = {entry.until}"] if entry.until else []),
        *(["scenarios = ["] if entry.scenarios else []),
        *(f"    {_quoted(each)}," for each in entry.scenarios),
        *(["]"] if entry.scenarios else []),
    ]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """Return a text as TOML: its escapes are JSON's, and one more."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
