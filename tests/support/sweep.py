"""The whole gallery: each faulty operator on both loops and some seeds, each odd one on twenty.

    python tests/support/sweep.py [--touched] [--seeds N] [--jobs N] [NAME ...]

Each faulty operator has to be convicted by its rule in every quick suite, and no odd one of
anything. Ends with an error if that is not so. `tox run -e nightly` ends with it; it takes an hour.
"""

import argparse
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor

from msgspec.structs import replace
from odd import ODD
from suite import quick_cases

from asyncwait.backends.faulty import FAULTY, Faulty, Variation
from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.generation import generate
from asyncwait.conformance.harness import LoopName, play
from asyncwait.conformance.judging import Judged, judge
from asyncwait.conformance.running import adapted, open_backend
from asyncwait.conformance.verdict import Case, Tally, Verdict, causes_of, conclude
from asyncwait.conformance.verifying import can_convict
from asyncwait.reference import open_operator
from asyncwait.spec.rules import areas, rules
from asyncwait.spec.scenario import ALL_CAPABILITIES, Scenario, Trace

SEEDS_FOR_ODD, SCENARIOS_FOR_ODD = 20, 300
PATIENCE = 3.0
"""Seconds with one scenario of an operator that blocks."""


def played(
    faulty: Faulty, loop: LoopName, scenarios: Iterable[Scenario]
) -> Iterator[tuple[Scenario, Trace]]:
    if not faulty.blocks:
        can = faulty.backend().capabilities
        for scenario in (adapted(each, can) for each in scenarios):
            yield scenario, play(faulty.open_operator, scenario, loop)
        return
    with open_backend(f"faulty-{faulty.name}", patience=PATIENCE, jobs=1) as backend:
        for scenario in scenarios:
            for trace in backend.play([scenario]):
                assert isinstance(trace, Trace)
                yield scenario, trace


def is_convicted(faulty: Faulty, loop: LoopName, seed: int) -> bool:
    rule = rules()[faulty.rule]
    suite = (
        case.scenario
        for case in quick_cases(seed=seed, about=rule.id)
        if rule.id in case.about or can_convict(rule, case.scenario)
    )
    both = played(faulty, loop, suite)
    return any(rule.id in dict(judge(*each, CHECKS, [rule.id]).violations()) for each in both)


def verdict_on(variation: Variation, *suites: Iterable[Case], until: str | None = None) -> Verdict:
    can = variation.backend().capabilities
    checks = {name: CHECKS[name] for name, rule in rules().items() if rule.applies_to(can)}
    tally = Tally(checks, checks)
    for cases in suites:
        if until is not None and tally.counts[until].found.count:
            break
        for planned in cases:
            case = replace(planned, scenario=adapted(planned.scenario, can))
            trace = play(variation.open_operator, case.scenario, variation.loop)
            is_whole = can == ALL_CAPABILITIES
            tally.add(case, trace, _judged_already(case, trace) if is_whole else None)
    found = conclude(tally, rules(), can, {})
    causes = causes_of(tally, found)
    return Verdict(variation.name, found, tally.judged, tally.judged, causes=causes)


def _judged_already(case: Case, trace: Trace) -> Judged | None:
    known, judged = _of_the_reference(case.name, case.scenario)
    return judged if trace == known else None


_known: dict[str, tuple[Scenario, Trace, Judged]] = {}


def _of_the_reference(name: str, scenario: Scenario) -> tuple[Trace, Judged]:
    if name not in _known or _known[name][0] is not scenario:
        trace = play(open_operator, scenario)
        _known[name] = scenario, trace, judge(scenario, trace, CHECKS)
    return _known[name][1:]


def convictions(odd: Variation, loop: LoopName, seed: int) -> set[str]:
    capabilities = odd.backend().capabilities
    fitting = (adapted(each, capabilities) for each in generate(SCENARIOS_FOR_ODD, seed))
    runs = ((each, play(odd.open_operator, each, loop)) for each in fitting)
    return {rule for run in runs for rule, _ in judge(*run, CHECKS).violations()}


def wrong(name: str, seeds: int) -> list[str]:
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
    diff = ["git", "diff", "--name-only", "main", "--", "conformance", "backends"]
    files = subprocess.run(diff, capture_output=True, text=True, check=True).stdout
    folders = set(re.findall(r"/(?:areas/|faulty/_)(\w+?)(?:/|\.py)", files))
    ids = {area.id for area in areas().values() if area.folder in folders}
    return [each.name for each in FAULTY if rules()[each.rule].area in ids]


def main() -> None:
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
