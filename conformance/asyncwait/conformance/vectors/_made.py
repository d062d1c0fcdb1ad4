"""Vectors of the examples, with the outcomes that the reference operator shows."""

from collections import defaultdict
from collections.abc import Mapping

from msgspec.structs import replace

from asyncwait.conformance.areas import EXAMPLES
from asyncwait.conformance.evidence import Example
from asyncwait.conformance.running import Broken, Served
from asyncwait.conformance.vectors._unique import has_one_outcome
from asyncwait.spec import AsyncWaitError
from asyncwait.spec.rules import areas, rules, spec_version
from asyncwait.spec.scenario import Capability, Trace, needs
from asyncwait.spec.vectors import FORMAT, Outcome, Vector, VectorFile, outcome_of


def made_vectors(reference: Served) -> Mapping[str, VectorFile]:
    """Return the vectors of all examples, by the name of their file.

    Raises:
        AsyncWaitError: it gives no trace of an example.
    """
    found: dict[str, list[Vector]] = defaultdict(list)
    known = rules()
    played = reference.play([example.scenario for example in EXAMPLES])
    for example, run in zip(EXAMPLES, played, strict=True):
        if isinstance(run, Broken):
            raise AsyncWaitError(f"{reference.name} plays no {example.name}: {run.text}")
        found[known[example.rules[0]].area].append(_vector(example, run))
    return {
        f"{areas()[area].folder}.json": VectorFile(FORMAT, spec_version(), area, tuple(vectors))
        for area, vectors in found.items()
    }


def _vector(example: Example, run: Trace) -> Vector:
    asked = needs(example.scenario)
    return Vector(
        example.name,
        example.sentence,
        example.rules,
        tuple(each.value for each in Capability if each in asked),
        example.scenario,
        _outcome(example, run),
    )


def _outcome(example: Example, run: Trace) -> Outcome | None:
    outcome = outcome_of(example.scenario, run) if has_one_outcome(example.scenario) else None
    if outcome is None:
        return None
    is_whole = outcome.how == "finished" or outcome.error == "PlannedSourceError"
    return outcome if is_whole else replace(outcome, output=None)
