"""What each command ends with, and what it writes for programs: codes, ids and numbers."""

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from asyncwait.backends.faulty import FAULTY
from asyncwait.backends.faulty.mailbox import gallery
from asyncwait.conformance.areas import EXAMPLES, all_witnesses
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import scenarios_to_json

Line: TypeAlias = tuple[str, ...]

LONGEST = 1_800
"""Seconds that a command may take."""

FOLDER = "written"
FAULT = next(each for each in FAULTY if each.name == "knows-one-mode")
SOUND, WRONG = "pool-asyncio", f"faulty-{FAULT.name}"
SHOWS_IT = next(example.name for example in EXAMPLES if FAULT.rule in example.rules)
AREA = FAULT.rule.partition("-")[0]
WITNESS = next(witness for witness in all_witnesses() if witness.rule == FAULT.rule)
MAILBOX, WRONG_MAILBOX = "asyncwait.reference:MailboxProcessor", next(iter(gallery()))

BROKEN = """
class Broken:
    capabilities, expected_failures, batch = frozenset(), {}, False

    def run(self, scenarios):
        raise RuntimeError
"""
KNOWN = f"""
[[expected-failure]]
rule = "{FAULT.rule}"
kind = "regression"
reason = "it is faulty"
link = "https://example.org/1"
"""

_VERIFY = ("verify", "--count=20", "--no-shrink")
_GREEN, _RED = ((*_VERIFY, name, "--report", FOLDER) for name in (SOUND, WRONG))
_ONE = ("--rule", FAULT.rule, "--report", FOLDER)
_LINES = f"{FOLDER}/report.jsonl"

COMMANDS: Mapping[str, tuple[Line, ...]] = {
    "backends": (("backends",),),
    "compare green": (("compare", SOUND, "reference-asyncio", "--count=5"),),
    "compare red": (("compare", WRONG, "reference-asyncio", "--count=5", "--no-shrink"),),
    "compare wrong usage": (("compare", SOUND, "nobody"),),
    "journal show wrong usage": (("journal", "show", "nowhere"),),
    "judge green": (("play", "legal.json", "--judge", "legal-trace.json"),),
    "judge red": (("play", "violating.json", "--judge", "violating-trace.json"),),
    "judge wrong usage": (("play", "legal-trace.json", "--judge", "legal.json"),),
    "play green": (("play", SOUND, SHOWS_IT),),
    "play red": (("play", WRONG, SHOWS_IT),),
    "play inconclusive": (("play", "broken:Broken", SHOWS_IT),),
    "play wrong usage": (("play", SOUND, "nothing"),),
    "play --json": (("play", SOUND, SHOWS_IT, "--json", f"{FOLDER}.json"),),
    "replay green": (("play", SOUND, SHOWS_IT, "--here"),),
    "replay red": (("play", WRONG, SHOWS_IT, "--here"),),
    "replay wrong usage": (("play", SOUND, "nothing", "--here"),),
    "report green": (_GREEN, ("report", _LINES)),
    "report red": (_RED, ("report", _LINES)),
    "report --out": (_RED, ("report", _LINES, "--out", "merged")),
    "report wrong usage": (("report", "nothing"),),
    "rules": (("rules",),),
    "rules of an area": (("rules", AREA),),
    "rules --backend": (("rules", "--backend", "reference-asyncio-without-retry"),),
    "rules wrong usage": (("rules", "NONE-1"),),
    "show": (("rules", FAULT.rule),),
    "show wrong usage": (("rules", "NONE-2"),),
    "shrink red": (("play", WRONG, SHOWS_IT, "--shrink", "--rule", FAULT.rule, "--seconds=5"),),
    "shrink wrong usage": (("play", SOUND, SHOWS_IT, "--shrink"),),
    "vectors write": (("vectors", "write", FOLDER),),
    "vectors run green": (("vectors", "run", SOUND),),
    "vectors run red": (("vectors", "run", WRONG),),
    "vectors run inconclusive": (("vectors", "run", "broken:Broken"),),
    "vectors run wrong usage": (("vectors", "run", "nobody"),),
    "verify green": (_GREEN,),
    "verify red": (_RED,),
    "verify two": ((*_VERIFY, SOUND, WRONG, "--report", FOLDER),),
    "verify --rule": ((*_VERIFY, WRONG, *_ONE),),
    "verify --area": ((*_VERIFY, SOUND, "--area", AREA, "--report", FOLDER),),
    "verify --fail-fast": ((*_VERIFY, WRONG, "--fail-fast", *_ONE),),
    "verify --expected-failures": ((*_VERIFY, WRONG, "--expected-failures=known.toml", *_ONE),),
    "verify --expected-failures stale": (
        (*_VERIFY, SOUND, "--expected-failures=known.toml", *_ONE),
    ),
    "verify inconclusive": ((*_VERIFY, "broken:Broken", "--report", FOLDER),),
    "verify wrong usage": (("verify",),),
    "verify an unknown backend": (("verify", "nobody"),),
    "verify an unknown rule": (("verify", SOUND, "--rule=NONE-1"),),
    "verify contradictions": (("verify", SOUND, "--full", "--count=3"),),
    "verify-mailbox green": (("verify", "--mailbox", MAILBOX, "--count=20"),),
    "verify-mailbox red": (("verify", "--mailbox", WRONG_MAILBOX, "--count=20"),),
    "verify-mailbox wrong usage": (("verify", "--mailbox", "nothing:here"),),
    "an unknown command": (("nothing",),),
}
"""Lines that are run one after the other; of the last one the exit code is noted."""


