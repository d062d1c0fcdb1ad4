"""Which failures have to be expected, and how; the file that says so is written from a run."""

import json
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from types import MappingProxyType

from msgspec import Struct

from asyncwait.conformance._words import counted
from asyncwait.conformance.expected_failures import (
    ExpectedFailure,
    ExpectedFailures,
    moment_of,
    sort_out,
    traits_of,
)
from asyncwait.conformance.expected_failures.file._terms import Entry, How, Settled, entries_of
from asyncwait.conformance.judging import Violation, kind_of
from asyncwait.conformance.verdict import Case, RuleResult, Tally, Verdict
from asyncwait.spec import InvalidConfig
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import Scenario

CHANCE = 1e-6
"""What all scenarios have in which a rule is broken is no chance if that were so seldom."""

MOST_EXAMPLES = 50
"""More are not named: it shows nearly wherever it can."""


class Shown(Struct, frozen=True):
    """A way in which a rule is broken, as a run shows it."""

    how: How
    shared: frozenset[str]


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


def ways_of(
    tally: Tally, own: ExpectedFailures, rules: Collection[str]
) -> dict[str, tuple[Shown, ...]]:
    """Return in which ways some rules are broken, where that is the first thing that is wrong.

    A way is a kind of finding, and what its scenarios have in common beyond what is common where
    the rule applies. So the same failure in a scenario of another seed is of the same way.
    """
    expected_failures = {**own, **dict.fromkeys(rules, (ExpectedFailure("needed"),))}
    found: dict[str, dict[str, list[Case]]] = {rule: defaultdict(list) for rule in rules}
    for case, broken in tally.broken:
        for rule in sort_out(case.scenario, broken, expected_failures).known.keys() & found.keys():
            found[rule][kind_of(broken[rule].text)].append(case)
    usual = _Usual(tally)
    return {
        rule: tuple(_shown(kind, kinds[kind], usual.shares(rule)) for kind in sorted(kinds))
        for rule, kinds in found.items()
    }


class _Usual:
    """What scenarios have, whether a rule is broken in them or not."""

    def __init__(self, tally: Tally) -> None:
        self._judged = [(traits_of(scenario), rules) for scenario, rules in tally.applied]

    def shares(self, rule: str) -> Mapping[str, float]:
        """Return in which share of those in which a rule applies there is what."""
        having = [traits for traits, rules in self._judged if rule in rules]
        counts = Counter(name for traits in having for name in traits)
        return {name: count / len(having) for name, count in counts.items()}


def _shown(kind: str, cases: Sequence[Case], usual: Mapping[str, float]) -> Shown:
    shared = frozenset.intersection(*(traits_of(case.scenario) for case in cases))
    needs = (name for name in shared if usual.get(name, 0) ** len(cases) < CHANCE)
    seldom = all(case.generated for case in cases)
    names = tuple(dict.fromkeys(case.example for case in cases if case.example))
    examples = names if len(names) <= MOST_EXAMPLES else None
    return Shown(How(kind, tuple(sorted(needs)), seldom, examples), shared)


def merged(old: Iterable[How], shown: Iterable[Shown], *, keeps: bool) -> tuple[How, ...]:
    """Return the ways of an entry after a run: those that show, and those that may in another."""
    ways = {way.finding: way for way in old}
    seen = {each.how.finding: each for each in shown}
    for finding, each in seen.items():
        before = ways.get(finding, each.how)
        both = tuple(name for name in before.needs if name in each.shared)
        named = None
        if before.examples is not None and each.how.examples is not None:
            named = tuple(dict.fromkeys((*before.examples, *each.how.examples)))
        ways[finding] = How(finding, both, before.seldom, named)
    return tuple(way for finding, way in ways.items() if keeps or way.seldom or finding in seen)


class Fate(Struct, frozen=True):
    """What a run says of one entry."""

    entry: Entry
    asking: tuple[str, ...]
    needing: frozenset[str]
    unjudged: Mapping[str, str]

    @property
    def keeping(self) -> tuple[str, ...]:
        """The backends for which it stays."""
        return tuple(b for b in self.asking if b in self.needing or b in self.unjudged)

    def lines(self, today: date) -> Iterator[str]:
        """Yield what becomes of it, for people; nothing where all is as it was."""
        rule, of = self.entry.rule, of_backend(self.entry.backend)
        if self.asking and not self.keeping:
            yield f"{rule} dropped{of}: nothing shows it any more"
        elif self.keeping != self.asking:
            yield f"{rule} kept for {', '.join(self.keeping)} only"
        elif self.asking and self.entry.is_over(today):
            yield f"{rule} left as it is{of}: it expired on {self.entry.expires}"
        for backend, why in self.unjudged.items():
            whose = of_backend(backend) if len(self.asking) > 1 else of
            yield f"{rule} kept{whose}: it was not judged ({why})"


