"""The adapter of threads: it hides nothing that threads do."""

import math
from functools import partial
from typing import Any

import pytest

from asyncwait.backends.threads._thread_pool import Call, ThreadPool
from asyncwait.backends.threads.conformance._loops import PatientLoop
from asyncwait.backends.threads.conformance._server import Hired, open_served
from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.generation import generate
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import judge
from asyncwait.conformance.running import adapted, load_backend
from asyncwait.spec.rules import rules_for

SCENARIOS = 100


class LastFirst(ThreadPool):
    def take(self) -> Call:
        return self._waiting.pop()


class HiredLastFirst(Hired, LastFirst):
    """The same, with numbers on their calls."""


class Silent(Hired):
    def running(self) -> list[Any]:
        return []


def broken(pool: type[Hired], seed: int) -> set[str]:
    can = load_backend("threads").capabilities
    checks = {name: CHECKS[name] for name in rules_for(can)}
    opens = partial(open_served, pool=pool)
    scenarios = [adapted(each, can) for each in generate(SCENARIOS, seed)]
    runs = [(each, play(opens, each, loop_factory=PatientLoop)) for each in scenarios]
    return {rule for run in runs for rule, _ in judge(*run, checks).violations()}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(4))
def test_threads_that_do_wrong_are_convicted(seed: int) -> None:
    assert "ORD-4" in broken(HiredLastFirst, seed)
    assert "FAIL-8" in broken(Silent, seed)


def test_a_call_that_no_thread_has_begun_gives_its_permit_back() -> None:
    class Busy(ThreadPool):
        def _see_to(self, waiting: int) -> None:
            pass

    pool, given_back = Busy(), list[int]()
    for number in range(3):
        pool.ask(Call(number, lambda: str, math.inf, partial(given_back.append, number)))
    pool.withdraw()
    assert given_back == [2, 1, 0]