def commands() -> Mapping[str, Callable[[], Any]]:
    """Return what is noted of each command, and of the help of each."""
    ways: dict[str, Callable[[], Any]] = {}
    open_ends: list[Line] = [()]
    while open_ends:
        way = open_ends.pop()
        ways[" ".join(("help", *way))] = partial(_help, way)
        listed = _asyncwait(Path.cwd(), *way, "--help").stdout.partition("\nCommands:")[2]
        open_ends += [(*way, name) for name in re.findall(r"^  (\S+)", listed, re.MULTILINE)]
    return {**ways, **{name: partial(_noted, lines) for name, lines in COMMANDS.items()}}


def names_listed() -> list[str]:
    """Return the backends that `asyncwait backends` lists."""
    return _asyncwait(Path.cwd(), "backends").stdout.split()


def verified(name: str, *given: str) -> dict[str, Any]:
    """Return what `asyncwait verify` writes of a backend, and ends with.

    Args:
        name: of the backend.
        given: options.
    """
    with tempfile.TemporaryDirectory() as folder:
        line = ("verify", name, "--no-shrink", "--jobs=1", "--report", FOLDER, *given)
        code = _asyncwait(Path(folder), *line).returncode
        return {"exit": code, **_report(Path(folder) / _LINES)[name]}


def _asyncwait(folder: Path, *line: str) -> subprocess.CompletedProcess[str]:
    left_out = {"GITHUB_STEP_SUMMARY", "PYTHONSAFEPATH"}
    return subprocess.run(
        [sys.executable, "-m", "asyncwait", *line],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name not in left_out},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )


def _help(way: Line) -> Any:
    ran = _asyncwait(Path.cwd(), *way, "--help")
    options = re.findall(r"^ +(?:-\w, )?(--[\w-]+)", ran.stdout, re.MULTILINE)
    return {"exit": ran.returncode, "options": sorted(options)}


def _noted(lines: tuple[Line, ...]) -> Any:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _furnish(folder)
        there = set(folder.rglob("*"))
        for line in lines:
            ran = _asyncwait(folder, *line)
        noted: dict[str, Any] = {"exit": ran.returncode}
        if "Traceback" in ran.stderr:
            noted["traceback"] = True
        if lines[-1][0] in {"rules", "show"}:
            noted["rules"] = sorted({*re.findall(r"\b[A-Z]+-\d+\b", ran.stdout)} & {*rules()})
        if lines[-1][0] == "backends":
            noted["names"] = ran.stdout.split()
        for file in sorted({*folder.rglob("*")} - there):
            if file.is_file() and ".asyncwait" not in file.parts:
                noted[str(file.relative_to(folder))] = _written(file)
        return noted


def _furnish(folder: Path) -> None:
    """Put into the folder what the commands are given."""
    (folder / "broken.py").write_text(BROKEN, encoding="utf-8")
    (folder / "known.toml").write_text(KNOWN, encoding="utf-8")
    for name, run in {"legal": WITNESS.legal, "violating": WITNESS.violating}.items():
        (folder / f"{name}.json").write_bytes(scenarios_to_json((run.scenario,)))
        (folder / f"{name}-trace.json").write_bytes(msgspec.json.encode(run.trace))


def _written(file: Path) -> Any:
    """Return what there is for programs in a file that a command has written."""
    match file.name:
        case "report.jsonl":
            return _report(file)
        case "junit.xml":
            return _junit(file)
        case "badge.json":
            return json.loads(file.read_text(encoding="utf-8"))["color"]
        case name if name.endswith(".json"):
            return hashlib.sha256(file.read_bytes()).hexdigest()[:12]
        case _:
            return "written"


def _report(file: Path) -> dict[str, Any]:
    """Return what a report says of each backend: what it fails in the order of its verdict."""
    found: dict[str, Any] = {}
    lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    for line in lines:
        match line["type"]:
            case "backend":
                noted: dict[str, Any] = {"rules": {}, "named": []}
                found[line["name"]] = noted
                causes: list[tuple[int, str]] = []
            case "result":
                rule, status = line["rule"], line["status"]
                figures = [line[name] for name in ("applied", "broken") if line.get(name)]
                noted["rules"][rule] = " ".join(map(str, (status, *figures)))
                if status in {"fail", "unexpected-pass"}:
                    causes.append((line.get("cause") or sys.maxsize, rule))
            case "verdict":
                noted["named"] = [rule for _, rule in sorted(causes, key=lambda cause: cause[0])]
                noted |= {name: line[name] for name in ("word", "scenarios", "known")}
            case _:
                pass
    return found


def _junit(file: Path) -> dict[str, Any]:
    """Return what a file for JUnit says of each rule of each backend, if it does not pass."""
    suites = ET.parse(file).getroot().findall("testsuite")  # noqa: S314 - our own
    return {
        suite.get("name", ""): {
            **{name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")},
            "not passed": {
                case.get("name", "").split()[0]: next(iter(case)).tag
                for case in suite.iter("testcase")
                if len(case)
            },
        }
        for suite in suites
    }
