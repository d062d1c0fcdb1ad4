"""The time of realistic jobs, compared with the least time that their limits allow.

    python benchmarks/jobs.py [--page FILE] [--only TEXT]

All jobs run on a virtual clock, so each run gives the same figures. `--only` runs the jobs whose
name contains a text.
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from re import search
from statistics import median

from _job import Job, alone, pairs, realistic
from _job_runs import Run, play, problems
from _optimum import best
from _page import markdown, shown
from msgspec import Struct
from rich.console import Console
from rich.progress import track

BACKENDS = ("pool", "threads", "reference")
GOAL = 0.95
REASONS = (
    ("retry-after . adaptive", BACKENDS, "after a `RetryAfter`, an `Adaptive` starts no call"),
    ("adaptive", BACKENDS, "`Adaptive` begins with 4 calls at a time, and searches for more"),
    ("max_held . batch", BACKENDS, "the optimum knows which values will share a call"),
    ("timeout", ("threads",), "in threads, a call whose time is over runs on and keeps its place"),
    ("hot row, 3|key order . weight|flight of a key", ("threads",),
     "calls that end in one instant end one after the other in threads, so keys take turns"),
    ("two operators", ("reference",), "the operators of the reference have no common order"),
)  # fmt: skip
"""Why jobs may take longer: a pattern of their names, operators, and the reason."""


def reason(job: Job, backend: str) -> str:
    """Return why a job may take longer on a backend; empty for no reason."""
    return next((why for name, on, why in REASONS if backend in on and search(name, job.name)), "")


class Outcome(Struct, frozen=True):
    """Seconds of the optimum, and the runs."""

    job: Job
    optimum: float
    runs: dict[str, Run]

    def ratio(self, backend: str) -> float | None:
        """Return the optimum divided by the time of a backend; None if that refuses the job."""
        run = self.runs[backend]
        return None if run.refused else round(self.optimum / run.seconds, 3)

    @property
    def below(self) -> list[str]:
        """The backends that miss the goal."""
        ratios = {name: self.ratio(name) for name in self.runs}
        return [name for name, ratio in ratios.items() if ratio is not None and ratio < GOAL]

    def row(self) -> Sequence[str]:
        ratios = map(self.ratio, BACKENDS)
        cells = ["-" if ratio is None else f"{ratio:.3f}" for ratio in ratios]
        why = dict.fromkeys(reason(self.job, name) for name in self.below)
        return self.job.name, f"{self.optimum:,.2f}", *cells, "; ".join(why)


def measure(job: Job) -> Outcome:
    return Outcome(job, best(job), {backend: play(job, backend) for backend in BACKENDS})


def summary(outcomes: Sequence[Outcome]) -> Iterator[Sequence[str]]:
    for backend in BACKENDS:
        ratios = [ratio for each in outcomes if (ratio := each.ratio(backend)) is not None]
        below = sum(ratio < GOAL for ratio in ratios)
        least, middle = min(ratios, default=0), median(ratios or [0])
        yield backend, str(len(ratios)), f"{middle:.3f}", f"{least:.3f}", str(below)


def faults(outcomes: Iterable[Outcome]) -> Iterator[Sequence[str]]:
    for each in outcomes:
        for name, run in each.runs.items():
            for problem in () if run.refused else problems(each.job, run):
                yield each.job.name, name, problem.replace("|", "/")


HEAD = ("job", "optimum, s", *BACKENDS, f"why below {GOAL}")
SUMMARY = ("operator", "jobs", "median ratio", "lowest ratio", f"below {GOAL}")
FAULTS = ("job", "operator", "problem")


def page(jobs: Sequence[Outcome], both: Sequence[Outcome]) -> str:
    missed, wrong = [each for each in both if each.below], [*faults([*jobs, *both])]
    return f"""# Job time compared with the optimum

`python benchmarks/jobs.py` runs realistic jobs on a virtual clock and writes this page. The optimum
is the time of an ideal operator. It starts each call in the instant in which its key, the capacity
and all limits have room, in the order of the source. It reads the limits from their documentation
and shares no code with the operators. The columns `pool`, `threads` and `reference` give the ratio
of the optimum to the time of the operator: 1 is best, and {GOAL} is the goal. Above 1 another order
than the source's was faster. A `-` marks a job that the operator refuses: threads have no
cache and no hedges, the reference has no `Adaptive`, and a batch has no limits by key.

{markdown(SUMMARY, summary([*jobs, *both]))}
{markdown(HEAD, map(Outcome.row, jobs))}
## Pairs of options

A small job runs each pair of {len(alone())} options. {len(both) - len(missed)} of {len(both)} reach
{GOAL} on each operator that accepts them. The others:

{markdown(HEAD, map(Outcome.row, missed))}
## Problems

Exceeded limits, and lost, repeated or disordered results:

{markdown(FAULTS, wrong) if wrong else "None."}\n"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", type=Path, help="a file for the page in Markdown")
    parser.add_argument("--only", default="", help="jobs whose name contains this")
    asked = parser.parse_args()
    chosen = [[*realistic(), *alone()], pairs()]
    chosen = [[job for job in jobs if asked.only in job.name] for jobs in chosen]
    jobs, both = ([measure(job) for job in track(each, transient=True)] for each in chosen)
    rows = [*jobs, *(each for each in both if asked.only or each.below)]
    Console().print(shown(HEAD, map(Outcome.row, rows)))
    Console().print(shown(FAULTS, faults([*jobs, *both])))
    if asked.page:
        asked.page.write_text(page(jobs, both), encoding="utf-8")


if __name__ == "__main__":
    main()
