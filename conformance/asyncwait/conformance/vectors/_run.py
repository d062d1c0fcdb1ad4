"""Holds a backend to vectors: to the outcome where there is one, and to all rules."""

from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

from msgspec import Struct

from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.expected_failures import sort_out
from asyncwait.conformance.judging import judge
from asyncwait.conformance.running import Broken, Served
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import ALL_CAPABILITIES, Capability, Trace
from asyncwait.spec.vectors import Vector

Kind: TypeAlias = Literal["pass", "fail", "error", "not applicable"]


class Found(Struct, frozen=True):
    """What a vector shows of a backend.

    Args:
        kind: whether it "pass"es or "fail"s; "error" where there is no run to look at.
    """

    vector: Vector
    kind: Kind
    why: tuple[str, ...] = ()


def run_vectors(backend: Served, vectors: Iterable[Vector]) -> Iterator[Found]:
    """Play vectors as they stand; yield what each shows, those that can't be played first."""
    fitting = []
    for vector in vectors:
        if lacking := [name for name in vector.needs if not _has(backend, name)]:
            yield Found(vector, "not applicable", tuple(lacking))
        else:
            fitting.append(vector)
    runs = backend.play([vector.scenario for vector in fitting])
    for vector, run in zip(fitting, runs, strict=True):
        yield _found(backend, vector, run)


def _has(backend: Served, name: str) -> bool:
    return name in ALL_CAPABILITIES and Capability(name) in backend.capabilities


def _found(backend: Served, vector: Vector, run: Trace | Broken) -> Found:
    if isinstance(run, Broken):
        return Found(vector, "error", (run.text,))
    applicable = {
        name: rule for name, rule in rules().items() if rule.applies_to(backend.capabilities)
    }
    judged = judge(vector.scenario, run, {name: CHECKS[name] for name in applicable})
    if judged.error:
        return Found(vector, "error", (judged.error,))
    broken = {
        name: violation
        for name, violation in judged.violations()
        if applicable[name].level == "MUST"
    }
    said = sort_out(vector.scenario, broken, backend.expected_failures)
    why = [f"{name}: {broken[name].text}" for name in broken if name in said.findings]
    if vector.outcome is not None and not said.known:
        differs = vector.outcome.differs(vector.scenario, run)
        why += [f"outcome: {differs}"] * bool(differs)
    return Found(vector, "fail" if why else "pass", tuple(why))
