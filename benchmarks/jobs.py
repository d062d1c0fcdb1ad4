"""The time of realistic jobs, compared with the least time that their limits allow.

    python benchmarks/jobs.py [--page FILE] [--plot FILE] [--only TEXT]
    python benchmarks/jobs.py --generated 20000 --seed 1 [--backend pool]

All jobs run on a virtual clock, so each run gives the same figures. `--only` runs the jobs whose
name contains a text, and prints their problems. `--generated` draws jobs of two to four options and
looks for exceeded limits, unused room, and lost, repeated or disordered results. It prints the
smallest failing job of each kind as a program.
"""

import argparse
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from _job import Job
from _job_checks import problems
from _job_generated import code, draw, smallest, wrong
from _job_list import alone, pairs, realistic
from _job_runs import Run, by_hand, play
from _optimum import best, bound
from _page import markdown, shown
from msgspec import Struct
from rich.console import Console
from rich.progress import track

BACKENDS = ("pool", "threads", "reference")
GOAL = 0.95
DRAWN = ("LLM, 20 calls a second", "LLM, 1 call a second", "LLM, calls and tokens a minute",
         "crawl, 1 a second a host")  # fmt: skip
"""The jobs of the picture."""


class Outcome(Struct, frozen=True):
    """Figures of a job, and its runs by the backend.

    Args:
        optimum: seconds of the ideal operator.
        least: seconds of the closed bound; 0 where there is none.
        nominal: seconds of the ideal operator if no call had a latency.
        hand: seconds of the loop by hand; None where it can't do the job.
    """

    job: Job
    optimum: float
    least: float
    nominal: float
    hand: float | None
    runs: dict[str, Run]
    wrong: dict[str, list[str]]

    def ratio(self, backend: str) -> float:
        """Return the optimum divided by the time of a backend, as exactly as two runs agree."""
        return round(self.optimum / self.runs[backend].seconds, 2 if backend == "threads" else 3)

    def cell(self, backend: str) -> str:
        """Return what the table says of a backend."""
        run = self.runs[backend]
        return "refused" if run.refused else run.error.split(":")[0] or str(self.ratio(backend))


def measure(job: Job, backends: Iterable[str] = BACKENDS) -> Outcome:
    """Run a job on each backend, and by hand."""
    runs = {backend: play(job, backend) for backend in backends}
    found = {name: [] if run.refused else problems(job, run) for name, run in runs.items()}
    optimum, nominal = best(job).seconds, best(job, nominal=True).seconds
    return Outcome(job, optimum, bound(job), nominal, by_hand(job), runs, found)


HEAD = ("job", "optimum, s", "bound", *BACKENDS, "by hand", "nominal")


def row(each: Outcome) -> Sequence[str]:
    """Return a row of the table."""
    hand = f"{each.optimum / each.hand:.3f}" if each.hand else "-"
    least = f"{each.least / each.optimum:.3f}" if each.least else "-"
    pool = each.runs["pool"]
    nominal = "-" if pool.refused else f"{each.nominal / pool.seconds:.3f}"
    cells = map(each.cell, BACKENDS)
    return (each.job.name, f"{each.optimum:,.2f}", least, *cells, hand, nominal)


def refusals(outcomes: Iterable[Outcome]) -> list[tuple[str, str, str]]:
    """Return a row for each backend and reason, with the jobs."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for each in outcomes:
        for backend, run in each.runs.items():
            if run.refused:
                reason = run.refused.split(", got")[0].replace("|", "/")
                reasons.setdefault((backend, reason), []).append(each.job.name)
    return [
        (backend, reason, f"{len(names)}: {', '.join(names[:3])}{' ...' * (len(names) > 3)}")
        for (backend, reason), names in reasons.items()
    ]


def faults(outcomes: Iterable[Outcome]) -> list[tuple[str, str, str]]:
    """Return a row for each problem."""
    return [
        (each.job.name, backend, problem.replace("|", "/"))
        for each in outcomes
        for backend, found in each.wrong.items()
        for problem in found
    ]


def page(outcomes: Sequence[Outcome], both: Sequence[Outcome], picture: str) -> str:
    """Return the page."""
    missed = [each for each in both if _is_below(each)]
    reached = len(both) - len(missed)
    return f"""# Job time compared with the optimum

`python benchmarks/jobs.py` runs realistic jobs on a virtual clock and writes this page. The optimum
is the time of an ideal operator. It starts each call in the instant in which its key, the capacity
and all limits have room, in the order of the source. It reads the limits from their documentation
and shares no code with the operators. `bound` is the share of it that no order of calls can go
below, whatever is known of later values: the largest of work divided by rate, work divided by calls
at a time, and the longest chain of calls.

