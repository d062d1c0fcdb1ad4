"""The suite's one way through: collect, generate, play, judge, shrink, conclude."""

import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager

import msgspec
from msgspec import Struct

from asyncwait.conformance.examples import EXAMPLES
from asyncwait.conformance.generation import QUICK, generate, key_of, shrink
from asyncwait.conformance.running import (
    REAL_SECONDS,
    Backend,
    ChildPlayer,
    adapted,
    impossible,
    load_backend,
    python_child,
)
from asyncwait.conformance.verdict import (
    Failure,
    RuleResult,
    Tally,
    Verdict,
    breaks,
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


class Plan(Struct, frozen=True):
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


def verify(reference: str, plan: Plan, progress: Progress = lambda *_: None) -> Verdict:
    """Hold a backend to the specification.

    Args:
        reference: its name, or "module:callable".
        plan: what to cover.
        progress: told how many scenarios of how many are judged.

    Raises:
        UnknownBackend: there is no such backend.
        InvalidConfig: a rule id is unknown.
        MissingExtra: the backend needs a package that is not installed.
    """
    began = time.perf_counter()
    backend = load_backend(reference)
    rules = _chosen(plan.rules)
    scenarios = _scenarios(plan, backend)
    tally = Tally(rules)
    with _player(reference, backend, plan.patience) as play:
        blocked = _judge_all(tally, play, scenarios, progress)
        results = conclude(tally, rules, backend.capabilities, backend.exceptions, blocked=blocked)
        if plan.shrinks and not blocked:
            search = _Search(tally, play, backend)
            results = tuple(search.shrunk(result, plan) for result in results)
    return Verdict(
        reference,
        results,
        tally.judged,
        len(scenarios),
        tuple(tally.errors),
        time.perf_counter() - began,
        plan.seed,
        tally.self_reported,
    )


def _chosen(wanted: tuple[str, ...]) -> Mapping[str, Rule]:
    known = all_rules()
    unknown = [rule for rule in wanted if rule not in known]
    if unknown:
        raise InvalidConfig.of("rule", unknown[0], f"one of {', '.join(known)}")
    return {rule: known[rule] for rule in known if not wanted or rule in wanted}


def _scenarios(plan: Plan, backend: Backend) -> list[Played]:
    """Collect the examples and generate the rest, as the backend can play them."""
    played = [Played(e.name, e.scenario, generated=False) for e in EXAMPLES]
    for number, scenario in enumerate(generate(plan.count, plan.seed)):
        name = f"generated {number} of seed {plan.seed}"
        played.append(Played(name, scenario, generated=True, key=key_of(scenario)))
    return [
        msgspec.structs.replace(p, scenario=adapted(p.scenario, backend.capabilities))
        for p in played
    ]


Play = Callable[[Iterable[Scenario]], Iterable[Trace]]


@contextmanager
def _player(reference: str, backend: Backend, patience: float) -> Generator[Play]:
    """Give a function that plays scenarios, in a child process if the backend can run in one."""
    if backend.in_child:
        with ChildPlayer(python_child(reference), real_seconds=patience) as player:
            yield player.play
    else:
        yield lambda scenarios: backend.run(list(scenarios))


def _judge_all(tally: Tally, play: Play, scenarios: list[Played], progress: Progress) -> str:
    """Play and judge everything; return why the rest was not played, or nothing."""
    traces = iter(play([played.scenario for played in scenarios]))
    lost = 0
    for number, played in enumerate(scenarios):
        progress(number, len(scenarios))
        trace = next(traces, None)
        if trace is None:
            tally.errors.append(f"{len(scenarios)} scenarios were given, {number} traces came back")
            return "the backend gave too few traces"
        if (error := _error_of(played, trace)) is not None:
            tally.errors.append(f"{played.name}: {error}")
        else:
            tally.add(played.name, played.scenario, trace, key=played.key)
        lost += trace.legs[-1].ending.how in {"blocked", "died", "error"} if trace.legs else 1
        if lost == GIVE_UP_AFTER:
            return f"{lost} runs blocked, died or broke; {len(scenarios) - number - 1} not played"
    progress(len(scenarios), len(scenarios))
    return ""


def _error_of(played: Played, trace: Trace) -> str | None:
    """Return what is wrong with harness or backend in this run, apart from the operator."""
    if not isinstance(trace, Trace):
        return f"expected a Trace, got {trace!r}"
    broken = [leg.ending for leg in trace.legs if leg.ending.how == "error"]
    if broken:
        return f"{broken[0].error} {broken[0].detail}".strip()
    why = impossible(played.scenario, trace)
    return None if why is None else f"the trace is impossible: {why}"


class _Search:
    """Looks for smaller failures: plays candidates, each once, until its patience is used up."""

    def __init__(self, tally: Tally, play: Play, backend: Backend) -> None:
        self._tally = tally
        self._play = play
        self._backend = backend
        self._left = CANDIDATES if backend.in_child else SLOW_CANDIDATES

    def shrunk(self, result: RuleResult, plan: Plan) -> RuleResult:
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
        trace = next(iter(self._play([fitting])))
        violation = breaks(rule, fitting, trace)
        if violation is None:
            return None
        return Failure("shrunk", fitting, trace, violation, generated=True)
