"""Public modules say what they offer, and offer what they say."""

import re

import pytest
from package_modules import Module

# Modules that a tool runs, or that are found and collected; nobody imports names from them.
COLLECTED = re.compile(r"\.(__main__|conftest|test_\w+|areas\.\w+\.\w+)$")


@pytest.fixture(scope="session")
def public(modules: dict[str, Module]) -> list[Module]:
    """The modules whose names users may import."""
    found = [
        module
        for module in modules.values()
        if module.is_public and module.bound and not COLLECTED.search(module.name)
    ]

    assert {"asyncwait.spec", "asyncwait.reference"} <= {module.name for module in found}
    return found


def sort_key(name: str) -> tuple[int, list[tuple[int, str]]]:
    """Constants, then classes, then the rest, numbers by value: the order that ruff writes."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name.lstrip("_")[:1].isupper() else 2
    return kind, [
        (int(step), "") if step.isdigit() else (0, step) for step in re.split(r"(\d+)", name)
    ]


def test_every_public_module_says_what_it_exports(public: list[Module]) -> None:
    """A module that others import from lists its names in `__all__`."""
    assert [module.name for module in public if module.exports is None] == []


def test_exports_are_sorted_and_unique(public: list[Module]) -> None:
    """A sorted list is read quickly and never conflicts for nothing."""
    wrong = [
        module.name
        for module in public
        if (names := module.exports) and names != sorted(set(names), key=sort_key)
    ]

    assert wrong == []


def test_every_export_exists(public: list[Module]) -> None:
    """A name in `__all__` is bound by the module, or by its `__getattr__` when first asked for."""
    wrong = [
        f"{module.name}.{name}"
        for module in public
        if "__getattr__" not in module.bound
        for name in module.exports or []
        if name not in module.bound
    ]

    assert wrong == []
