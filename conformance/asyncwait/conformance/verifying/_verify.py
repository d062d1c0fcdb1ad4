"""The course of a verification: collect, generate, play, judge, shrink, conclude."""

import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.generation import QUICK, generate, shapes, small_scenarios
from asyncwait.conformance.report import printed
from asyncwait.conformance.running import (
    REAL_SECONDS,
    Broken,
    Served,
    adapted,
    lost,
    open_backend,
)
from asyncwait.conformance.verdict import Case, Tally, Verdict, causes_of, conclude
from asyncwait.conformance.verifying._gate import Terms, settle, settled_results, slip_in
from asyncwait.conformance.verifying._shrink import shrink, trials
from asyncwait.conformance.verifying._update import Played
from asyncwait.spec import InvalidConfig
from asyncwait.spec.rules import Rule, areas, rules_for
from asyncwait.spec.rules import rules as all_rules
from asyncwait.spec.scenario import Capability, Scenario, key_of
from asyncwait.spec.texts import counted, nearest

GIVE_UP_AFTER = 3
"""Runs that block or kill their process before the suite stops: each costs seconds."""

MOST_PATIENCE = 86_400.0
"""Seconds: a day."""

Phase: TypeAlias = Literal["judged", "shrunk"]

Progress: TypeAlias = Callable[[Phase, int, int], None]
"""Receives the stage, the number of finished items, and the number of all items."""


class Coverage(Struct, frozen=True):
    """The extent of a verification.

    Args:
        rules: ids to judge by; empty for all.
        patience: seconds of the real clock for one scenario.
        jobs: number of child processes; None for the number of cores.
        keeps_going: play on, however many runs block, die or break; each costs seconds.

    Raises:
        InvalidConfig: a number is out of its range.
    """

    count: int = QUICK
    seed: int = 0
    rules: tuple[str, ...] = ()
    shrinks: bool = True
    patience: float = REAL_SECONDS
    jobs: int | None = None
    exhaustive: bool = False
    fails_fast: bool = False
    keeps_going: bool = False

    def __post_init__(self) -> None:
        if self.count < 1:
            raise InvalidConfig.of("count", self.count, "1 scenario or more")
        if not 0 < self.patience <= MOST_PATIENCE:  # false for nan as well
            expected = f"a number of seconds above 0, at most {MOST_PATIENCE:g}"
            raise InvalidConfig.of("patience", self.patience, expected)


def verify(
    name: str, plan: Coverage, progress: Progress = lambda *_: None, *, terms: Terms | None = None
) -> Verdict:
    """Verify a backend against the specification.

    Args:
        name: name of the backend: registered, "module:callable", or "exec:" and a command.
        plan: the extent of the verification.
        progress: receives the numbers of judged scenarios and of all scenarios, then of shrunk
            failures and of all failures.
        terms: terms for the backend from outside, or None.

    Raises:
        UnknownBackend: the name is unknown.
        InvalidConfig: an id of a rule is unknown, in the plan or in the backend's expected
            failures; or the terms from outside contradict the backend's own.
        MissingExtra: the backend needs a package that is not installed.
    """
    chosen("rule", plan.rules)
    with open_backend(name, patience=plan.patience, jobs=plan.jobs) as backend:
        return verify_to_tell(backend, plan, progress, terms=terms).verdict


