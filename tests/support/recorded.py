"""The parts of a record: for each key, a function that gives what is written down of it."""

import hashlib
import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
from odd import ODD
from recorded_commands import commands, names_listed, verified
from suite import quick_cases
from sweep import PATIENCE, verdict_on

from asyncwait.backends.faulty import FAULTY, Faulty, Variation
from asyncwait.backends.faulty.mailbox import FAULTY_MAILBOXES, FaultyMailbox
from asyncwait.conformance.areas import CHECKS, EXAMPLES, all_witnesses
from asyncwait.conformance.evidence import Example, Witness
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import judge
from asyncwait.conformance.mailbox import (
    MAILBOX_EXAMPLES,
    MAILBOX_WITNESSES,
    MailboxExample,
    MailboxWitness,
    judge_mailbox,
    mailbox_cases,
    play_program,
)
from asyncwait.reference import MailboxProcessor, open_operator
from asyncwait.spec.mailbox.program import program_id
from asyncwait.spec.scenario import id_of, needs
from asyncwait.spec.vectors import shipped_vectors

Told: TypeAlias = Mapping[str, Callable[[], Any]]

ROOT = Path(__file__).resolve().parents[2]
SEEDS = (0, 1, 2)

GENERATED = 100
"""Scenarios that a faulty operator plays besides examples, with the shapes that belong to them."""

MUTANTS = "RECORD_MUTANTS"
"""Environment variable: how many mutants of each operator are drawn for each seed."""

PAIRS = ("chain-pool-reference-asyncio", "chain-emitter-pool-trio-as-the-first")
"""Of all pairs of operators in a chain."""

LEFT_OUT = ("chain-", "faulty-", "flink", "pyflink", "spark")
"""How the names of backends begin that are in another part, or are not played in Python alone."""


def examples() -> Told:
    """What the reference's run of each example shows; what else is known of the example."""
    vectors = [vector for file in shipped_vectors().values() for vector in file.vectors]
    outcomes = {vector.name: _digest(vector.outcome) for vector in vectors if vector.outcome}
    operators = {e.name: partial(_example, e, outcomes.get(e.name)) for e in EXAMPLES}
    return {**operators, **{f"mailbox {e.name}": partial(_program, e) for e in MAILBOX_EXAMPLES}}


def _example(example: Example, outcome: str | None) -> Any:
    scenario = example.scenario
    return {
        "id": id_of(scenario),
        "judged": _judged(judge(scenario, play(open_operator, scenario), CHECKS)),
        "needs": sorted(need.value for need in needs(scenario)),
        "outcome": outcome,
        "rules": list(example.rules),
    }


def _program(example: MailboxExample) -> Any:
    judged: dict[str, Any] = {}
    for case in mailbox_cases(0):
        if case.name == example.name:
            found = judge_mailbox(play_program(case.program, MailboxProcessor, case.stage))
            # How often is by chance where threads or tasks are beside each other in any order.
            told = _judged(found)
            judged[case.stage] = told if case.stage == "asyncio" else list(told)
    return {"id": program_id(example.program), "judged": judged, "rules": list(example.rules)}


def witnesses() -> Told:
    """What each check says, and each other one, of the runs that witness for it."""
    operators = {each.rule: partial(_witness, each) for each in all_witnesses()}
    return {**operators, **{e.rule: partial(_mailbox_witness, e) for e in MAILBOX_WITNESSES}}


def _witness(witness: Witness) -> Any:
    runs = {"violating": witness.violating, "legal": witness.legal}
    return {name: _judged(judge(run.scenario, run.trace, CHECKS)) for name, run in runs.items()}


def _mailbox_witness(witness: MailboxWitness) -> Any:
    runs = {"violating": witness.violating, "legal": witness.legal}
    return {name: _judged(judge_mailbox(trace)) for name, trace in runs.items()}


