"""Checks are pure functions of what was observed: they reach for nothing that runs."""

import ast
from pathlib import Path

import pytest

from asyncwait.conformance import areas, judging

AREAS, JUDGING = (Path(package.__path__[0]) for package in (areas, judging))
# Checks, and what an area's own private modules say for them.
CHECKS = sorted(file for name in ("checks.py", "_*.py") for file in AREAS.glob(f"*/{name}"))
FILES = [file for file in CHECKS if file.name != "__init__.py"] + sorted(JUDGING.rglob("*.py"))

# What a check may import: data, judging itself, and what the standard library has for data.
ALLOWED = {
    "asyncwait.conformance._words",  # words for numbers
    "asyncwait.conformance.judging",
    "asyncwait.spec",
    "bisect",
    "collections",
    "dataclasses",
    "functools",
    "heapq",
    "itertools",
    "math",
    "msgspec",
    "operator",
    "re",
    "typing",
}


def imported(file: Path) -> set[str]:
    """Every module that a file imports from, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names.add(str(node.module))
    return names


def is_allowed(name: str, area: str = "") -> bool:
    """Whether a check of an area may import it: what is allowed, or a private module beside it."""
    beside = f"{areas.__name__}.{area}._"
    return name.startswith(beside) or any(
        name == each or name.startswith(f"{each}.") for each in ALLOWED
    )


def test_there_are_files_to_judge() -> None:
    """The test below is none if it finds nothing."""
    assert {"order", "end"} <= {file.parent.name for file in FILES}
    assert "_repetitions.py" in {file.name for file in FILES}
    assert {"_check.py", "_judge.py"} <= {file.name for file in FILES}


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_no_check_imports_a_backend_pytest_or_a_clock(file: Path) -> None:
    """Nothing but data: the same trace is judged the same way everywhere and at any time."""
    area = file.parent.name
    assert [name for name in sorted(imported(file)) if not is_allowed(name, area)] == []


@pytest.mark.parametrize(
    "name",
    [
        "asyncio",
        "anyio",
        "time",
        "pytest",
        "asyncwait.backends.pool",
        "asyncwait.reference",
        "asyncwait.conformance.harness",
        "asyncwait.specimen",
        "asyncwait.conformance.areas.end.examples",
        "asyncwait.conformance.areas.order._other",
    ],
)
def test_what_runs_is_refused(name: str) -> None:
    """The test above would notice."""
    assert not is_allowed(name, "end")
