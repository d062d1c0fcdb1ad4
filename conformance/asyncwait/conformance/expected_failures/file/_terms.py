"""Terms of a verification: the backend's own declarations, and the entries of a file.

Entries are read strictly: a slip is always an error.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.conformance._bounded import file_bytes
from asyncwait.conformance._words import Key, is_text, nearest, slip_in, slips_in_table
from asyncwait.conformance.expected_failures import ExpectedFailure, ExpectedFailures
from asyncwait.conformance.verdict import RuleResult
from asyncwait.spec import InvalidConfig
from asyncwait.spec.rules import Rule, version_key
from asyncwait.spec.scenario import Capability


class Entry(ExpectedFailure, frozen=True, kw_only=True):
    """A rule that is known to be broken.

    Args:
        until: the last day on which the entry counts; None if it always counts.
    """

    rule: str
    until: date | None = None

    def is_over(self, today: date) -> bool:
        """Whether it no longer counts."""
        return self.until is not None and self.until < today


TABLE = "expected-failure"
"""The tables of a file: `[[expected-failure]]`, one for each rule."""

REQUIRED = ("rule", "reason")

LONGEST = 1_000
"""Longest text on an entry, in characters: a key, or the name of a rule, may have any length."""


def read_entries(file: Path) -> tuple[Entry, ...]:
    """Return the entries of a file.

    Raises:
        InvalidConfig: it can't be read, or is wrong; the message names it, the entry and the key.
    """
    try:
        text = file_bytes(file).decode()
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError)
        hint = "; --update-expected-failures writes it" if is_missing else ""
        raise InvalidConfig(
            f"expected failures: {file} can't be read: {error.strerror}{hint}"
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidConfig(f"expected failures: {file} can't be read: it is not UTF-8") from error
    return entries_of(text, file.name)


def entries_of(text: str, name: str) -> tuple[Entry, ...]:
    """Return the entries in `text`.

    Raises:
        InvalidConfig: it is wrong; the message names the file, the entry and the key.
    """
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number may be too long for Python
        raise InvalidConfig(f"{name}: this is no TOML: {error}") from error
    for key in tables:
        if key != TABLE:
            near = nearest(key, [TABLE])
            got = f"{key[:LONGEST]!r}{near}"
            raise InvalidConfig(f"{name}: expected tables [[{TABLE}]] only, got {got}")
    found = tables.get(TABLE, [])
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise InvalidConfig(f"{name}: expected tables [[{TABLE}]], in double brackets")
    entries = tuple(_entry(table, name, place) for place, table in enumerate(found, 1))
    _refuse_twins(entries, name)
    return entries


def _entry(table: Mapping[str, Any], name: str, place: int) -> Entry:
    where = f"{name}: entry {place} ({table.get('rule', 'of no rule')})"
    for problem in _problems(table):
        raise InvalidConfig(f"{where}: {problem}"[:LONGEST])
    return Entry(**{**table, "scenarios": tuple(table.get("scenarios", ()))})


def _problems(table: Mapping[str, Any]) -> Iterator[str]:
    yield from slips_in_table(table, _KEYS)
    for key in REQUIRED:
        if key not in table:
            yield f"it needs a {key}: {_KEYS[key].expected}"


def _is_day(value: object) -> bool:
    return isinstance(value, date) and not isinstance(value, datetime)


def _are_names(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(map(is_text, value))


_KEYS: Mapping[str, Key] = {
    "rule": Key(is_text, "the id of one; see: asyncwait rules"),
    "reason": Key(is_text, "why the rule is broken, in a sentence"),
    "scenarios": Key(
        _are_names,
        "a list of names of examples and of ids, like ['the-last-finishes-first']; leave it out "
        "for any scenario",
    ),
    "strict": Key(lambda value: isinstance(value, bool), "true or false"),
    "until": Key(
        _is_day, "a date without quotes, like 2027-01-31: the last day on which it counts"
    ),
}


def _refuse_twins(entries: tuple[Entry, ...], name: str) -> None:
    known = set[str]()
    for place, entry in enumerate(entries, 1):
        if entry.rule in known:
            raise InvalidConfig(
                f"{name}: entry {place} ({entry.rule}): the rule has an entry already; keep one of "
                "them"
            )
        known.add(entry.rule)


def newer_than(spec: str, rules: Mapping[str, Rule]) -> frozenset[str]:
    """Return the ids of the rules that are newer than version `spec`; none if it is empty."""
    if not spec:
        return frozenset()
    claimed = version_key(spec)
    return frozenset(id_ for id_, rule in rules.items() if version_key(rule.since) > claimed)


def require_spec(spec: object, rules: Mapping[str, Rule]) -> None:
    """Refuse an unknown version.

    Raises:
        InvalidConfig: no rule has that version.
    """
    known = sorted({rule.since for rule in rules.values()}, key=version_key)
    if spec not in known:
        wrong = InvalidConfig.of("spec", spec, f"a version of the rules: {', '.join(known)}")
        try:
            is_newer = isinstance(spec, str) and version_key(spec) > version_key(known[-1])
        except InvalidConfig:
            is_newer = False
        hint = "; a newer asyncwait may know it" if is_newer else ""
        raise InvalidConfig(f"{wrong}{hint}")


class Terms(Struct, frozen=True):
    """The terms for a backend from outside.

    Args:
        today: the day of the verification; None if no entry expires.
        spec: the version that the backend claims; empty to use its own claim.
    """

    entries: tuple[Entry, ...] = ()
    file: str = "the expected failures"
    today: date | None = None
    spec: str = ""


class Held(Protocol):
    """The backend's description before any scenario is played."""

    name: str
    capabilities: frozenset[Capability]
    expected_failures: ExpectedFailures
    spec: str


