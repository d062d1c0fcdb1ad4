"""Puts the smallest failure in front of those that only generated scenarios show."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from asyncwait.conformance.running import Broken
from asyncwait.conformance.shrinking import Search, TryOut
from asyncwait.conformance.verdict import Case, Failure, RuleResult
from asyncwait.spec.scenario import Scenario, Trace

SHRINK_SECONDS = 8.0
"""How long failures are shrunk, all together: about as long as a quick verification takes."""

Adapt = Callable[[Scenario], Scenario]
Fails = Callable[[Case, Trace], Mapping[str, Failure]]
Run = Callable[[Sequence[Scenario]], Iterable[Trace | Broken]]


def shrink(
    results: Iterable[RuleResult],
    run: Run,
    adapt: Adapt,
    fails: Fails,
    *,
    is_over: Callable[[], bool],
    say: Callable[[int, int], None],
) -> Iterator[RuleResult]:
    """Yield those of `results` whose failures are shrunk, with the smallest failure first.

    Args:
        results: in the order in which their failures are shrunk, should the time not last.
        run: plays scenarios.
        adapt: makes of a scenario what the backend can play.
        fails: says what speaks against the backend in a trace.
        is_over: whether the time is over; asked after each run.
        say: told how many failures of how many are shrunk.
    """
    search = Search(trials(run, adapt, fails), is_over)
    shrinkable = [r for r in results if r.failures and r.failures[0].case.generated]
    for done, result in enumerate(shrinkable):
        say(done, len(shrinkable))
        smallest = search.smallest(result.rule.id, result.failures[0])
        others = [failure for failure in result.failures if failure is not smallest]
        yield msgspec.structs.replace(result, failures=(smallest, *others))
    say(len(shrinkable), len(shrinkable))


def trials(run: Run, adapt: Adapt, fails: Fails) -> TryOut:
    """Return what plays candidates and says what they break; see `shrink`."""

    def try_out(candidates: Sequence[Scenario]) -> Iterator[Mapping[str, Failure]]:
        cases = [Case("shrunk", c, adapt(c), generated=True) for c in candidates]
        for trace, case in zip(run([case.scenario for case in cases]), cases, strict=False):
            if isinstance(trace, Broken):
                yield {}
            else:
                yield fails(case, trace)

    return try_out
