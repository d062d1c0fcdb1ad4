"""Subcommands for vectors: `vectors write`, `vectors run`.

An outcome of a scenario is unique on two conditions. The plan alone determines the outcome of each
record: no clock, no race and no order of calls has a part in it. And the consumer reads to the end,
so that all results come out, or the only possible error. Then only the order inside a segment is
open. Where the simple tests below can't tell, a scenario counts as having several outcomes.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import click
from msgspec import Struct
from msgspec.structs import replace

from asyncwait.conformance._commands._group import (
    REFERENCE,
    asyncwait,
    jobs_option,
    patience_option,
    usage_errors,
)
from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.evidence import Example
from asyncwait.conformance.expected_failures import sort_out
from asyncwait.conformance.judging import judge
from asyncwait.conformance.report import file_bytes, say
from asyncwait.conformance.running import Broken, Served, exec_name, open_backend
from asyncwait.conformance.verdict import EXIT_CODES, Word, worst
from asyncwait.spec import AsyncWaitError, InvalidConfig, Record
from asyncwait.spec.rules import areas, rules, rules_for, spec_version
from asyncwait.spec.scenario import (
    FOR_THE_PROGRAM,
    Capability,
    Plan,
    Scenario,
    Step,
    Trace,
    identity,
    needs,
)
from asyncwait.spec.texts import counted, name_of
from asyncwait.spec.vectors import (
    FORMAT,
    Vector,
    VectorFile,
    outcome_of,
    shipped_vectors,
    vectors_from_json,
    vectors_to_json,
)

SHOWN = 20
"""Vectors printed that fail or are in error."""


Kind: TypeAlias = Literal["pass", "fail", "error", "not applicable"]


class Found(Struct, frozen=True):
    """The result of a vector on a backend.

    Args:
        kind: whether it "pass"es or "fail"s; "error" if the run is broken.
    """

    vector: Vector
    kind: Kind
    why: tuple[str, ...] = ()


@asyncwait.group("vectors")
def vectors_group() -> None:
    """Scenarios in files, with the rules they prove and their outcomes."""


@vectors_group.command("write")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def write_command(folder: Path) -> None:
    """Write the vectors of all rules into FOLDER, as they come with the package.

    An outcome is what the reference operator comes to, where all that keep the rules do.
    """
    with usage_errors(), open_backend(REFERENCE) as reference:
        files = made_vectors(reference)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, file in files.items():
            folder.joinpath(name).write_bytes(vectors_to_json(file))
    except OSError as error:
        raise click.UsageError(f"{folder}: {error.strerror}") from error
    written = sum(len(file.vectors) for file in files.values())
    say(f"{counted(written, 'vector')} in {folder}")


@vectors_group.command("run")
@click.argument("backend", required=False)
@click.argument("files", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--exec", "program", metavar="COMMAND", help="Run a program that speaks JSON lines.")
@patience_option
@jobs_option
def run_command(
    backend: str | None,
    files: tuple[Path, ...],
    program: str | None,
    patience: float,
    jobs: int | None,
) -> None:
    """Hold BACKEND to vectors: to their outcomes, and to all rules.

    FILES are files of vectors, or folders of them; without any, those that come with the package.
    With --exec there is no BACKEND.

    Exit code: 0 all pass, 1 one fails, 2 wrong usage, 3 inconclusive.
    """
    if program is not None:
        files = files if backend is None else (Path(backend), *files)
        backend = exec_name(program)
    if backend is None:
        raise click.UsageError("name a backend, or give --exec; see: asyncwait backends")
    with usage_errors():
        vectors = list(_read(files))
        folder = str(Path.cwd())
        with open_backend(backend, patience=patience, jobs=jobs, folder=folder) as opened:
            found = list(run_vectors(opened, vectors))
    sys.exit(EXIT_CODES[_told(backend, found)])


def _read(files: tuple[Path, ...]) -> Iterator[Vector]:
    if not files:
        for shipped in shipped_vectors().values():
            yield from shipped.vectors
    for file in files:
        inside = sorted(file.glob("*.json")) if file.is_dir() else [file]
        if not inside:
            raise InvalidConfig(f"{file}: there is no file with vectors in it")
        for each in inside:
            try:
                yield from vectors_from_json(file_bytes(each)).vectors
            except InvalidConfig as error:
                raise InvalidConfig(f"{each}: {error}") from error
            except OSError as error:
                raise InvalidConfig(f"{each}: {error.strerror}") from error


def _told(name: str, found: list[Found]) -> Word:
    """Print the problems, then the totals; return the verdict."""
    wrong = [each for each in found if each.kind in {"fail", "error"}]
    for each in wrong[:SHOWN]:
        for why in each.why:
            say(f"{name_of(name)}: {each.vector.name}: {each.kind}: {why}")
    if len(wrong) > SHOWN:
        say(f"and {len(wrong) - SHOWN} more")
    kinds = Counter(each.kind for each in found)
    counts = ", ".join(f"{kinds[kind]} {kind}" for kind in get_args(Kind) if kinds[kind])
    say(f"{name_of(name)}: {counted(len(found), 'vector')}: {counts}")
    words: list[Word] = ["not conformant"] * bool(kinds["fail"])
    if kinds["error"] or not kinds["pass"]:
        words.append("inconclusive")
    return worst(words)


_READS = {"read", "pause", "block"}


def has_one_outcome(scenario: Scenario) -> bool:
    """Return whether `scenario` surely has one outcome, except for the order inside a segment."""
    odd = (
        # It is not read to its end,
        any(step.does not in _READS for step in scenario.sink),
        scenario.cancel_at is not None or scenario.crashes,
        # or an event outside the records ends the run.
        scenario.source_error not in {"", "own", "falsy"},
        scenario.hook_error or scenario.close_error,
        scenario.timeout is not None and scenario.blocks,
    )
    return (
        not any(odd)
        and all(_is_settled(scenario, plan) for plan in scenario.plans)
        and _is_called_in_order(scenario)
        and _failures(scenario) <= 1
    )


def _is_settled(scenario: Scenario, plan: Plan) -> bool:
    """Whether each call of a value ends as its step says, whenever it begins."""
    retry = scenario.retry
    if retry is not None and (scenario.timeout is not None or retry.attempt_timeout is not None):
        return False
    errors = {plan.handler.error, plan.failure.error, *(step.error for step in plan.steps)}
    if errors & FOR_THE_PROGRAM:
        return False
    for step in plan.steps:
        is_twice = step.twice and scenario.form == "callback" and retry is not None
        if step.throws or is_twice or (scenario.timeout is None and step.does == "never"):
            return False
        # In the instant of its deadline either may win; a call that runs on may be one too many.
        ties = step.after == scenario.timeout or step.swallow or step.clean_up
        if scenario.timeout is not None and ties:
            return False
    return True


def _values(scenario: Scenario) -> Counter[str]:
    records = (each for each in scenario.elements if isinstance(each, Record))
    return Counter(identity(record.value) for record in records)


def _is_called_in_order(scenario: Scenario) -> bool:
    """Whether the step of each record is known: equal values share a plan."""
    if scenario.retry is None and scenario.mode != "key-ordered":
        return True  # First calls start in input order.
    plans = scenario.plan_of
    return not any(
        count > 1 and value in plans and len(plans[value].steps) > 1
        for value, count in _values(scenario).items()
    )


def _failures(scenario: Scenario) -> int:
    """Return the most records that may fail; of two, the plan does not say which fails first."""
    plans = scenario.plan_of
    count = sum(
        records
        for value, records in _values(scenario).items()
        if value in plans and any(_may_fail(scenario, plans[value], s) for s in plans[value].steps)
    )
    return count + bool(scenario.source_error and count)


def _may_fail(scenario: Scenario, plan: Plan, step: Step) -> bool:
    is_late = scenario.timeout is not None and (
        step.does == "never" or step.after > scenario.timeout
    )
    is_told = is_late and scenario.handled and plan.handler.does == "reply"
    if is_told or (scenario.failures_handled and plan.failure.does == "reply"):
        return False
    breaks = scenario.retry is not None and scenario.retry.on_result == "breaks"
    return breaks or is_late or step.does in {"raise", "misreturn"}


def made_vectors(reference: Served) -> Mapping[str, VectorFile]:
    """Return the vectors of all examples, by the name of their file.

    Raises:
        AsyncWaitError: the reference gives no trace of an example.
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
    scenario, asked = example.scenario, needs(example.scenario)
    outcome = outcome_of(scenario, run) if has_one_outcome(scenario) else None
    if outcome and outcome.how != "finished" and outcome.error != "PlannedSourceError":
        outcome = replace(outcome, output=None)
    return Vector(
        example.name,
        example.sentence,
        example.rules,
        tuple(each.value for each in Capability if each in asked),
        scenario,
        outcome,
    )


