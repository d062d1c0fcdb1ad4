"""Jobs end in nearly the least time that their limits allow, and lose nothing."""

from collections.abc import Iterable
from types import ModuleType
from typing import Any

import pytest
from where import ROOT

SAMPLE = {
    "LLM, 20 calls a second", "LLM, 1 call a second", "changes, hot row, 5 a second",
    "payments, 25 a second, 10 at a time", "geocoding, 1 a second", "option: retry",
    "option: batch", "key order + calls",
}  # fmt: skip
"""Jobs for threads and the reference."""


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import jobs

    return jobs


def missed(jobs: ModuleType, chosen: Iterable[Any], backend: str) -> dict[str, Any]:
    """Run jobs; return what is wrong, or the ratio without a reason, by the name of the job."""
    found = dict[str, Any]()
    for job in chosen:
        run = jobs.play(job, backend)
        wrong = [] if run.refused else jobs.problems(job, run)
        is_known = run.refused or jobs.reason(job, backend)
        ratio = 1 if is_known else jobs.best(job) / run.seconds
        if wrong or ratio < jobs.GOAL:
            found[job.name] = wrong or ratio
    return found


def test_realistic_jobs_end_in_nearly_the_least_time(jobs: ModuleType) -> None:
    chosen = [job for job in jobs.realistic() if job.count <= 1000]  # The page has larger ones.
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


def test_the_checks_find_what_is_wrong(jobs: ModuleType) -> None:
    job = next(job for job in jobs.pairs() if job.name == "unordered + calls")
    run = jobs.play(job, "pool")
    assert jobs.problems(job, run) == []

    early, lost, twice = (jobs.play(job, "pool") for _ in range(3))
    early.calls[5].start = early.calls[0].start
    del lost.results[0][3]
    twice.results[0].append(twice.results[0][3])

    kinds = [jobs.problems(job, each)[0].split(":")[0] for each in (early, lost, twice)]
    assert kinds == ["exceeded", "lost", "repeated"]
