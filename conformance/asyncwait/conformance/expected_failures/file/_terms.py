"""What a backend is held to: what it says itself, and what a file says of it; by which version."""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.conformance._words import slip_in
from asyncwait.conformance.expected_failures import ExpectedFailures
from asyncwait.conformance.expected_failures.file._entry import Entry
from asyncwait.conformance.verdict import RuleResult
from asyncwait.spec import InvalidConfig
from asyncwait.spec.rules import Rule, version_key
from asyncwait.spec.scenario import Capability


def newer_than(spec: str, rules: Mapping[str, Rule]) -> frozenset[str]:
    """Return the ids of the rules that came after version `spec`; none if it is empty."""
    if not spec:
        return frozenset()
    claimed = version_key(spec)
    return frozenset(id_ for id_, rule in rules.items() if version_key(rule.since) > claimed)


def require_spec(spec: object, rules: Mapping[str, Rule]) -> None:
    """Refuse a version that there is not.

    Raises:
        InvalidConfig: `rules` know none of that name.
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
    """What is said of a backend from outside.

    Args:
        today: the day on which they count; None where none of them expires.
        spec: the version that the backend claims; empty for what it says itself.
    """

    entries: tuple[Entry, ...] = ()
    file: str = "the expected failures"
    today: date | None = None
    spec: str = ""


class Held(Protocol):
    """What is known of a backend before anything is played."""

    name: str
    capabilities: frozenset[Capability]
    expected_failures: ExpectedFailures
    spec: str


class Settled(Struct, frozen=True):
    """What a verification goes by.

    Args:
        spec: the version that the backend is held to; empty for the newest.
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
    """Bring together what a backend says of itself and what is said of it.

    Raises:
        InvalidConfig: the two say different things of the same, or name an unknown version; or an
            entry, be it of another backend, names a rule that there is not.
    """
    _refuse_slips(terms, known)
    own = {entry.rule: entry for entry in terms.entries if entry.speaks_of(backend.name)}
    for rule in own.keys() & backend.expected_failures.keys():
        reason = backend.expected_failures[rule][0].reason
        raise InvalidConfig(
            f"{terms.file}: {rule} is an expected failure of the backend {backend.name!r} itself "
            f"already ({reason!r}); keep one of them"
        )
    stale = {rule: why for rule in own if (why := _idle(rule, backend, known))}
    judged = {rule: own[rule] for rule in own if rule not in stale and rule in chosen}
    today = terms.today
    expired = {
        rule: entry.expires
        for rule, entry in judged.items()
        if today and entry.expires and entry.is_over(today)
    }
    counting = {
        rule: entry.expected_failures for rule, entry in judged.items() if rule not in expired
    }
    spec = _spec(terms, backend, known)
    return Settled(
        {**backend.expected_failures, **counting},
        judged,
        expired,
        # Whoever asks for some rules only is not told of entries for others.
        {rule: why for rule, why in stale.items() if rule in chosen},
        newer_than(spec, known),
        spec,
        terms.file,
    )


def _refuse_slips(terms: Terms, known: Mapping[str, Rule]) -> None:
    for place, entry in enumerate(terms.entries, 1):
        if slip := slip_in("rule", entry.rule, known):
            raise InvalidConfig(f"{terms.file}: entry {place}: {slip}")


def _idle(rule: str, backend: Held, known: Mapping[str, Rule]) -> str:
    """Return why an entry for `rule` can match nothing; empty if it can."""
    lacking = known[rule].missing(backend.capabilities)
    return f"the rule does not apply: it needs {', '.join(lacking)}" if lacking else ""


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
    """Return the results with what follows from entries that expired, and from newer rules."""
    return tuple(_settled(result, settled) for result in results)


def _settled(result: RuleResult, settled: Settled) -> RuleResult:
    rule = result.rule.id
    result = replace(result, is_newer=rule in settled.newer)
    entry = settled.entries.get(rule)
    if entry is None:
        return result
    over = f"its expected failure expired on {entry.expires}" if rule in settled.expired else ""
    if over and result.status == "fail":
        return replace(result, note=f"{over}: {entry.said}")
    if result.status == "fail":
        return replace(result, note=f"it is expected to fail, but not so: {entry.said}")
    if result.status == "unexpected-pass" or (over and result.status == "pass"):
        why = f"{over}, and it holds" if over else "it holds"
        what = f"{entry.said}: {why}, so take its entry out of {settled.file}"
        return replace(result, status="unexpected-pass", note=what)
    return result