def run_vectors(backend: Served, vectors: Iterable[Vector]) -> Iterator[Found]:
    """Play vectors; yield the result of each, inapplicable vectors first."""
    fitting = []
    for vector in vectors:
        if lacking := [name for name in vector.needs if name not in backend.capabilities]:
            yield Found(vector, "not applicable", tuple(lacking))
        else:
            fitting.append(vector)
    runs = backend.play([vector.scenario for vector in fitting])
    for vector, run in zip(fitting, runs, strict=True):
        yield _found(backend, vector, run)


def _found(backend: Served, vector: Vector, run: Trace | Broken) -> Found:
    if isinstance(run, Broken):
        return Found(vector, "error", (run.text,))
    applicable = rules_for(backend.capabilities)
    judged = judge(vector.scenario, run, {name: CHECKS[name] for name in applicable})
    if judged.error:
        return Found(vector, "error", (judged.error,))
    broken = {
        name: violation
        for name, violation in judged.violations()
        if applicable[name].level == "MUST"
    }
    said = sort_out(broken, backend.expected_failures, (vector.name,))
    why = [f"{name}: {broken[name].text}" for name in broken if name in said.findings]
    if vector.outcome is not None and not said.known:
        differs = vector.outcome.differs(vector.scenario, run)
        why += [f"outcome: {differs}"] * bool(differs)
    return Found(vector, "fail" if why else "pass", tuple(why))
