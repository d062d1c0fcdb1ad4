"""The JSON Schema says what the code reads: an independent validator agrees with it."""

import copy
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib.resources import files
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator
from sample import some
from whole_run import VARIED, WHOLE, fields_set

from asyncwait.conformance.areas import EXAMPLES
from asyncwait.conformance.generation import generate
from asyncwait.conformance.harness import play
from asyncwait.reference import open_operator
from asyncwait.spec import InvalidConfig, OperatorError
from asyncwait.spec.scenario import LIMITS, Reply, Request, scenarios_from_json, trace_from_json
from asyncwait.spec.scenario._plan import PLANNED_ERRORS
from asyncwait.spec.scenario._schema import schema_text

SCHEMA = json.loads(schema_text())
COMMAND = "python -m asyncwait.spec.scenario > spec/asyncwait/spec/scenario/schema.json"


def validator(part: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/$defs/{part}", "$defs": SCHEMA["$defs"]})


def as_json(item: object) -> Any:
    return json.loads(msgspec.json.encode(item))


def test_the_file_is_what_the_command_prints() -> None:
    found = files("asyncwait.spec.scenario").joinpath("schema.json").read_text(encoding="utf-8")

    printed = subprocess.check_output([sys.executable, "-m", "asyncwait.spec.scenario"], text=True)

    assert found == printed, f"the schema is not up to date; run: {COMMAND}"


def test_what_these_tests_change_uses_every_field() -> None:
    known = {
        f"{part}.{name}"
        for part, about in SCHEMA["$defs"].items()
        for name in about.get("properties", {})
        if name != "type" and part not in {"Declaration", "Request", "Reply"}
    }

    assert known - set(fields_set((VARIED, WHOLE))) == set()


def test_the_page_tells_of_every_kind_of_event_ending_and_error() -> None:
    page = files("asyncwait.spec.scenario").joinpath("json-lines.md").read_text(encoding="utf-8")
    events = SCHEMA["$defs"]["Leg"]["properties"]["events"]["items"]["discriminator"]["mapping"]
    endings = SCHEMA["$defs"]["Ending"]["properties"]["how"]["enum"]
    errors = [name for name in PLANNED_ERRORS["raise"] if name]
    operators = [kind.__name__ for kind in OperatorError.__subclasses__()]

    names = [*events, *endings, *errors, *operators]
    assert [name for name in names if f"`{name}`" not in page] == []


def test_the_page_tells_the_limits() -> None:
    page = files("asyncwait.spec.scenario").joinpath("json-lines.md").read_text(encoding="utf-8")
    limits = [f"| {limit:,} |" for limit in msgspec.structs.astuple(LIMITS)]

    assert [limit for limit in limits if limit not in page] == []


def test_every_field_has_a_sentence_and_a_default_unless_it_is_required() -> None:
    wanting = [
        f"{part}.{name}"
        for part, about in SCHEMA["$defs"].items()
        for name, field in about.get("properties", {}).items()
        if not field.get("description") or ("default" in field) == (name in about["required"])
    ]

    assert wanting == []
    assert all(about["description"] for about in SCHEMA["$defs"].values())
    assert SCHEMA["$defs"]["Step"]["properties"]["clean_up"] == {
        "description": "how long a cancelled call still runs, in ms.",
        "minimum": 0,
        "maximum": LIMITS.duration,
        "type": "integer",
        "default": 0,
    }


def test_every_example_and_generated_scenario_is_a_request() -> None:
    line = Draft202012Validator(SCHEMA)
    scenarios = [example.scenario for example in EXAMPLES] + list(generate(200, seed=0))
    sent = {scenario.name: as_json(Request(scenario)) for scenario in scenarios}

    assert [name for name, request in sent.items() if not line.is_valid(request)] == []


@pytest.mark.sampled
@pytest.mark.timeout(300)
def test_every_real_trace_is_a_reply() -> None:
    line = Draft202012Validator(SCHEMA)
    replies = {
        example.name: as_json(Reply(play(open_operator, example.scenario)))
        for example in some(EXAMPLES, 5, "replies")
    }

    assert [name for name, reply in replies.items() if not line.is_valid(reply)] == []


def refusal(read: Callable[[bytes], object], document: Any) -> str:
    try:
        read(json.dumps(document).encode())
    except InvalidConfig as error:
        return str(error)
    return ""


def spots(node: Any) -> Iterator[tuple[Any, Any]]:
    for key in list(node) if isinstance(node, dict) else range(len(node)):
        yield node, key
        if isinstance(node[key], dict | list):
            yield from spots(node[key])


OTHERS = (None, True, -1, 7, 1.5, "other", [], {})
"""What is put in the place of something else."""

BEYOND_SCHEMAS = (
    "in the order of their times",
    "where a call raises at once",
    "where a CancelledError is raised",
    "all waits and deadlines together",
    "at most the capacity",
    "or a `retry`",
    "where calls are batched",
    "where results are cached",
    "as many as there are values",
    "None with a `batch`",
    "must be False but for a budget",
    "burst must be None but for a window",
)
"""What the code says where fields, each right by itself, don't go together."""


def mutants(document: Any, others: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    document = copy.deepcopy(document)
    for node, key in some(list(spots(document)), 5, f"spots of {type(document).__name__}"):
        kept = node[key]
        for other in others:
            node[key] = other
            yield f"{other!r} in place of {kept!r} at {key!r}", document
        node[key] = kept
        if isinstance(node, list):
            continue
        # Where an element can be of one kind only, the code does without its type.
        if key != "type" or kept not in {"record", "snapshot"}:
            del node[key]
            yield f"no {key!r}", document
        node[key] = kept
        node["further"] = kept
        yield f"a further field beside {key!r}", document
        del node["further"]


@pytest.mark.sampled
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("part", "documents", "others", "read"),
    [
        (
            "Scenarios",
            [[each] for each in VARIED],
            (*OTHERS, LIMITS.count + 1, LIMITS.duration + 1, 2**63, -(2**63) - 1),
            scenarios_from_json,
        ),
        # What an operator puts out is read with numbers of any size, so that it can be judged.
        ("Trace", [WHOLE], OTHERS, trace_from_json),
    ],
)
def test_code_and_schema_refuse_the_same(
    part: str, documents: list[Any], others: tuple[Any, ...], read: Callable[[bytes], object]
) -> None:
    judge = validator(part)
    sound = [as_json(each) for each in documents]
    changed = (each for document in sound for each in mutants(document, others))
    told = [(what, judge.is_valid(it), refusal(read, it)) for what, it in changed]
    split = [
        (what, why)
        for what, valid, why in told
        if valid == bool(why) and not any(said in why for said in BEYOND_SCHEMAS)
    ]

    assert all(map(judge.is_valid, sound))
    assert split == []
    assert sum(not valid for _, valid, _ in told) > len(told) // 2