def verify_to_tell(
    backend: Served,
    plan: Coverage,
    progress: Progress = lambda *_: None,
    *,
    terms: Terms | None = None,
) -> Played:
    """Verify an open backend against the specification; see `verify`.

    Raises:
        InvalidConfig: as for `verify`.
    """
    began = time.perf_counter()
    chosen("expected_failures", tuple(backend.expected_failures))
    rules = chosen("rule", plan.rules)
    settled = settle(terms or Terms(), backend, rules)
    applicable = rules_for(backend.capabilities)
    held = [rule for rule in rules if rule in applicable]
    # Other rules matter where a violation may follow from an expected failure.
    judging = applicable if settled.expected_failures or not plan.rules else held
    tally = Tally({rule: CHECKS[rule] for rule in judging}, held, settled.expected_failures)
    cases = Cases(plan, backend.capabilities, [rules[rule] for rule in held])
    ends = [rule for rule in held if rules[rule].level == "MUST" and rule not in settled.newer]
    stopped = _judge_all(tally, backend, cases, progress, ends if plan.fails_fast else ())
    missing = stopped
    if not stopped and (tally.judged != cases.count or tally.errors):
        missing = f"{len(tally.errors)} of {counted(cases.count, 'run')} in error"
    concluded = conclude(
        tally,
        rules,
        backend.capabilities,
        settled.expected_failures,
        missing=missing,
        lacking=backend.lacking,
    )
    results = settled_results(concluded, settled)
    verdict = Verdict(
        backend.name,
        results,
        tally.judged,
        cases.count,
        tuple(tally.errors),
        seed=plan.seed,
        in_error=tuple(tally.in_error),
        stopped=stopped,
        causes=causes_of(tally, results),
        self_reported=tally.self_reported,
        capabilities=backend.capabilities,
        known=tally.known,
        stale=settled.stale,
        expired=settled.expired,
        spec=settled.spec,
        spared=cases.spared,
    )
    if plan.shrinks and (plan.fails_fast or not stopped):
        fitting = partial(adapted, capabilities=backend.capabilities)
        try_out = trials(backend.play, fitting, tally.findings)
        results = shrink(results, verdict.failed, try_out, say=partial(progress, "shrunk"))
    seconds = time.perf_counter() - began
    verdict = msgspec.structs.replace(verdict, results=results, seconds=seconds)
    return Played(verdict, tally, settled, backend.expected_failures)


def chosen(name: str, wanted: tuple[str, ...]) -> Mapping[str, Rule]:
    """Return the rules with the ids `wanted`, all if it is empty, in the chapters' order.

    Raises:
        InvalidConfig: a rule is unknown; the error names its place, `name`.
    """
    known = all_rules()
    for rule in wanted:
        if slip := slip_in(name, rule):
            raise InvalidConfig(slip)
    return {rule: known[rule] for rule in known if not wanted or rule in wanted}


def rules_of(wanted: tuple[str, ...]) -> tuple[str, ...]:
    """Return the ids of the rules of some areas, each named by its id or its folder.

    Raises:
        InvalidConfig: an area is unknown.
    """
    names = {name: area.id for area in areas().values() for name in (area.id, area.folder)}
    for area in wanted:
        if area not in names:
            wrong = InvalidConfig.of("area", area, f"one of {', '.join(areas())}")
            raise InvalidConfig(f"{wrong}{nearest(area, names, names.__getitem__)}")
    found = {names[area] for area in wanted}
    return tuple(rule.id for rule in all_rules().values() if rule.area in found)


class Cases:
    """The examples, shapes, and generated scenarios, as a backend can play them, each once.

    The scenarios of the small scope replace shapes and generated scenarios. If few rules are
    selected, their examples come first, and scenarios that can't break them are left out.
    """

    def __init__(
        self, plan: Coverage, can: frozenset[Capability], rules: Sequence[Rule] = ()
    ) -> None:
        self.asked: list[Case] = []
        self.places: list[int] = []
        self.spared = 0
        self.most_lost = math.inf if plan.keeps_going else GIVE_UP_AFTER
        small = ((f"small {number}", each) for number, each in enumerate(small_scenarios()))
        drawn = (tuple(small), ()) if plan.exhaustive else _drawn(plan.count, plan.seed)
        others, self._generated = drawn
        # Scenarios for shared calls show little where each record has a call of its own.
        self._others = [
            each
            for each in others
            if (Capability.BATCHES in can or each[1].batch is None)
            and (Capability.CACHE in can or each[1].cache is None)
            and (Capability.LIMITS in can or not each[1].limits)
        ]
        self.count = len(EXAMPLES) + len(self._others) + plan.count * (not plan.exhaustive)
        self._seed = plan.seed
        self._fitting = partial(adapted, capabilities=can)
        self._cases: Iterable[Case] = self._all()
        if plan.rules:
            self._spare(rules)
        self.total = self.count

    def _spare(self, rules: Sequence[Rule]) -> None:
        """Leave out scenarios that can't convict by `rules`; put the examples about them first."""
        ids = {rule.id for rule in rules}
        about = {example.name for example in EXAMPLES if ids.intersection(example.rules)}
        cases = [
            case
            for case in self._cases
            if case.name in about or any(can_convict(rule, case.scenario) for rule in rules)
        ]
        self.spared = self.count - len(cases)
        self.count = len(cases)
        self._cases = sorted(cases, key=lambda case: case.name not in about)

    def scenarios(self) -> Iterator[Scenario]:
        """Yield the scenarios to play, as soon as they are ready."""
        known: set[bytes] = set()
        for place, case in enumerate(self._cases):
            key = key_of(case.scenario)
            if key not in known:
                known.add(key)
                self.asked.append(case)
                self.places.append(place)
                yield case.scenario
        self.count = len(self.asked)

    def _all(self) -> Iterator[Case]:
        for example in EXAMPLES:
            scenario = example.scenario
            yield Case(example.name, scenario, self._fitting(scenario), about=example.rules)
        for name, scenario in self._others:
            yield Case(name, scenario, self._fitting(scenario), generated=True)
        for number, scenario in enumerate(self._generated):
            name = f"generated {number} of seed {self._seed}"
            yield Case(name, scenario, self._fitting(scenario), generated=True)


