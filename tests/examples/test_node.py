"""The operator in JavaScript conforms to what it declares, and its broken twin doesn't."""

import json
import shlex
import subprocess
from typing import Any

import pytest
from node import node

from asyncwait.conformance._verify import Coverage, verify
from asyncwait.conformance.running import exec_name
from asyncwait.spec.rules import rules

MANY, FEW = Coverage(300), Coverage(1, shrinks=False)
CLAIM = "core, ordered, unordered, timeouts, retry, batches, event-time"

pytestmark = pytest.mark.timeout(300)


def test_an_operator_in_javascript_conforms_in_what_it_declares() -> None:
    name = exec_name(node("main.js"))

    verdict = verify(name, MANY)

    passed, apart = verdict.count("pass"), verdict.count("not-applicable")
    expected = f"{passed} rules pass, {apart} not-applicable, self-reported"
    assert verdict.line == f"{name}: conformant: {CLAIM} ({expected})"
    assert passed + apart == len(rules())
    assert passed >= 95


def test_its_broken_twin_is_convicted() -> None:
    verdict = verify(exec_name(node("broken.js")), FEW)

    assert verdict.claim == f"not conformant: {CLAIM}"
    assert [result.rule.id for result in verdict.failed] == ["WM-2", "WM-5"]


def replies(*requests: str) -> list[dict[str, Any]]:
    said = subprocess.run(
        shlex.split(node("main.js")),
        input="".join(f"{request}\n" for request in requests).encode(),
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    return [json.loads(line) for line in said.splitlines()[1:]]


@pytest.mark.parametrize("value", ["1.0", "-0.0", "9223372036854775807", '"1.0\\u2028"', "1e+16"])
def test_its_harness_keeps_numbers_as_they_are_written(value: str) -> None:
    inputs = f'[{{"at":0,"element":{{"type":"record","value":{value}}}}}]'

    (reply,) = replies(f'{{"scenario":{{"inputs":{inputs}}},"number":7}}')

    (call,) = [e for e in reply["trace"]["legs"][0]["events"] if e["type"] == "call"]
    (took,) = [e for e in reply["trace"]["legs"][0]["events"] if e["type"] == "took"]
    expected = json.loads(value)
    assert reply["number"] == 7
    assert (repr(call["value"]), repr(took["element"]["value"])) == (repr(expected),) * 2