def fate_of(
    entry: Entry, wanted: Mapping[str, Collection[str]], unjudged: Mapping[str, Mapping[str, str]]
) -> Fate:
    """Return what becomes of an entry."""
    asking = tuple(backend for backend in wanted if entry.speaks_of(backend))
    needing = frozenset(backend for backend in asking if entry.rule in wanted[backend])
    others = {
        backend: why
        for backend in asking
        if backend not in needing and (why := unjudged[backend].get(entry.rule, ""))
    }
    return Fate(entry, asking, needing, others)


def unjudged_in(verdict: Verdict) -> dict[str, str]:
    """Return why nothing is known of a rule, by its id."""
    return {r.rule.id: f"{r.status}: {r.note}" for r in verdict.results if r.is_open}


def of_backend(name: str) -> str:
    """Return whose an entry is, to be put behind its rule; nothing for everybody's."""
    return f" for {name}" if name else ""


DAYS = 90
"""For so long an entry counts that nobody has looked at."""

_HEADER = re.compile(r"[ \t]*\[\[[ \t]*expected-failure[ \t]*\]\]")

_NEW = """\
# Rules that are known to be broken. `asyncwait verify` says so when one of them holds again.
# kind: "regression" is to be mended, "unsupported" stays, "future" comes with a later version.
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


def updated(
    text: str,
    name: str,
    played: Sequence[Played],
    today: date,
    left_out: Mapping[str, str] = MappingProxyType({}),
) -> Update:
    """Return the file that what was played asks for.

    Entries that are still needed, and those whose rules were not judged, keep their text and the
    comments above and in them; but for `how`, which says in which ways the rule is broken. Those
    whose rules hold, or that match nothing, are dropped; what is broken besides is a regression.

    Args:
        text: of the file so far; empty if there is none.
        name: of the file.
        played: the backends that were verified, each to its end and by all rules.
        today: from which a new entry counts.
        left_out: why a backend was not verified, by its name.

    Raises:
        InvalidConfig: the file is wrong.
    """
    head, *blocks = _blocks(text)
    entries = entries_of(text, name)
    if len(blocks) != len(entries):
        raise InvalidConfig(
            f"{name}: to be updated, each entry has to be a table [[expected-failure]]"
        )
    wanted = {one.verdict.backend: _wanted(one) for one in played}
    unjudged = {one.verdict.backend: unjudged_in(one.verdict) for one in played}
    unjudged |= {backend: dict.fromkeys(rules(), why) for backend, why in left_out.items()}
    asked = wanted | dict.fromkeys(left_out, ())
    fates = [fate_of(entry, asked, unjudged) for entry in entries]
    ways = {
        name: ways_of(one.tally, one.own, wanted[name])
        for one in played
        for name in [one.verdict.backend]
    }
    kept = [head if text.strip() else _NEW]
    lines = [line for fate in fates for line in fate.lines(today)]
    for fate, block in zip(fates, blocks, strict=True):
        how = _how(fate, ways, today)
        kept += _kept(_with_how(block, how) if how != fate.entry.how else block, fate)
        lines += _changes(fate, how)
    new = [
        _new(one, rule, today, len(played), ways[one.verdict.backend][rule])
        for one in played
        for rule in _missing(one, wanted)
    ]
    lines += [f"{entry.rule} added{of_backend(entry.backend)}: {entry.reason}" for entry in new]
    lines += [line for one in played for line in _untested(one, wanted[one.verdict.backend])]
    return _whole(kept, new, name, lines)


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


def _how(
    fate: Fate, ways: Mapping[str, Mapping[str, tuple[Shown, ...]]], today: date
) -> tuple[How, ...]:
    """Return the ways in which the rule of an entry is broken now."""
    entry = fate.entry
    if not fate.needing or entry.is_over(today):
        return entry.how
    shown = [way for backend in fate.needing for way in ways[backend].get(entry.rule, ())]
    return merged(entry.how, shown, keeps=entry.seldom or bool(fate.unjudged))


def _changes(fate: Fate, how: Sequence[How]) -> Iterator[str]:
    """Yield what is different in how a rule is broken, for people."""
    rule, of, old = fate.entry.rule, of_backend(fate.entry.backend), fate.entry.how
    if how and not old:
        yield f"{rule} says{of} how it fails: in {counted(len(how), 'way')}"
        return
    for way in how:
        if way not in old:
            yield f"{rule} fails{of} so, too: {way.finding}"
    for way in old:
        if way.finding not in {each.finding for each in how}:
            yield f"{rule} fails{of} so no more: {way.finding}"


def _whole(kept: list[str], new: list[Entry], name: str, lines: list[str]) -> Update:
    text = "".join(kept).rstrip("\n")
    text = "\n\n".join([text, *map(_written, new)]).lstrip("\n") + "\n"
    entries_of(text, name)  # what is written can be read
    return Update(text, tuple(lines))


def _wanted(played: Played) -> tuple[str, ...]:
    """Return the rules that have to have an entry."""
    verdict, old = played.verdict, played.settled.entries
    deciding = {r.rule.id for r in verdict.results if r.rule.level == "MUST" and not r.is_newer}
    runs = [(case.scenario, broken) for case, broken in played.tally.broken]
    found = needed(runs, played.own, deciding & played.tally.counts.keys(), old)
    # One that is seldom seen may be needed in another run.
    unseen = (rule for rule, entry in old.items() if entry.seldom and rule not in found)
    return (*(rule for rule in rules() if rule in found), *unseen)


def _missing(played: Played, wanted: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    backend = played.verdict.backend
    return (rule for rule in wanted[backend] if rule not in played.settled.entries)


def _blocks(text: str) -> list[str]:
    """Cut a file at its entries: what stands in front of them, then each with its comments."""
    cuts, before = [0], ""
    for line in text.splitlines(keepends=True):
        if _HEADER.match(line) and _is_whole(before):
            cuts.append(len(before) - len(_comment_above(before)))
        before += line
    return [text[a:b] for a, b in zip(cuts, [*cuts[1:], len(text)], strict=True)]


def _is_whole(text: str) -> bool:
    """Whether `text` ends outside of any value."""
    try:
        tomllib.loads(text)
    except ValueError:
        return False
    return True


def _comment_above(before: str) -> str:
    """Return the lines of comment at the end of `before`: they belong to what follows."""
    lines = before.splitlines(keepends=True)
    count = 0
    while count < len(lines) and lines[-1 - count].lstrip().startswith("#"):
        count += 1
    return "".join(lines[len(lines) - count :])


def _kept(block: str, fate: Fate) -> Iterator[str]:
    """Yield the text of an entry, for those that keep it."""
    if fate.keeping == fate.asking:
        yield block  # nobody was asked, or all keep it
        return
    for backend in fate.keeping:
        header, _, rest = block.partition("]]")
        first, _, others = rest.partition("\n")
        yield f"{header}]]{first}\nbackend = {_quoted(backend)}\n{others.rstrip()}\n\n"


_HOW = re.compile(r"[ \t]*how[ \t]*=")


def _with_how(block: str, how: Sequence[How]) -> str:
    """Return the text of an entry with what it says of how its rule is broken, behind all else."""
    kept, value = "", ""
    for line in block.splitlines(keepends=True):
        if value or (_HOW.match(line) and _is_whole(kept)):
            value = "" if _is_whole(value + line) else value + line
        else:
            kept += line
    end = len(kept)
    lines = kept.splitlines(keepends=True)
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        end -= len(lines.pop())
    first, rest = kept[:end].rstrip("\r\n"), kept[end:]
    return "\n".join([first, *_ways_written(how), rest])


def _ways_written(how: Sequence[How]) -> Iterator[str]:
    """Yield the lines of TOML that say how a rule is broken."""
    if how:
        yield "how = ["
    for way in how:
        needs = ", ".join(map(_quoted, way.needs))
        examples = ", ".join(map(_quoted, way.examples or ()))
        parts = [
            f"finding = {_quoted(way.finding)}",
            *([f"needs = [{needs}]"] if needs else []),
            *(["seldom = true"] if way.seldom else []),
            *([f"examples = [{examples}]"] if way.examples is not None else []),
        ]
        yield f"    {{ {', '.join(parts)} }},"
    if how:
        yield "]"


def _new(played: Played, rule: str, today: date, backends: int, shown: tuple[Shown, ...]) -> Entry:
    (result,) = [r for r in played.verdict.results if r.rule.id == rule]
    return Entry(
        rule=rule,
        kind="regression",
        reason=_seen(result),
        expires=today + timedelta(DAYS),
        backend=played.verdict.backend if backends > 1 else "",
        # The generated scenarios of another seed may not show it.
        seldom=result.failures[0].case.generated,
        how=merged((), shown, keeps=False),
    )


def _seen(result: RuleResult) -> str:
    """Return what was seen of a broken rule."""
    first = result.failures[0]
    seen = counted(result.broken, "scenario")
    return f"seen in {seen}: {first.violation.text}, in {first.case.label}"


def _written(entry: Entry) -> str:
    """Return an entry as TOML."""
    lines = [
        "[[expected-failure]]",
        f"rule = {_quoted(entry.rule)}",
        *([f"backend = {_quoted(entry.backend)}"] if entry.backend else []),
        f"kind = {_quoted(entry.kind)}",
        f"reason = {_quoted(entry.reason)}",
        f"expires = {entry.expires}  # or a link, where it is followed",
        *(["seldom = true  # only generated scenarios show it"] if entry.seldom else []),
        *_ways_written(entry.how),
    ]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """Return a text as TOML: its escapes are JSON's, and one more."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
