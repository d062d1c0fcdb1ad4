"""Jobs end in nearly the least time that their limits allow, and lose nothing."""

from collections.abc import Iterable
from types import ModuleType
from typing import Any

import pytest
from where import ROOT

GOAL = 0.95

MOST_VALUES = 1000
"""Larger jobs are for the page: they would take most of the time."""

_SEARCHES = "the operator begins with 4 calls at a time and searches for more"
_SHARED = "calls that share an answer: the ideal operator knows which values come next"
_UNPAID = "values whose next attempt has no budget wait for their back-off first"

EXCEPTIONS = {
    "adaptive": _SEARCHES,
    "max_held + batch": _SHARED,
    "retry-after + budget": _UNPAID,
    "key order + budget": "which values find a budget depends on the order of the keys",
}
"""Parts of the names of jobs that may take longer, with the reason."""

SAMPLE = (
    "LLM, 20 calls a second",
    "LLM, 1 call a second",
    "changes, hot row, 5 a second",
    "payments, 25 a second, 10 at a time",
    "geocoding, 1 a second",
    "option: retry",
    "option: batch",
    "key order + calls",
)
"""Jobs for threads and the reference."""


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The benchmark."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import jobs

    return jobs


def missed(jobs: ModuleType, chosen: Iterable[Any], backend: str) -> dict[str, Any]:
    """Run jobs; return what is wrong, by the name of the job."""
    found: dict[str, Any] = {}
    for job in chosen:
        run = jobs.play(job, backend)
        if run.refused:
            continue
        if wrong := jobs.problems(job, run):
            found[job.name] = wrong
            continue
        optimum, least = jobs.best(job).seconds, jobs.bound(job)
        assert least <= optimum + 1e-6, f"{job.name}: the optimum is too small"
        is_known = any(part in job.name for part in EXCEPTIONS)
        if optimum / run.seconds < GOAL and not is_known:
            found[job.name] = f"took {run.seconds:.2f} s, {optimum:.2f} s is possible"
    return found


def test_realistic_jobs_end_in_nearly_the_least_time(jobs: ModuleType) -> None:
    chosen = [job for job in jobs.realistic() if job.count <= MOST_VALUES]
    assert len(chosen) >= 60
    assert missed(jobs, chosen, "pool") == {}


def test_each_option_and_each_pair_of_options_costs_no_time(jobs: ModuleType) -> None:
    assert missed(jobs, [*jobs.alone(), *jobs.pairs()], "pool") == {}


@pytest.mark.parametrize("backend", ["threads", "reference"])
def test_other_backends_are_as_fast(jobs: ModuleType, backend: str) -> None:
    everything = [*jobs.realistic(), *jobs.alone(), *jobs.pairs()]
    chosen = [job for job in everything if job.name in SAMPLE]
    assert len(chosen) == len(SAMPLE)
    assert missed(jobs, chosen, backend) == {}


def test_jobs_by_chance_use_all_room_and_no_more(jobs: ModuleType) -> None:
    drawn = [jobs.draw(1, number) for number in range(60)]
    found = {each.job().name: jobs.wrong(each, "pool") for each in drawn}
    assert {name: problem for name, (refused, problem) in found.items() if problem} == {}


def test_the_checks_find_what_is_wrong(jobs: ModuleType) -> None:
    job = next(job for job in jobs.pairs() if job.name == "unordered + calls")
    run = jobs.play(job, "pool")
    assert jobs.problems(job, run) == []

    late, early, lost, twice = (jobs.play(job, "pool") for _ in range(4))
    late.calls[-1].start += 1
    early.calls[5].start = early.calls[0].start
    del lost.results[0][3]
    twice.results[0].append(twice.results[0][3])

    kinds = [jobs.problems(job, each)[0].split(":")[0] for each in (late, early, lost, twice)]
    assert kinds == ["idle", "exceeded", "lost", "repeated"]
