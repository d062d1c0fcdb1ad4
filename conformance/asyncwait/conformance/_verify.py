"""The suite's one way through: collect, generate, play, judge, shrink, conclude."""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol, runtime_checkable

import msgspec
from msgspec import Struct

from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.generation import QUICK, generate, key_of, shrink
from asyncwait.conformance.running import (
    REAL_SECONDS,
    Backend,
    Broken,
    Play,
    adapted,
    checked,
    load_backend,
    open_player,
    runs,
)
from asyncwait.conformance.verdict import (
    Failure,
    RuleResult,
    Tally,
    Verdict,
    conclude,
)
from asyncwait.spec import InvalidConfig
from asyncwait.spec.rules import Rule
from asyncwait.spec.rules import rules as all_rules
from asyncwait.spec.scenario import Scenario, Trace

GIVE_UP_AFTER = 3
"""Runs that block or kill their process before the suite stops asking: each costs seconds."""

CANDIDATES, SLOW_CANDIDATES = 2_000, 40
"""Candidates played at most while failures are shrunk; slow where each is a job of its own."""

Progress = Callable[[int, int], None]


class Played(Struct, frozen=True):
    """A scenario as it was given to a backend; `key` is of the generated one, before adapting."""

    name: str
    scenario: Scenario
    generated: bool
    key: bytes = b""


class Coverage(Struct, frozen=True):
    """What a verification covers.

    Args:
        count: of generated scenarios.
        seed: of the generated scenarios.
        rules: ids to judge by; empty for all.
        shrinks: whether failures of generated scenarios are shrunk.
        patience: seconds of the real clock for one scenario in a child process.
    """

    count: int = QUICK
    seed: int = 0
    rules: tuple[str, ...] = ()
    shrinks: bool = True
    patience: float = REAL_SECONDS


def verify(reference: str, plan: Coverage, progress: Progress = lambda *_: None) -> Verdict:
    """Hold a backend to the specification.

    Args:
        reference: its name, or "module:callable".
        plan: what to cover.
        progress: told how many scenarios of how many are judged.

    Raises:
        UnknownBackend: there is no such backend.
        InvalidConfig: an id of a rule is unknown, in the plan or in the backend's exceptions.
        MissingExtra: the backend needs a package that is not installed.
    """
    began = time.perf_counter()
    backend = load_backend(reference)
    _chosen("exceptions", tuple(backend.exceptions))
    rules = _chosen("rule", plan.rules)
    scenarios = _scenarios(plan, backend)
    tally = Tally(CHECKS, rules)
    with open_player(reference, backend, plan.patience) as play:
        blocked = _judge_all(tally, play, scenarios, progress)
        further = 0 if blocked else _judge_further(tally, backend, scenarios, progress)
        results = conclude(tally, rules, backend.capabilities, backend.exceptions, blocked=blocked)
        if plan.shrinks and not blocked:
            search = _Search(tally, play, backend)
            results = tuple(search.shrunk(result, plan) for result in results)
    return Verdict(
        reference,
        results,
        tally.judged,
        len(scenarios) + further,
        tuple(tally.errors),
        time.perf_counter() - began,
        plan.seed,
        tally.self_reported,
    )


def _chosen(name: str, wanted: tuple[str, ...]) -> Mapping[str, Rule]:
    known = all_rules()
    unknown = [rule for rule in wanted if rule not in known]
    if unknown:
        raise InvalidConfig.of(name, unknown[0], f"one of {', '.join(known)}")
    return {rule: known[rule] for rule in known if not wanted or rule in wanted}


def _scenarios(plan: Coverage, backend: Backend) -> list[Played]:
    """Collect the examples and generate the rest, as the backend can play them."""
    played = [Played(e.name, e.scenario, generated=False) for e in EXAMPLES]
    for number, scenario in enumerate(generate(plan.count, plan.seed)):
        name = f"generated {number} of seed {plan.seed}"
        played.append(Played(name, scenario, generated=True, key=key_of(scenario)))
    return [
        msgspec.structs.replace(p, scenario=adapted(p.scenario, backend.capabilities))
        for p in played
    ]