@lru_cache(maxsize=1)  # the same for all backends that are verified together
def _drawn(count: int, seed: int) -> tuple[tuple[tuple[str, Scenario], ...], tuple[Scenario, ...]]:
    return tuple(shapes(count, seed)), generate(count, seed)


def _judge_all(
    tally: Tally, backend: Served, cases: Cases, progress: Progress, ends: Collection[str]
) -> str:
    gone = 0
    for number, run in enumerate(backend.play(cases.scenarios())):
        progress("judged", cases.places[number], cases.total)
        if isinstance(run, Broken):
            tally.fail(cases.asked[number], "\n".join((run.text, *printed(run.output))))
        else:
            tally.add(cases.asked[number], run)
        why = lost(run)
        gone += bool(why)
        left = cases.count - number - 1
        if gone == cases.most_lost:
            return f"{gone} runs blocked, died or broke ({why}); {left:,} not played"
        broken = [rule for rule in ends if tally.counts[rule].found.count]
        if broken and left:
            return f"{', '.join(broken)} broken; {left:,} not played"
    progress("judged", cases.total, cases.total)
    return ""


# Selection of the scenarios that can convict by a rule; a run for the rule skips the others.
#
# A scenario can break a rule if it plans the subject of the rule's chapter, such as a deadline.
# The scenario may lack the rule's other needs: a faulty operator may count retries that are not
# planned. The checks of a few rules first test a further condition. If in doubt, a scenario stays.

Premise = Callable[[Scenario], bool]


def _sink_does(what: str) -> Premise:
    return lambda scenario: any(step.does == what for step in scenario.sink)


PREMISES: Mapping[str, Premise] = {
    **dict.fromkeys(("ELEM-8", "CAP-7"), lambda scenario: scenario.tracked),
    "FAIL-7": lambda scenario: bool(scenario.source_error),
    "END-6": lambda scenario: scenario.hooks != "none",
    "END-9": _sink_does("give_up"),
    "END-12": lambda scenario: scenario.hook_error == "open",
    "END-13": lambda scenario: scenario.hook_error == "close" or scenario.close_error,
    "END-18": _sink_does("raise"),
    "CANCEL-1": lambda scenario: scenario.unshielded and scenario.form == "coroutine",
}
"""The first condition in the checks of some rules, by the id of the rule."""

ANYWHERE = frozenset({"ELEM-7", "WM-3", "WM-6", "TIME-5", "TIME-8", "TIME-9", "SNAP-1", "SNAP-3"})
"""Rules that may break even if their subject is not planned: an output may have no input, and a
call may be cancelled and abandoned without a deadline."""


def can_convict(rule: Rule, scenario: Scenario) -> bool:
    """Whether a run of `scenario` may break `rule`."""
    if rule.id in ANYWHERE:
        return True
    premise = PREMISES.get(rule.id)
    if premise is not None and not premise(scenario):
        return False
    return all(_is_planned(either, scenario) for either in rule.needs[:1])


def _is_planned(either: Iterable[Capability], scenario: Scenario) -> bool:
    """Whether a scenario contains a part of the specification that a rule is about.

    A capability that is no profile is about how a backend runs; scenarios do not contain it.
    """
    if not all(each.is_profile for each in either):
        return True
    return any(part.without(scenario) is not scenario for part in either)
