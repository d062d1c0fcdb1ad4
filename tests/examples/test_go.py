"""The operator in Go conforms to what it declares."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from asyncwait.conformance._verify import Coverage, verify
from asyncwait.conformance.running import exec_name
from asyncwait.spec.rules import rules

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "go"
CLAIM = (
    "core, ordered, unordered, key-ordered, timeouts, retry, failure-handler, max-held, "
    "statistics, event-time"
)

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(name="program", scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The program, built here; without Go the tests fail."""
    found = shutil.which("go")
    assert found, "there is no go on PATH; .ci/go ENVIRONMENT brings one"
    folder = tmp_path_factory.mktemp("go")
    command = [found, "build", "-o", str(folder / "operator"), "."]
    cached = {**os.environ, "GOCACHE": str(folder / "cache"), "GOFLAGS": "-buildvcs=false"}
    subprocess.run(command, cwd=FOLDER, env=cached, check=True)
    return str(folder / "operator")


def test_an_operator_in_go_conforms_in_what_it_declares(program: str) -> None:
    name = exec_name(program)

    verdict = verify(name, Coverage(300))

    passed, apart = verdict.count("pass"), verdict.count("not-applicable")
    expected = f"{passed} rules pass, {apart} not-applicable, self-reported"
    assert verdict.line == f"{name}: conformant: {CLAIM} ({expected})"
    assert passed + apart == len(rules())
    assert passed >= 115


def replies(program: str, *requests: str) -> list[dict[str, object]]:
    asked = "".join(f"{request}\n" for request in requests)
    said = subprocess.run([program], input=asked, stdout=subprocess.PIPE, check=True, text=True)
    return [json.loads(line) for line in said.stdout.splitlines()[1:]]


@pytest.mark.parametrize("value", ["1.0", "-0.0", "9223372036854775807", '"<\\u2028"', "1e+16"])
def test_its_harness_keeps_values_as_they_are_written(program: str, value: str) -> None:
    inputs = f'[{{"at":0,"element":{{"type":"record","value":{value}}}}}]'

    (reply,) = replies(program, f'{{"scenario":{{"inputs":{inputs}}},"number":7}}')

    (leg,) = reply["trace"]["legs"]  # type: ignore[index]
    (took,) = [event for event in leg["events"] if event["type"] == "took"]
    assert reply["number"] == 7
    assert repr(took["element"]["value"]) == repr(json.loads(value))


def test_it_needs_nothing_but_the_standard_library() -> None:
    assert "require" not in (FOLDER / "go.mod").read_text("utf-8")
