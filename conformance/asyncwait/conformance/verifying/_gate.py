"""Terms of a verification: the project's table, the file of expected failures, and a version.

The file of expected failures is TOML, with a table `[[expected-failure]]` for each rule that is
known to be broken. It has to be true: an entry whose rule holds, or that matches nothing, makes the
backend not conformant. Both files are read strictly: a slip is always an error.
"""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.conformance.expected_failures import ExpectedFailure, ExpectedFailures
from asyncwait.conformance.report import file_bytes
from asyncwait.conformance.verdict import RuleResult
from asyncwait.spec import InvalidConfig
from asyncwait.spec.checks import is_whole
from asyncwait.spec.rules import Rule, carry_rules, mailbox_rules, rules, version_key
from asyncwait.spec.scenario import Capability
from asyncwait.spec.texts import nearest


class _Key(NamedTuple):
    """The permitted values of a key of a table, and their description."""

    fits: Callable[[Any], bool]
    expected: str


def _slips(table: Mapping[str, Any], keys: Mapping[str, _Key]) -> Iterator[str]:
    """Yield the problems with the keys of a table, and with their values."""
    for name, value in table.items():
        if name not in keys:
            yield f"there is no key {name!r}; there are {', '.join(keys)}{nearest(name, keys)}"
        elif not keys[name].fits(value):
            yield str(InvalidConfig.of(name, value, keys[name].expected))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and "\0" not in value


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_text, value))


