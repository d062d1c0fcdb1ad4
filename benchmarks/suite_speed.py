"""How many scenarios a second are played and judged: a fixed seeded set, generation apart.

    python benchmarks/suite_speed.py [--count 2000] [--runs 3]

Prints the median of the runs for each operator and loop. Everything runs in one process, so that
playing and judging add up; `asyncwait verify` plays in a child while it judges, and is faster.
"""

import argparse
import gc
import statistics
import time

from asyncwait.backends.emitter import open_operator as emitter
from asyncwait.backends.pool import open_operator as pool
from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.generation import generate
from asyncwait.conformance.harness import LoopName, play
from asyncwait.conformance.judging import judge
from asyncwait.reference import open_operator as reference
from asyncwait.spec import OpenOperator
from asyncwait.spec.scenario import Scenario

LOOPS: tuple[LoopName, ...] = ("asyncio", "trio")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    scenarios = generate(arguments.count, seed=1)
    gc.freeze()  # as a child of `asyncwait verify` does with what it has imported
    print(f"{len(scenarios)} scenarios, median of {arguments.runs} runs")
    for name, operator in (("reference", reference), ("pool", pool), ("emitter", emitter)):
        for loop in LOOPS:
            rates = [_rate(operator, scenarios, loop) for _ in range(arguments.runs)]
            print(f"{name:10} {loop:8} {statistics.median(rates):6.0f} scenarios/s")


def _rate(operator: OpenOperator, scenarios: tuple[Scenario, ...], loop: LoopName) -> float:
    began = time.perf_counter()
    for scenario in scenarios:
        judge(scenario, play(operator, scenario, loop), CHECKS)
    return len(scenarios) / (time.perf_counter() - began)


if __name__ == "__main__":
    main()