def _judged(judged: Any) -> Any:
    """Return how often each rule applied, and, where it is broken, in how many spots."""
    if judged.error:
        return "error"
    return {
        rule: _said(said) for rule, said in judged.by_rule.items() if said.applied or said.error
    }


def _said(judgement: Any) -> Any:
    if judgement.error:
        return "error"
    broken = len(judgement.violations)
    return [judgement.applied, broken] if broken else judgement.applied


def faults() -> Told:
    """The rules that convict each operator of the gallery, in the order of its verdict."""
    operators = {f"faulty-{each.name}": partial(_fault, each) for each in FAULTY}
    odd = {f"odd-{each.name}": partial(_fault, each) for each in ODD}
    mailboxes = {f"mailbox {each.name}": partial(_mailbox_fault, each) for each in FAULTY_MAILBOXES}
    return {**operators, **odd, **mailboxes}


def _fault(variation: Variation) -> Any:
    rule = variation.rule if isinstance(variation, Faulty) else None
    if isinstance(variation, Faulty) and variation.blocks:
        given = (f"--count={GENERATED}", f"--patience={PATIENCE}")
        named = verified(f"faulty-{variation.name}", *given)["named"]
    else:
        verdict = verdict_on(variation, quick_cases(GENERATED))
        named = [result.rule.id for result in verdict.failed]
    if variation.loop == "trio":  # It shuffles its tasks, and what else breaks is by chance.
        return {"rule": rule, "convicted": rule in named}
    return {"rule": rule, "named": named}


def _mailbox_fault(faulty: FaultyMailbox) -> Any:
    opened = faulty.open_processor
    runs = (play_program(c.program, opened, c.stage) for c in mailbox_cases(GENERATED))
    broken = Counter(rule for run in runs for rule in judge_mailbox(run).broken)
    return {"rule": faulty.rule, "named": sorted(broken)}


def verdicts() -> Told:
    """What the quick suite says of each backend that is played in Python alone, rule by rule."""
    names = [name for name in names_listed() if not name.startswith(LEFT_OUT)]
    return {
        f"{name} seed {seed}": partial(_verdict, name, seed)
        for name in (*names, *PAIRS)
        for seed in (SEEDS[:1] if "-without-" in name else SEEDS)
    }


def _verdict(name: str, seed: int) -> Any:
    is_part = "-without-" in name  # The reference again, but for a profile.
    found = verified(name, f"--seed={seed}", *([f"--count={GENERATED}"] if is_part else []))
    if "trio" in name or "threads" in name:  # No two runs of these are the same.
        found["rules"] = {rule: said.split()[0] for rule, said in found["rules"].items()}
        del found["known"], found["scenarios"]
    return found


def walk() -> Told:
    """Through how many modules a record and a scenario pass, and which."""
    sys.path.append(str(ROOT / "benchmarks"))
    from record_walk import WALKS

    return {name: partial(_walk, way) for name, way in WALKS.items()}


def _walk(way: Callable[[], Mapping[str, float]]) -> Any:
    modules = sorted(way())
    return {"count": len(modules), "modules": modules}


def mutants() -> Told:
    """Which slips in operators the quick suite sees."""
    sys.path.append(str(ROOT / "tests/mutants"))
    from run import OPERATORS

    return {
        f"{name} seed {seed}": partial(_mutants, name, seed) for name in OPERATORS for seed in SEEDS
    }


def _mutants(target: str, seed: int) -> Any:
    from run import drawn, tried

    spots = drawn(target, int(os.environ[MUTANTS]), seed)
    return {spot.key: killed for spot, killed, _ in tried(target, spots, os.cpu_count() or 1)}


def _digest(value: object) -> str:
    return hashlib.sha256(msgspec.json.encode(value)).hexdigest()[:12]


PARTS: Mapping[str, Callable[[], Told]] = {
    "examples": examples,
    "witnesses": witnesses,
    "commands": commands,
    "walk": walk,
    "faults": faults,
    "verdicts": verdicts,
    "mutants": mutants,
}
"""The quick ones first; the last takes hours."""