class Settled(Struct, frozen=True):
    """The terms of a verification, settled.

    Args:
        spec: the version that decides; empty for the newest.
    """

    expected_failures: ExpectedFailures
    entries: Mapping[str, Entry] = {}
    expired: Mapping[str, date] = {}
    stale: Mapping[str, str] = {}
    newer: frozenset[str] = frozenset()
    spec: str = ""
    file: str = ""


def settle(
    terms: Terms, backend: Held, known: Mapping[str, Rule], chosen: Mapping[str, Rule]
) -> Settled:
    """Combine a backend's own declarations with its terms from outside.

    Raises:
        InvalidConfig: the two claim different versions, or an unknown one; or an entry names an
            unknown rule.
    """
    for place, entry in enumerate(terms.entries, 1):
        if slip := slip_in("rule", entry.rule, known):
            raise InvalidConfig(f"{terms.file}: entry {place}: {slip}")
    said = {entry.rule: entry for entry in terms.entries if entry.rule in chosen}
    lacking = {rule: known[rule].missing(backend.capabilities) for rule in said}
    judged = {rule: entry for rule, entry in said.items() if not lacking[rule]}
    today = terms.today
    expired = {
        rule: entry.until
        for rule, entry in judged.items()
        if today and entry.until and entry.is_over(today)
    }
    own = backend.expected_failures
    counting = {
        rule: (*own.get(rule, ()), entry) for rule, entry in judged.items() if rule not in expired
    }
    spec = _spec(terms, backend, known)
    return Settled(
        {**own, **counting},
        judged,
        expired,
        {
            rule: f"the rule does not apply: it needs {', '.join(lacking[rule])}"
            for rule, entry in said.items()
            if lacking[rule] and entry.strict
        },
        newer_than(spec, known),
        spec,
        terms.file,
    )


def _spec(terms: Terms, backend: Held, known: Mapping[str, Rule]) -> str:
    said = [spec for spec in (backend.spec, terms.spec) if spec]
    for spec in said:
        require_spec(spec, known)
    if len(set(said)) > 1:
        raise InvalidConfig(
            f"spec: the backend {backend.name!r} claims {backend.spec}, and what is said of it "
            f"{terms.spec}; keep one of them"
        )
    return said[0] if said else ""


def settled_results(results: Iterable[RuleResult], settled: Settled) -> tuple[RuleResult, ...]:
    """Return the results with the consequences of expired entries and of newer rules."""
    return tuple(_settled(result, settled) for result in results)


def _settled(result: RuleResult, settled: Settled) -> RuleResult:
    rule = result.rule.id
    result = replace(result, is_newer=rule in settled.newer)
    entry = settled.entries.get(rule)
    if entry is None:
        return result
    over = f"its expected failure expired on {entry.until}" if rule in settled.expired else ""
    if over and result.status == "fail":
        return replace(result, note=f"{over}: {entry.reason}")
    if result.status == "fail":
        elsewhere = f"it is expected to fail, but in other scenarios: {entry.reason}"
        return replace(result, note=elsewhere)
    if result.status == "unexpected-pass" or (over and result.status == "pass"):
        why = f"{over}, and it holds" if over else "it holds"
        what = f"{entry.reason}: {why}, so take its entry out of {settled.file}"
        return replace(result, status="unexpected-pass", note=what)
    return result
