"""The suite's one way through: collect, generate, play, judge, shrink, conclude."""

import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Literal, Protocol, TypeAlias, runtime_checkable

import msgspec
from msgspec import Struct

from asyncwait.conformance._shrink import SHRINK_SECONDS, shrink
from asyncwait.conformance._undeclared import seemingly_there
from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.generation import QUICK, generate
from asyncwait.conformance.judging import Checks
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
    Case,
    Tally,
    Verdict,
    causes_of,
    conclude,
)
from asyncwait.spec import InvalidConfig
from asyncwait.spec.rules import Rule
from asyncwait.spec.rules import rules as all_rules
from asyncwait.spec.scenario import Scenario, Trace, key_of

GIVE_UP_AFTER = 3
"""Runs that block or kill their process before the suite stops asking: each costs seconds."""

Stage: TypeAlias = Literal["judged", "shrunk"]

Progress: TypeAlias = Callable[[Stage, int, int], None]
"""Told what is done, how much of it, and of how much."""


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
        progress: told how many scenarios of how many are judged, then how many failures of how
            many are shrunk.

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
    checks = {rule: CHECKS[rule] for rule in _applicable(all_rules(), backend)}
    tally = Tally(checks, _applicable(rules, backend))
    with open_player(reference, backend, plan.patience) as play:
        stopped = _judge_all(tally, play, scenarios, progress)
        further = 0 if stopped else _judge_further(tally, backend, scenarios, progress)
        planned = len(scenarios) + further
        missing = stopped or _unjudged(tally, planned)
        results = conclude(tally, rules, backend.capabilities, backend.exceptions, missing=missing)
        verdict = Verdict(
            reference,
            results,
            tally.judged,
            planned,
            tuple(tally.errors),
            seed=plan.seed,
            stopped=stopped,
            causes=causes_of(tally, results),
            self_reported=tally.self_reported,
            capabilities=backend.capabilities,
        )
        if plan.shrinks and not stopped:
            verdict = _shrunk(verdict, play, backend, checks, progress)
        if verdict.is_green and not plan.rules:
            seems = seemingly_there(play, backend.capabilities)
            verdict = msgspec.structs.replace(verdict, seems=seems)
    return msgspec.structs.replace(verdict, seconds=time.perf_counter() - began)


def _unjudged(tally: Tally, planned: int) -> str:
    """Return why not everything that was played is judged, or nothing."""
    if tally.judged == planned and not tally.errors:
        return ""
    return f"{len(tally.errors)} of {planned:,} runs in error"


def _chosen(name: str, wanted: tuple[str, ...]) -> Mapping[str, Rule]:
    known = all_rules()
    unknown = [rule for rule in wanted if rule not in known]
    if unknown:
        raise InvalidConfig.of(name, unknown[0], f"one of {', '.join(known)}")
    return {rule: known[rule] for rule in known if not wanted or rule in wanted}


def _applicable(rules: Mapping[str, Rule], backend: Backend) -> list[str]:
    """Return the ids of the rules that the backend is held to."""
    return [name for name, rule in rules.items() if rule.applies_to(backend.capabilities)]


def _scenarios(plan: Coverage, backend: Backend) -> list[Case]:
    """Collect the examples and generate the rest, as the backend can play them, each once."""
    fitting = partial(adapted, capabilities=backend.capabilities)
    cases = [Case(e.name, e.scenario, fitting(e.scenario)) for e in EXAMPLES]
    for number, scenario in enumerate(generate(plan.count, plan.seed)):
        name = f"generated {number} of seed {plan.seed}"
        cases.append(Case(name, scenario, fitting(scenario), generated=True))
    different: dict[bytes, Case] = {}
    for case in cases:
        different.setdefault(key_of(case.scenario), case)
    return list(different.values())


def _judge_all(tally: Tally, play: Play, scenarios: list[Case], progress: Progress) -> str:
    """Play and judge everything; return why the rest was not played, or nothing."""
    lost = 0
    for number, run in enumerate(runs(play, [case.scenario for case in scenarios])):
        if isinstance(run, Broken) and run.ends:
            tally.errors.append(run.text)
            return run.text
        progress("judged", number, len(scenarios))
        case = scenarios[number]
        if isinstance(run, Broken):
            tally.errors.append(f"{case.name}: {run.text}")
        else:
            tally.add(case, run)
        lost += _is_lost(run)
        if lost == GIVE_UP_AFTER:
            left = len(scenarios) - number - 1
            return f"{lost} runs blocked, died or broke ({_said(run)}); {left:,} not played"
    progress("judged", len(scenarios), len(scenarios))
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
    tally: Tally, backend: Backend, scenarios: list[Case], progress: Progress
) -> int:
    """Judge the runs that a backend makes besides those that it is asked for; count them."""
    number = 0
    if not isinstance(backend, PlaysFurther):
        return number
    try:
        for name, scenario, trace in backend.further_runs({p.name: p.scenario for p in scenarios}):
            number += 1
            progress("judged", len(scenarios) + number, len(scenarios) + number)
            run = checked(scenario, trace)
            if isinstance(run, Broken):
                tally.errors.append(f"{name}: {run.text}")
            else:
                tally.add(Case(name, scenario, scenario, repeatable=False), run)
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


def _shrunk(
    verdict: Verdict, play: Play, backend: Backend, checks: Checks, progress: Progress
) -> Verdict:
    """Return `verdict` with the smallest failures that can be found in the time that there is."""
    ends = time.monotonic() + SHRINK_SECONDS
    found = shrink(
        verdict.failed,
        partial(runs, play),
        partial(adapted, capabilities=backend.capabilities),
        checks,
        is_over=lambda: time.monotonic() > ends,
        say=partial(progress, "shrunk"),
    )
    shrunk = {result.rule.id: result for result in found}
    results = tuple(shrunk.get(result.rule.id, result) for result in verdict.results)
    return msgspec.structs.replace(verdict, results=results)
