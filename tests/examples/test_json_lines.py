"""The operator in the standard library alone conforms to what the page on JSON lines declares."""

import ast
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from shutil import copytree

import pytest

from asyncwait.conformance._verify import Coverage, verify
from asyncwait.conformance.running import exec_name
from asyncwait.spec.rules import rules

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "json_lines"
PAGE = ROOT / "spec" / "asyncwait" / "spec" / "scenario" / "json-lines.md"
COMMAND = shlex.join([sys.executable, str(FOLDER / "main.py")])

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(autouse=True)
def as_its_reader_runs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)


def said(*requests: str) -> list[dict[str, object]]:
    asked = "".join(f"{request}\n" for request in requests)
    done = subprocess.run(
        shlex.split(COMMAND), input=asked, stdout=subprocess.PIPE, check=True, text=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_it_conforms_in_what_it_declares() -> None:
    name = exec_name(COMMAND)

    verdict = verify(name, Coverage(100))

    passed, apart = verdict.count("pass"), verdict.count("not-applicable")
    expected = f"{passed} rules pass, {apart} not-applicable, self-reported"
    assert verdict.line == f"{name}: conformant: core, ordered ({expected})"
    assert passed + apart == len(rules())
    assert passed >= 40


def test_the_verdict_names_one_loop_that_the_program_does_not_have(
    tmp_path: Path,
) -> None:
    folder = copytree(FOLDER, tmp_path / "program")
    main = (folder / "main.py").read_text("utf-8")
    (folder / "main.py").write_text(main.replace(', "lacks": ["one-loop"]', ""), "utf-8")

    verdict = verify(exec_name(shlex.join([sys.executable, str(folder / "main.py")])), Coverage(5))

    assert {"END-19", "FAIL-11"} <= {each.rule.id for each in verdict.failed}
    assert verdict.line.endswith("; it seems to lack one-loop: name it in `lacks`")


def test_it_declares_what_the_page_shows() -> None:
    (shown,) = re.findall(r'^\| `(\{"protocol": .*?\})` \|', PAGE.read_text("utf-8"), re.MULTILINE)

    assert said() == [json.loads(shown)]


def test_it_answers_what_the_page_shows() -> None:
    request, reply = re.findall(r"^```json\n(.*)\n```$", PAGE.read_text("utf-8"), re.MULTILINE)[:2]
    (expected,) = json.loads(reply)["trace"]["legs"]

    _, answered = said(request)

    (leg,) = answered["trace"]["legs"]  # type: ignore[index]
    assert "number" not in answered
    assert leg["ending"] == expected["ending"]
    assert sorted(e["type"] for e in leg["events"]) == sorted(e["type"] for e in expected["events"])


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.py")), ids=lambda file: file.name)
def test_it_imports_the_standard_library_alone(file: Path) -> None:
    nodes = [*ast.walk(ast.parse(file.read_text("utf-8")))]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    own = {each.stem for each in FOLDER.glob("*.py")}

    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names | own
