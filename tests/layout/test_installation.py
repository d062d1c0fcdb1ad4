"""The traps of the layout: one package in five portions, whole in the wheel."""

import ast
import importlib
import json
import re
from importlib.metadata import Distribution, EntryPoint, distribution, version
from pathlib import Path
from typing import Any

import pytest
from package_modules import Module
from packaging.requirements import Requirement

PARTS = ("backends", "conformance", "reference", "spec", "toolkit")


@pytest.fixture(scope="session")
def installed() -> Distribution:
    return distribution("asyncwait")


@pytest.fixture(scope="session")
def is_editable(installed: Distribution) -> bool:
    origin = json.loads(installed.read_text("direct_url.json") or "{}")
    return bool(origin.get("dir_info", {}).get("editable"))


@pytest.mark.parametrize("part", PARTS)
def test_every_portion_holds_its_own_part_and_nothing_else(checkout: Path, part: str) -> None:
    found = {path.name for path in (checkout / part / "asyncwait").iterdir()}

    command = {"__main__.py"} if part == "conformance" else set()
    assert found - {"__pycache__"} == {part} | command


@pytest.mark.parametrize("part", PARTS)
def test_every_part_says_that_it_is_typed(portions: list[Path], part: str) -> None:
    assert any((portion / part / "py.typed").is_file() for portion in portions)


def test_the_package_is_whole_as_installed(
    checkout: Path, installed: Distribution, portions: list[Path], *, is_editable: bool
) -> None:
    if is_editable:
        # Another checkout may be installed as well, behind the one on the path.
        assert set(portions[: len(PARTS)]) == {checkout / part / "asyncwait" for part in PARTS}
        return
    sources = {
        path.relative_to(root).as_posix()
        for root in [*(checkout / part / "asyncwait" for part in PARTS), checkout / "spec/_root"]
        for path in root.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    shipped = {
        path.relative_to("asyncwait").as_posix()
        for path in installed.files or []
        if path.parts[0] == "asyncwait" and path.suffix != ".pyc"
    }

    assert shipped == sources
    assert {"__init__.py", "py.typed"} < shipped


def test_the_long_description_links_to_nothing_in_the_checkout(installed: Distribution) -> None:
    shown = str(installed.metadata.get_payload() or installed.metadata["Description"])

    links = re.findall(r"\]\(([^)]*)\)", shown)
    assert shown.startswith("# asyncwait\n")
    assert "enrich a stream" in shown
    assert [link for link in links if "://" not in link] == []


def test_the_root_holds_no_names() -> None:
    root = importlib.import_module("asyncwait")

    # pytest, which rewrites our asserts, leaves names such as `@pytest_ar` behind.
    names = {name for name in vars(root) if name.isidentifier() and not name.startswith("__")}

    assert names <= set(PARTS)


def test_the_version_stands_in_the_project_file_only(
    project: dict[str, Any], modules: dict[str, Module]
) -> None:
    copies = [
        module.name
        for module in modules.values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Name) and node.id in {"__version__", "VERSION"}
    ]

    assert version("asyncwait") == project["project"]["version"]
    assert copies == []


def test_every_entry_point_leads_to_a_name_that_is_shipped(
    installed: Distribution, modules: dict[str, Module]
) -> None:
    wrong = [point for point in installed.entry_points if not _leads(point, modules)]

    assert wrong == []


def _leads(point: EntryPoint, modules: dict[str, Module]) -> bool:
    module = modules.get(point.module)
    return module is not None and (not point.attr or point.attr in module.bound)


def test_the_lowest_versions_are_those_that_the_requirements_admit(
    project: dict[str, Any],
) -> None:
    extras = project["project"]["optional-dependencies"]
    chosen = ("conformance", "trio", "progress", "otel", "cache", "redis")
    required = sum((extras[name] for name in chosen), project["project"]["dependencies"])

    assert _bounds(required, ">=") == _bounds(project["dependency-groups"]["lowest"], "==")


def _bounds(texts: list[str], operator: str) -> dict[str, tuple[int, ...]]:
    """Package -> release; trailing zeros say nothing."""
    bounds = {}
    for requirement in map(Requirement, texts):
        (bound,) = requirement.specifier
        assert bound.operator == operator
        release = [int(step) for step in bound.version.split(".")]
        while release[-1] == 0:
            release.pop()
        bounds[requirement.name] = tuple(release)
    return bounds