def _is_version(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(version_key(value))
    except InvalidConfig:
        return False


def _tables(text: str, name: object) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number may be too long for Python
        raise InvalidConfig(f"{name}: this is no TOML: {error}") from error


# The project's own file.

FILE = "pyproject.toml"
TABLE = "tool.asyncwait"


class Settings(Struct, frozen=True):
    """The table `[tool.asyncwait]`.

    Args:
        backends: their names; empty if the table is about any backend.
        spec: the version of the specification that they claim; empty for the newest.
        expected_failures: the file of expected failures; None for none.
    """

    file: Path
    backends: tuple[str, ...] = ()
    spec: str = ""
    expected_failures: Path | None = None
    seed: int | None = None
    count: int | None = None

    def speaks_of(self, backend: str) -> bool:
        """Whether the table is about the backend of that name."""
        return not self.backends or backend in self.backends


def find_settings(folder: Path) -> Settings | None:
    """Return the settings in `folder` or nearest above it, if there are any.

    Raises:
        InvalidConfig: a project file on the way can't be read, or the table is wrong; the message
            names the file and the key.
    """
    for place in (folder, *folder.parents):
        file = place / FILE
        if not file.is_file():
            continue
        try:
            tool = _tables(file_bytes(file).decode(), file).get("tool")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidConfig(f"{file} can't be read: {error}") from error
        table = tool.get("asyncwait") if isinstance(tool, dict) else None
        if table is not None:
            return _settings(file, table)
    return None


def _settings(file: Path, table: Any) -> Settings:
    where = f"{file}: [{TABLE}]"
    if not isinstance(table, dict):
        raise InvalidConfig(f"{where} must be a table, got {table!r}")
    for slip in _slips(table, _OF_A_PROJECT):
        raise InvalidConfig(f"{where}: {slip}")
    backends = table.get("backend", ())
    listed = table.get("expected-failures")
    return Settings(
        file,
        (backends,) if isinstance(backends, str) else tuple(dict.fromkeys(backends)),
        table.get("spec", ""),
        None if listed is None else file.parent / listed,
        table.get("seed"),
        table.get("count"),
    )


_OF_A_PROJECT: Mapping[str, _Key] = {
    "backend": _Key(
        lambda value: _is_text(value) or _are_texts(value),
        "the name of a backend, or a list of names",
    ),
    "spec": _Key(_is_version, "a version of the rules in quotes, like '0.1'"),
    "expected-failures": _Key(_is_text, "the path of a file, seen from this one"),
    "seed": _Key(is_whole, "a whole number"),
    "count": _Key(lambda value: is_whole(value) and value >= 1, "a whole number of 1 or more"),
}


# The file of expected failures.


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


ENTRIES = "expected-failure"
"""The tables of a file: `[[expected-failure]]`, one for each rule."""

LONGEST = 1_000
"""Longest text on an entry, in characters: a key, or the name of a rule, may have any length."""

_OF_AN_ENTRY: Mapping[str, _Key] = {
    "rule": _Key(_is_text, "the id of one; see: asyncwait rules"),
    "reason": _Key(_is_text, "why the rule is broken, in a sentence"),
    "scenarios": _Key(
        _are_texts,
        "a list of names of examples and of ids, like ['the-last-finishes-first']; leave it out "
        "for any scenario",
    ),
    "strict": _Key(lambda value: isinstance(value, bool), "true or false"),
    "until": _Key(
        lambda value: isinstance(value, date) and not isinstance(value, datetime),
        "a date without quotes, like 2027-01-31: the last day on which it counts",
    ),
}


def read_entries(file: Path) -> tuple[Entry, ...]:
    """Return the entries of a file.

    Raises:
        InvalidConfig: it can't be read, or is wrong; the message names it, the entry and the key.
    """
    try:
        text = file_bytes(file).decode()
    except (OSError, UnicodeDecodeError) as error:
        is_missing = isinstance(error, FileNotFoundError)
        hint = "; --update-expected-failures writes it" if is_missing else ""
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise InvalidConfig(f"expected failures: {file} can't be read: {why}{hint}") from error
    return entries_of(text, file.name)


def entries_of(text: str, name: str) -> tuple[Entry, ...]:
    """Return the entries in `text`.

    Raises:
        InvalidConfig: it is wrong; the message names the file, the entry and the key.
    """
    tables = _tables(text, name)
    for key in tables:
        if key != ENTRIES:
            got = f"{key[:LONGEST]!r}{nearest(key, [ENTRIES])}"
            raise InvalidConfig(f"{name}: expected tables [[{ENTRIES}]] only, got {got}")
    found = tables.get(ENTRIES, [])
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise InvalidConfig(f"{name}: expected tables [[{ENTRIES}]], in double brackets")
    known: dict[str, Entry] = {}
    for place, table in enumerate(found, 1):
        entry = _entry(table, f"{name}: entry {place} ({table.get('rule', 'of no rule')})", known)
        known[entry.rule] = entry
    return tuple(known.values())


def _entry(table: Mapping[str, Any], where: str, known: Mapping[str, Entry]) -> Entry:
    missing = [
        f"it needs a {key}: {_OF_AN_ENTRY[key].expected}"
        for key in ("rule", "reason")
        if key not in table
    ]
    for problem in (*_slips(table, _OF_AN_ENTRY), *missing):
        raise InvalidConfig(f"{where}: {problem}"[:LONGEST])
    if table["rule"] in known:
        raise InvalidConfig(f"{where}: the rule has an entry already; keep one of them")
    return Entry(**{**table, "scenarios": tuple(table.get("scenarios", ()))})


# What both say of a backend.


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


def today() -> date:
    """Return the day in UTC, which is the same at every place."""
    return datetime.now(tz=UTC).date()


class Gate(Struct, frozen=True):
    """The terms of a verification of some backends.

    Args:
        settings: of the project; None if they are about none of these backends.
        file: of expected failures; None for none.
        seed, count: of the project, if it is about all of these backends.
    """

    names: tuple[str, ...]
    present: Path
    day: date
    settings: Settings | None = None
    file: Path | None = None
    entries: tuple[Entry, ...] = ()
    is_given: bool = False
    is_named: bool = True
    seed: int | None = None
    count: int | None = None

    def folder(self, name: str) -> str:
        """Return the folder in which the module of a backend may be."""
        settings = self.settings
        is_ours = settings is not None and name in settings.backends
        return str(settings.file.parent if settings and is_ours else self.present)

    def terms(self, name: str) -> Terms:
        """Return the terms of a backend."""
        is_ours = self.settings is not None and self.settings.speaks_of(name)
        spec = self.settings.spec if self.settings and is_ours else ""
        if self.file is None or not (self.is_given or is_ours):
            return Terms(spec=spec)
        return Terms(self.entries, self.file.name, self.day, spec)

    def taken(self, *others: str) -> str:
        """Return a line on the options taken from the project's file; empty for none."""
        if self.settings is None:
            return ""
        found = {
            "backend": "" if self.is_named else ", ".join(self.names),
            "spec": self.settings.spec,
            "expected-failures": "" if self.is_given or self.file is None else self.file.name,
            "seed": self.seed,
            "count": self.count,
        }
        told = [f"{k} {v}" for k, v in found.items() if v not in {"", None} and k not in others]
        return f"{self.settings.file} [{TABLE}]: {', '.join(told)}" if told else ""


def gate_of(
    named: Sequence[str],
    folder: Path,
    expected_failures: Path | None = None,
    *,
    creates: bool = False,
) -> Gate:
    """Return the backends to verify, and their terms.

    Args:
        named: the given names; if it is empty, the project names them.
        folder: the present one.
        expected_failures: the given file.
        creates: a missing file counts as an empty file.

    Raises:
        InvalidConfig: the project's file, or the file of expected failures, is wrong.
    """
    settings = find_settings(folder)
    names = tuple(dict.fromkeys(named)) or (settings.backends if settings else ())
    if settings is not None and not any(map(settings.speaks_of, names)):
        settings = None
    file = expected_failures or (settings.expected_failures if settings else None)
    is_read = file is not None and (not creates or file.exists())
    entries = read_entries(file) if file is not None and is_read else ()
    is_given = expected_failures is not None
    gate = Gate(names, folder, today(), settings, file, entries, is_given, bool(named))
    if settings is None or not all(map(settings.speaks_of, names)):
        return gate
    return replace(gate, seed=settings.seed, count=settings.count)


class Described(Protocol):
    """A backend's description, before any scenario is played."""

    name: str
    capabilities: frozenset[Capability]
    expected_failures: ExpectedFailures
    spec: str


class Settled(Struct, frozen=True):
    """The terms of a verification, combined with the backend's own declarations.

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


def slip_in(name: str, rule: str) -> str:
    """Return the problem with the id of a rule; empty if the rule is known."""
    if rule in rules():
        return ""
    for book, of in ((mailbox_rules, "the task mailbox"), (carry_rules, "lanes and hosts")):
        if rule in book():
            return f"{name}: {rule} is a rule of {of}, to which no operator is held"
    wrong = InvalidConfig.of(name, rule, "the id of a rule; see: asyncwait rules")
    return f"{wrong}{nearest(rule, rules())}"


def settle(terms: Terms, backend: Described, chosen: Mapping[str, Rule]) -> Settled:
    """Combine a backend's own declarations with its terms from outside.

    Raises:
        InvalidConfig: the two claim different versions, or an unknown one; or an entry names an
            unknown rule.
    """
    for place, entry in enumerate(terms.entries, 1):
        if slip := slip_in("rule", entry.rule):
            raise InvalidConfig(f"{terms.file}: entry {place}: {slip}")
    said = {entry.rule: entry for entry in terms.entries if entry.rule in chosen}
    lacking = {rule: rules()[rule].missing(backend.capabilities) for rule in said}
    judged = {rule: entry for rule, entry in said.items() if not lacking[rule]}
    expired = {
        rule: entry.until
        for rule, entry in judged.items()
        if terms.today and entry.until and entry.is_over(terms.today)
    }
    own = backend.expected_failures
    counting = {
        rule: (*own.get(rule, ()), entry) for rule, entry in judged.items() if rule not in expired
    }
    stale = {
        rule: f"the rule does not apply: it needs {', '.join(lacking[rule])}"
        for rule, entry in said.items()
        if lacking[rule] and entry.strict
    }
    spec = _spec(terms, backend)
    claimed = version_key(spec) if spec else None
    newer = (r.id for r in rules().values() if claimed and version_key(r.since) > claimed)
    return Settled({**own, **counting}, judged, expired, stale, frozenset(newer), spec, terms.file)


def _spec(terms: Terms, backend: Described) -> str:
    known = sorted({rule.since for rule in rules().values()}, key=version_key)
    said = [spec for spec in (backend.spec, terms.spec) if spec]
    for spec in said:
        if spec not in known:
            is_newer = _is_version(spec) and version_key(spec) > version_key(known[-1])
            hint = "; a newer asyncwait may know it" if is_newer else ""
            wrong = InvalidConfig.of("spec", spec, f"a version of the rules: {', '.join(known)}")
            raise InvalidConfig(f"{wrong}{hint}")
    if len(set(said)) > 1:
        raise InvalidConfig(
            f"spec: the backend {backend.name!r} claims {backend.spec}, and what is said of it "
            f"{terms.spec}; keep one of them"
        )
    return said[0] if said else ""


def settled_results(results: Iterable[RuleResult], settled: Settled) -> tuple[RuleResult, ...]:
    """Return the results with the consequences of expired entries and of newer rules."""
    return tuple(
        _settled(replace(result, is_newer=result.rule.id in settled.newer), settled)
        for result in results
    )


def _settled(result: RuleResult, settled: Settled) -> RuleResult:
    entry = settled.entries.get(result.rule.id)
    if entry is None:
        return result
    is_over = result.rule.id in settled.expired
    over = f"its expected failure expired on {entry.until}" if is_over else ""
    if result.status == "fail":
        why = over or "it is expected to fail, but in other scenarios"
        return replace(result, note=f"{why}: {entry.reason}")
    if result.status == "unexpected-pass" or (is_over and result.status == "pass"):
        why = f"{over}, and it holds" if over else "it holds"
        what = f"{entry.reason}: {why}, so take its entry out of {settled.file}"
        return replace(result, status="unexpected-pass", note=what)
    return result
