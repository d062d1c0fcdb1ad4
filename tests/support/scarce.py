"""In how many of 20 seeds 300 generated scenarios alone convict each operator of the gallery.

    python tests/support/scarce.py      writes tests/faulty/scarce.md; takes a quarter of an hour

Those that fewer than 19 seeds find are listed there, each with the reason that `scarce.toml` gives.
One without a reason ends this with an error, and so does a reason that is needed no longer.
"""

import gc
import logging
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from asyncwait.backends.faulty import FAULTY, Faulty
from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.generation import generate
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import judge
from asyncwait.reference import open_operator
from asyncwait.spec.scenario import Scenario

SCENARIOS, SEEDS, ENOUGH = 300, 20, 19
PLAYED = [faulty for faulty in FAULTY if not faulty.blocks]
"""Those that block their loop can't be played without a process around them."""

HERE = Path(__file__).parents[1] / "faulty"
HEAD = f"""# What generated scenarios rarely find

Of the {{played}} operators of the gallery that can be played in one process, {SCENARIOS} generated
scenarios alone convict {{found}} by their rule in nearly every seed that was tried: {SEEDS} seeds,
or, for what is new, two. The others are here. Each is convicted by an example, and what begins
beyond small scenarios by the shapes too, which come on top of these. Written by
`tests/support/scarce.py`.

| rule | operator | found in seeds | what it takes |
|---|---|---|---|
"""


@cache
def scenarios(seed: int) -> tuple[Scenario, ...]:
    """Return the scenarios of a seed."""
    return generate(SCENARIOS, seed)


@cache
def sound(seed: int, number: int, loop: str) -> int:
    """Return what the reference does in a scenario, as a number to compare."""
    return hash(msgspec.json.encode(play(open_operator, scenarios(seed)[number], loop)))


def finds(faulty: Faulty, seed: int) -> bool:
    """Return whether some scenario of the seed convicts the operator by its rule.

    What does in a scenario what the reference does can't be convicted there, and is not judged.
    """
    for number, scenario in enumerate(scenarios(seed)):
        trace = play(faulty.open_operator, scenario, faulty.loop)
        if hash(msgspec.json.encode(trace)) == sound(seed, number, faulty.loop):
            continue
        if faulty.rule in dict(judge(scenario, trace, CHECKS).violations()):
            return True
    return False


def reasons() -> Mapping[str, str]:
    """Return what it takes to find the scarce ones, by name."""
    return tomllib.loads((HERE / "scarce.toml").read_text(encoding="utf-8"))


def main() -> None:
    """Measure, print each figure, and write the page."""
    logging.disable(logging.CRITICAL)
    for seed in range(SEEDS):
        scenarios(seed)
    gc.collect()
    gc.freeze()  # Else each collection looks through all scenarios again.
    found: dict[Faulty, int] = {}
    for faulty in PLAYED:
        found[faulty] = sum(finds(faulty, seed) for seed in range(SEEDS))
        print(f"{found[faulty]:2} of {SEEDS}  {faulty.rule:8} {faulty.name}", flush=True)
    scarce = [faulty for faulty in PLAYED if found[faulty] < ENOUGH]
    names, why = {faulty.name for faulty in scarce}, reasons()
    if names != set(why):
        sys.exit(f"no reason: {sorted(names - set(why))}; none needed: {sorted(set(why) - names)}")
    rows = (f"| {f.rule} | {f.name} | {found[f]} of {SEEDS} | {why[f.name]} |\n" for f in scarce)
    head = HEAD.format(played=len(PLAYED), found=len(PLAYED) - len(scarce))
    (HERE / "scarce.md").write_text(head + "".join(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
