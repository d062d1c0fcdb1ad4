"""The search for the smallest failure of each rule."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count

from asyncwait.conformance._shrink import NOT_SMALLEST, Search, shrink
from asyncwait.conformance.generation import generate
from asyncwait.conformance.judging import Violation
from asyncwait.conformance.verdict import Case, Failure, RuleResult
from asyncwait.spec import Record
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import Ending, Leg, Scenario, Trace, size_of

TRACE = Trace((Leg(Ending("finished")),))

Fails = Callable[[Scenario], bool]


def failure(scenario: Scenario) -> Failure:
    case = Case("one", scenario, scenario, generated=True)
    return Failure(case, TRACE, Violation("wrong", 0))


class Backend:
    def __init__(self, **fails: Fails) -> None:
        self.fails = fails
        self.played: list[Scenario] = []

    def __call__(self, scenarios: Sequence[Scenario]) -> Iterator[Mapping[str, Failure]]:
        for scenario in scenarios:
            self.played.append(scenario)
            yield {rule: failure(scenario) for rule, fails in self.fails.items() if fails(scenario)}


def records(scenario: Scenario) -> int:
    return sum(isinstance(timed.element, Record) for timed in scenario.inputs)


def two_in_order(scenario: Scenario) -> bool:
    return records(scenario) >= 2 and scenario.mode == "ordered"


def largest(fails: Fails) -> Failure:
    return failure(max((s for s in generate(100, 0) if fails(s)), key=size_of))


def never() -> bool:
    return False


def test_what_is_left_is_what_makes_it_fail() -> None:
    backend = Backend(rule=two_in_order)

    found = Search(backend, never).smallest("rule", largest(two_in_order)).case.planned

    assert (records(found), len(found.inputs)) == (2, 2)
    assert [timed.at for timed in found.inputs] == [0, 0]
    assert found.crashes == found.requests == found.sink == found.plans == ()


def test_a_search_ends_when_its_time_is_over() -> None:
    backend = Backend(one=two_in_order, other=two_in_order)
    search = Search(backend, lambda: len(backend.played) >= 3)
    begin = largest(two_in_order)

    first = search.smallest("one", begin)
    second = search.smallest("other", begin)

    assert len(backend.played) == 3
    assert size_of(first.case.planned) < size_of(begin.case.planned)
    assert second.case.planned == first.case.planned


def test_a_failure_that_nothing_repeats_stays_as_it_is() -> None:
    begin = largest(two_in_order)

    assert Search(Backend(), never).smallest("rule", begin) is begin


def noted(is_over: Callable[[], bool]) -> tuple[str, bool]:
    """Shrink a failure; return what is noted of it, and whether it was made smaller."""
    begin = largest(two_in_order)
    result = RuleResult(rules()["ORD-1"], "fail", failures=(begin,), note="known")

    def fails(case: Case, _: Trace) -> Mapping[str, Failure]:
        return {"ORD-1": failure(case.planned)} if two_in_order(case.planned) else {}

    (shrunk,) = shrink(
        [result],
        lambda scenarios: [TRACE] * len(scenarios),
        lambda scenario: scenario,
        fails,
        is_over=is_over,
        say=lambda *_: None,
    )
    return shrunk.note, shrunk.failures[0].case.size < begin.case.size


def test_whoever_runs_out_of_time_is_told() -> None:
    asked = count()

    assert noted(never) == ("known", True)
    assert noted(lambda: next(asked) >= 3) == (f"known; {NOT_SMALLEST}", True)
    assert noted(lambda: True) == (f"known; {NOT_SMALLEST}", False)
