"""The JSON Schema of scenarios, traces and JSON lines, made from the code.

`schema.json` beside this file holds the schema; `python -m asyncwait.spec.scenario` prints it.
"""

import inspect
import json
import re
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta

from asyncwait.spec.scenario._limits import LIMITS
from asyncwait.spec.scenario._plan import PLANNED_ERRORS
from asyncwait.spec.scenario._scenario import Scenario
from asyncwait.spec.scenario._wire import Declaration, Reply, Request

Schema: TypeAlias = dict[str, Any]

_Scenarios: TypeAlias = Annotated[
    tuple[Scenario, ...], Meta(description="Scenarios in a file, and what `asyncwait play` reads.")
]

_ABOUT = """A line between the suite and a program that plays scenarios: a declaration, a request or
a reply. The parts are in $defs: Scenarios for a file of them, Trace for what `asyncwait play
--judge` reads."""

_NULL = {"type": "null"}

_KIND = "Says which kind it is."

_FIELD = re.compile(r"^    (\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)
"""A field among the arguments of a docstring; its further lines are indented more."""


def schema_text() -> str:
    """Return the text of the schema's file."""
    return json.dumps(schema(), indent=2) + "\n"


def schema() -> Schema:
    """Return the JSON Schema, each field with its sentence and its default."""
    lines, parts = described_parts(Declaration, Request, Reply, _Scenarios)
    declaration, request, reply, scenarios = lines
    return schema_of(
        "asyncwait: JSON lines",
        _ABOUT,
        {"anyOf": [declaration, request, reply]},
        parts | {"Scenarios": scenarios},
    )


def schema_of(title: str, about: str, whole: Schema, parts: Schema) -> Schema:
    """Return a JSON Schema."""
    schema: Schema = _null_last(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": title,
            "description": _in_one_line(about),
            **whole,
            "$defs": parts,
        }
    )
    return schema


def described_parts(*kinds: Any) -> tuple[tuple[Schema, ...], Schema]:
    """Return the schemas of `kinds`, and all parts that they refer to, by name."""
    roots, parts = msgspec.json.schema_components(kinds)
    for name in ("Handler", "Step"):
        parts[name]["allOf"] = _errors(parts[name]["properties"]["does"])
    parts["SinkStep"]["allOf"] = [
        {
            "if": {"properties": {"does": {"const": "read"}}},
            "then": {"properties": {"n": {"maximum": LIMITS.count}}},
        }
    ]
    return roots, {name: _described(part) for name, part in sorted(parts.items())}


def _described(part: Schema) -> Schema:
    text = inspect.cleandoc(part["description"])
    about = re.split(r"^(?:Args|Raises):$", text, maxsplit=1, flags=re.MULTILINE)[0]
    sentences = {"type": _KIND} | dict(_FIELD.findall(text))
    fields = part["properties"]
    for name in sentences.keys() & fields.keys():
        fields[name] = {"description": _in_one_line(sentences[name])} | fields[name]
    return part | {"description": _in_one_line(about)}


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


def _errors(does: Schema) -> list[Schema]:
    """Return conditions on `error` for each value of `does`."""
    found: list[Schema] = []
    for kind in does["enum"]:
        errors = list(PLANNED_ERRORS.get(kind, ("",)))
        told: Schema = {"properties": {"does": {"const": kind}}}
        if kind != does["default"]:
            told["required"] = ["does"]
        then: Schema = {"properties": {"error": {"enum": errors}}}
        if "" not in errors:
            then["required"] = ["error"]
        found.append({"if": told, "then": then})
    return found


def _null_last(node: Any) -> Any:
    """Move null behind the other types of a field, because msgspec changes the order."""
    if isinstance(node, list):
        return [_null_last(part) for part in sorted(node, key=lambda part: part == _NULL)]
    if isinstance(node, dict):
        return {name: _null_last(part) for name, part in node.items()}
    return node