def _judge_all(tally: Tally, play: Play, scenarios: list[Played], progress: Progress) -> str:
    """Play and judge everything; return why the rest was not played, or nothing."""
    lost = 0
    for number, run in enumerate(runs(play, [played.scenario for played in scenarios])):
        if isinstance(run, Broken) and run.ends:
            tally.errors.append(run.text)
            return run.text
        progress(number, len(scenarios))
        played = scenarios[number]
        if isinstance(run, Broken):
            tally.errors.append(f"{played.name}: {run.text}")
        else:
            tally.add(played.name, played.scenario, run, key=played.key)
        lost += _is_lost(run)
        if lost == GIVE_UP_AFTER:
            left = len(scenarios) - number - 1
            return f"{lost} runs blocked, died or broke ({_said(run)}); {left} not played"
    progress(len(scenarios), len(scenarios))
    return ""


@runtime_checkable
class PlaysFurther(Protocol):
    """A backend that plays some of the scenarios in other ways, too."""

    def further_runs(
        self, scenarios: Mapping[str, Scenario]
    ) -> Iterable[tuple[str, Scenario, Trace]]:
        """Play what it chooses of `scenarios`; give a name, what was played, and its trace."""
        ...


def _judge_further(
    tally: Tally, backend: Backend, scenarios: list[Played], progress: Progress
) -> int:
    """Judge the runs that a backend makes besides those that it is asked for; count them."""
    number = 0
    if not isinstance(backend, PlaysFurther):
        return number
    try:
        for name, scenario, trace in backend.further_runs({p.name: p.scenario for p in scenarios}):
            number += 1
            progress(len(scenarios) + number, len(scenarios) + number)
            run = checked(scenario, trace)
            if isinstance(run, Broken):
                tally.errors.append(f"{name}: {run.text}")
            else:
                tally.add(name, scenario, run)
    except Exception as error:
        tally.errors.append(f"the backend raised {type(error).__name__}: {error}")
    return number


def _said(run: Trace | Broken) -> str:
    """Return the words on the end of a lost run."""
    if isinstance(run, Broken):
        return run.text
    ending = run.legs[-1].ending
    return f"{ending.how}: {ending.detail}"


def _is_lost(run: Trace | Broken) -> bool:
    """Whether a run ended without the operator's own doing coming to an end."""
    return isinstance(run, Broken) or run.legs[-1].ending.how in {"blocked", "died"}


class _Search:
    """Looks for smaller failures: plays candidates, each once, until its patience is used up."""

    def __init__(self, tally: Tally, play: Play, backend: Backend) -> None:
        self._tally = tally
        self._play = play
        self._backend = backend
        self._left = CANDIDATES if backend.in_child else SLOW_CANDIDATES
        self._lost = 0

    def shrunk(self, result: RuleResult, plan: Coverage) -> RuleResult:
        """Put the smallest failure in front of those that only generated scenarios show."""
        if not result.failures or not result.failures[0].generated:
            return result
        rule = result.rule.id
        tried: dict[bytes, bool] = {}

        def fails(scenario: Scenario) -> bool:
            key = key_of(scenario)
            if key in self._tally.broken_by:
                return rule in self._tally.broken_by[key]
            if key not in tried and self._left:
                self._left -= 1
                tried[key] = self._failure(rule, scenario) is not None
            return tried.get(key, False)

        smallest = shrink(fails, plan.count, plan.seed)
        failure = None if smallest is None else self._failure(rule, smallest)
        if failure is None:
            return result
        return msgspec.structs.replace(result, failures=(failure, *result.failures))

    def _failure(self, rule: str, scenario: Scenario) -> Failure | None:
        fitting = adapted(scenario, self._backend.capabilities)
        run = next(runs(self._play, [fitting]))
        self._lost += _is_lost(run)
        if self._lost == GIVE_UP_AFTER:
            self._left = 0
        if isinstance(run, Broken):
            return None
        violation = self._tally.breaks(rule, fitting, run)
        if violation is None:
            return None
        return Failure("shrunk", fitting, run, violation, generated=True)
