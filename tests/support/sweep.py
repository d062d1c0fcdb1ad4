"""The whole gallery: each faulty operator on both loops and some seeds, each odd one on twenty.

    python tests/support/sweep.py [--touched] [--seeds N] [--jobs N] [NAME ...]

Each faulty operator has to be convicted by its rule in every quick suite, and no odd one of
anything. Ends with an error if that is not so. `tox run -e gallery` is the same; it takes an hour.
"""

import argparse
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache

from asyncwait.backends.faulty import FAULTY, ODD, Faulty, Variation
from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.generation import QUICK, generate, shapes
from asyncwait.conformance.harness import LoopName, play
from asyncwait.conformance.judging import judge
from asyncwait.conformance.running import adapted, open_backend
from asyncwait.spec.rules import areas, rules
from asyncwait.spec.scenario import Scenario, Trace

SEEDS_FOR_ODD, SCENARIOS_FOR_ODD = 20, 300
PATIENCE = 3.0
"""Seconds with one scenario of an operator that blocks."""


@cache
def generated(seed: int) -> tuple[Scenario, ...]:
    """Return the small scenarios of a quick suite."""
    return generate(QUICK, seed)


def quick_suite(rule: str, seed: int) -> Iterator[Scenario]:
    """Give the examples, those about `rule` first, then shapes, then generated scenarios."""
    examples = sorted(EXAMPLES, key=lambda example: rule not in example.rules)
    yield from (example.scenario for example in examples)
    yield from (scenario for _, scenario in shapes(QUICK, seed))
    yield from generated(seed)


def played(
    faulty: Faulty, loop: LoopName, scenarios: Iterable[Scenario]
) -> Iterator[tuple[Scenario, Trace]]:
    """Play `scenarios` one after the other, in a child process if the operator blocks."""
    if not faulty.blocks:
        for scenario in scenarios:
            yield scenario, play(faulty.open_operator, scenario, loop)
        return
    with open_backend(f"faulty-{faulty.name}", patience=PATIENCE, jobs=1) as backend:
        for scenario in scenarios:
            for trace in backend.play([scenario]):
                assert isinstance(trace, Trace)
                yield scenario, trace


def is_convicted(faulty: Faulty, loop: LoopName, seed: int) -> bool:
    """Whether some scenario of a quick suite shows the rule broken that it is listed for."""
    both = played(faulty, loop, quick_suite(faulty.rule, seed))
    return any(faulty.rule in dict(judge(*each, CHECKS).violations()) for each in both)


def convictions(odd: Variation, loop: LoopName, seed: int) -> set[str]:
    """Return the rules that generated scenarios convict a sound operator of."""
    capabilities = odd.backend().capabilities
    fitting = (adapted(each, capabilities) for each in generate(SCENARIOS_FOR_ODD, seed))
    runs = ((each, play(odd.open_operator, each, loop)) for each in fitting)
    return {rule for run in runs for rule, _ in judge(*run, CHECKS).violations()}


def wrong(name: str, seeds: int) -> list[str]:
    """Return what is wrong with the verdicts on an operator of the gallery, in lines."""
    logging.disable(logging.CRITICAL)
    each = next(each for each in (*FAULTY, *ODD) if each.name == name)
    if isinstance(each, Faulty):
        return [
            f"{each.rule} does not convict {name} on {loop}, seed {seed}"
            for loop in each.loops
            for seed in range(seeds)
            if not is_convicted(each, loop, seed)
        ]
    return [
        f"{', '.join(sorted(found))} convicts {name} on {loop}, seed {seed}"
        for loop in each.loops
        for seed in range(SEEDS_FOR_ODD)
        if (found := convictions(each, loop, seed))
    ]


def touched() -> list[str]:
    """Return the faulty operators of each area of which a check, an example or a fault differs."""
    diff = ["git", "diff", "--name-only", "main", "--", "conformance", "backends"]
    files = subprocess.run(diff, capture_output=True, text=True, check=True).stdout
    folders = set(re.findall(r"/(?:areas/|faulty/_)(\w+?)(?:/|\.py)", files))
    ids = {area.id for area in areas().values() if area.folder in folders}
    return [each.name for each in FAULTY if rules()[each.rule].area in ids]


def main() -> None:
    """Go through all operators, or those that are named, and say what is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="of an operator; all by default")
    parser.add_argument(
        "--touched", action="store_true", help="the faulty ones of areas that differ from main"
    )
    parser.add_argument("--seeds", type=int, default=3, help="of quick suites (default: 3)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    options = parser.parse_args()
    names = options.names or [each.name for each in (*FAULTY, *ODD)]
    if options.touched:
        names = touched()
    failed = 0
    with ProcessPoolExecutor(options.jobs) as pool:
        found = pool.map(wrong, names, [options.seeds] * len(names))
        for number, (name, lines) in enumerate(zip(names, found, strict=True), 1):
            print(f"{number:3} of {len(names)}  {name}: {'; '.join(lines) or 'ok'}", flush=True)
            failed += bool(lines)
    if failed:
        sys.exit(f"{failed} of {len(names)} are not judged as they should be")


if __name__ == "__main__":
    main()