The columns `pool`, `threads` and `reference` give the optimum divided by the time of the operator:
1 is best, and {GOAL} is the goal. Above 1 another order than that of the source was faster.
`by hand` is a loop of workers with semaphores and windows. It keeps no order of results, so its
capacity is never full of finished ones. `nominal` compares the pool with calls that count for `per`
seconds from their start, as if `latency` were 0.

An `Adaptive` limit begins with 4 calls at a time and searches for more. In threads, a call whose
time is over runs on and keeps its place, and calls that end in one instant go on in any order, so
two runs may differ by a hundredth.

![Starts of calls]({picture})

{markdown(HEAD, map(row, outcomes))}
## Pairs of options

A small job runs each pair of {len(alone())} options. {reached} of {len(both)} reach {GOAL}
wherever a backend accepts them. The others:

{markdown(HEAD, map(row, missed))}
## Refused

{markdown(("backend", "reason", "jobs"), refusals([*outcomes, *both]))}
## Problems

Exceeded limits, unused room, and lost, repeated or disordered results:

{markdown(("job", "backend", "problem"), faults([*outcomes, *both]))}"""


def _is_below(each: Outcome) -> bool:
    return any(not run.refused and each.ratio(name) < GOAL for name, run in each.runs.items())


def plot(outcomes: Iterable[Outcome], path: Path) -> None:
    """Draw the starts of calls over time, with those of the ideal operator."""
    import matplotlib as mpl  # tests do without it

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "asyncwait"
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
    for axis, each in zip(axes.flat, outcomes, strict=True):
        plans = {"optimum": best(each.job).starts, "nominal": best(each.job, nominal=True).starts}
        runs = {n: [call.start for call in run.calls] for n, run in each.runs.items() if run.calls}
        for name, starts in {**plans, **runs}.items():
            style: dict[str, Any] = (
                {"linewidth": 6, "color": "lightgray"} if name == "optimum" else {}
            )
            style |= {"linestyle": ":", "color": "black"} if name == "nominal" else {}
            axis.step(sorted(starts), range(1, len(starts) + 1), where="post", label=name, **style)
        axis.set(title=each.job.name, xlabel="seconds", ylabel="calls started")
        axis.legend()
    figure.savefig(path, metadata={"Date": None})


def search(count: int, seed: int, backend: str) -> bool:
    """Run generated jobs; print the smallest failing ones; return whether all were right."""
    begun, refused, kinds = time.perf_counter(), Counter[str](), Counter[str]()
    smallest_of: dict[str, Any] = {}
    for number in range(count):
        drawn = draw(seed, number)
        reason, problem = wrong(drawn, backend)
        refused.update([reason.split(":")[0]] if reason else [])
        if problem:
            kind = problem.split(":")[0]
            kinds[kind] += 1
            if kind not in smallest_of or drawn.size < smallest_of[kind][0].size:
                smallest_of[kind] = drawn, problem
    took = time.perf_counter() - begun
    print(f"{count} jobs in {took:.1f} s ({1000 * took / count:.1f} s for 1,000)")
    print(f"refused {sum(refused.values())}, wrong {dict(kinds)}")
    for drawn, problem in smallest_of.values():
        least, found = smallest(drawn, backend, problem)
        print(f"\n# {'-' * 70}\n{code(least.job(), found)}")
    return not kinds


def main() -> None:
    """Run the jobs, and write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", type=Path, help="a file for the page in Markdown")
    parser.add_argument("--plot", type=Path, help="a file for the picture")
    parser.add_argument("--only", help="jobs whose name contains this")
    parser.add_argument("--generated", type=int, help="jobs to draw")
    parser.add_argument("--seed", type=int, default=1, help="of the drawn jobs")
    parser.add_argument("--backend", choices=BACKENDS, default="pool", help="of the drawn jobs")
    asked = parser.parse_args()
    if asked.generated:
        raise SystemExit(not search(asked.generated, asked.seed, asked.backend))
    chosen = [[*realistic(), *alone()], pairs()]
    if asked.only:
        chosen = [[job for job in jobs if asked.only in job.name] for jobs in chosen]
    jobs, both = ([measure(job) for job in track(each, transient=True)] for each in chosen)
    console = Console()
    console.print(
        shown(HEAD, map(row, [*jobs, *(each for each in both if asked.only or _is_below(each))]))
    )
    console.print(shown(("job", "backend", "problem"), faults([*jobs, *both])))
    if asked.page:
        picture = asked.plot.name if asked.plot else "jobs.svg"
        asked.page.write_text(page(jobs, both, picture), encoding="utf-8")
    if asked.plot:
        plot([each for name in DRAWN for each in jobs if each.job.name == name], asked.plot)


if __name__ == "__main__":
    main()
