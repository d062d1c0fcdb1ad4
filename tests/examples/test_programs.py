"""The operators in Go and in JavaScript conform to what they declare."""

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from node import node

from asyncwait.conformance.running import exec_name
from asyncwait.conformance.verifying import Coverage, verify
from asyncwait.spec.rules import rules

ROOT = Path(__file__).resolve().parents[2]
GO = ROOT / "examples" / "go"
PAGE = ROOT / "spec" / "asyncwait" / "spec" / "scenario" / "json-lines.md"
GO_CLAIM = (
    "core, ordered, unordered, key-ordered, timeouts, retry, failure-handler, max-held, "
    "statistics, event-time"
)
JAVASCRIPT = "core, ordered, unordered, timeouts, retry, batches, event-time"
CLAIMS: dict[str, tuple[str, int, int]] = {
    "go": (GO_CLAIM, 300, 105),
    "javascript": (JAVASCRIPT, 300, 89),
}
"""The profiles of each program, the scenarios that are drawn, and the rules that pass at least."""

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(autouse=True)
def as_its_reader_runs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Return the command of a program; without Go on PATH the tests of that fail."""
    built = tmp_path_factory.mktemp("go")

    def command(language: str) -> str:
        if language == "javascript":
            return node("main.js")
        if not (built / "operator").exists():
            found = shutil.which("go")
            assert found, "there is no go on PATH; .ci/go ENVIRONMENT brings one"
            cached = {**os.environ, "GOCACHE": str(built / "cache"), "GOFLAGS": "-buildvcs=false"}
            build = [found, "build", "-o", str(built / "operator"), "."]
            subprocess.run(build, cwd=GO, env=cached, check=True)
        return str(built / "operator")

    return command


def replies(command: str, *requests: str) -> list[dict[str, Any]]:
    """Return the lines of a program: its declaration, and a reply to each request."""
    asked = "".join(f"{request}\n" for request in requests).encode()
    said = subprocess.run(shlex.split(command), input=asked, stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in said.stdout.splitlines()]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("language", CLAIMS)
def test_a_program_conforms_in_what_it_declares(
    program: Callable[[str], str], language: str
) -> None:
    claim, count, least = CLAIMS[language]
    name = exec_name(program(language))

    verdict = verify(name, Coverage(count))

    passed, apart = verdict.count("pass"), verdict.count("not-applicable")
    expected = f"{passed} rules pass, {apart} not-applicable, self-reported"
    assert verdict.line == f"{name}: conformant: {claim} ({expected})"
    assert passed + apart == len(rules())
    assert passed >= least


@pytest.mark.parametrize("language", ["go", "javascript"])
@pytest.mark.parametrize("value", ["1.0", "-0.0", "9223372036854775807", '"<\\u2028"', "1e+16"])
def test_a_harness_keeps_values_as_they_are_written(
    program: Callable[[str], str], language: str, value: str
) -> None:
    inputs = f'[{{"at":0,"element":{{"type":"record","value":{value}}}}}]'

    _, reply = replies(program(language), f'{{"scenario":{{"inputs":{inputs}}},"number":7}}')

    (leg,) = reply["trace"]["legs"]
    (took,) = [event for event in leg["events"] if event["type"] == "took"]
    assert reply["number"] == 7
    assert repr(took["element"]["value"]) == repr(json.loads(value))


def test_a_broken_program_is_convicted() -> None:
    verdict = verify(exec_name(node("broken.js")), Coverage(1, shrinks=False))

    assert verdict.claim == f"not conformant: {JAVASCRIPT}"
    assert [result.rule.id for result in verdict.failed] == ["WM-2", "WM-5"]


def test_a_program_answers_what_the_page_shows(program: Callable[[str], str]) -> None:
    page = PAGE.read_text("utf-8")
    (shown,) = re.findall(r'^\| `(\{"protocol": .*?\})` \|', page, re.MULTILINE)
    request, reply = re.findall(r"^```json\n(.*)\n```$", page, re.MULTILINE)[:2]
    (expected,) = json.loads(reply)["trace"]["legs"]

    declared, answered = replies(program("javascript"), request)

    (leg,) = answered["trace"]["legs"]
    assert declared.keys() == json.loads(shown).keys()
    assert "number" not in answered
    assert leg["ending"] == expected["ending"]
    assert sorted(e["type"] for e in leg["events"]) == sorted(e["type"] for e in expected["events"])


def test_programs_need_their_standard_libraries_alone() -> None:
    assert "require" not in (GO / "go.mod").read_text("utf-8")
