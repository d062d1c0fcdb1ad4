"""In how many of 20 seeds 300 generated scenarios alone convict each operator of the gallery.

    python tests/support/scarce.py             of all, in a quarter of an hour
    python tests/support/scarce.py NAME...     of these, in seconds

Those that fewer than 19 seeds find are listed in `tests/faulty/scarce.toml`, each with what it
takes. One without that ends this with an error, and so does one that is listed and found.
"""

import argparse
import gc
import logging
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from asyncwait.backends.faulty import FAULTY, Faulty
from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.generation import generate
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import judge
from asyncwait.conformance.running import adapted
from asyncwait.reference import open_operator
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import Capability, Scenario

SCENARIOS, SEEDS, ENOUGH = 300, 20, 19
_SHAPED = {"BAT", "CACHE", "LIMIT"}
PLAYED = [f for f in FAULTY if not f.blocks and rules()[f.rule].area not in _SHAPED]
"""Those that block their loop can't be played without a process around them, and in small generated
scenarios no calls are batched or limited, and nothing is kept: there are shapes for that."""

HERE = Path(__file__).parents[1] / "faulty"


@cache
def scenarios(seed: int) -> tuple[Scenario, ...]:
    return generate(SCENARIOS, seed)


@cache
def sound(seed: int, number: int, can: frozenset[Capability], loop: str) -> int:
    scenario = adapted(scenarios(seed)[number], can)
    return hash(msgspec.json.encode(play(open_operator, scenario, loop)))


def finds(faulty: Faulty, seed: int) -> bool:
    can = faulty.backend().capabilities
    for number, planned in enumerate(scenarios(seed)):
        scenario = adapted(planned, can)
        trace = play(faulty.open_operator, scenario, faulty.loop)
        if hash(msgspec.json.encode(trace)) == sound(seed, number, can, faulty.loop):
            continue
        if faulty.rule in dict(judge(scenario, trace, CHECKS).violations()):
            return True
    return False


def listed() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads((HERE / "scarce.toml").read_text(encoding="utf-8"))


def main() -> None:
    chosen = asked_for()
    logging.disable(logging.CRITICAL)
    for seed in range(SEEDS):
        scenarios(seed)
    gc.collect()
    gc.freeze()  # Else each collection looks through all scenarios again.
    scarce = set()
    for name, faulty in chosen.items():
        found = sum(finds(faulty, seed) for seed in range(SEEDS))
        print(f"{found:2} of {SEEDS}  {faulty.rule:8} {name}", flush=True)
        if found < ENOUGH:
            scarce.add(name)
    now = listed().keys() & chosen.keys()
    if scarce != now:
        sys.exit(f"not listed: {sorted(scarce - now)}; listed, and found: {sorted(now - scarce)}")


def asked_for() -> dict[str, Faulty]:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="of a faulty operator; else all")
    names = parser.parse_args().names
    played = {faulty.name: faulty for faulty in PLAYED}
    if unknown := set(names) - played.keys():
        parser.error(f"not in the gallery, or not in generated scenarios: {sorted(unknown)}")
    return {name: played[name] for name in names} or played


if __name__ == "__main__":
    main()
