"""Public modules say what they offer, and offer what they say."""

import functools
import importlib
import pickle
import typing
from types import FunctionType
from typing import Any

import pytest
from msgspec import Struct
from package_modules import Module
from public_names import FILE, public_modules, told

from asyncwait.spec import Snapshot

MOST_NAMES = 31
"""Of `asyncwait.spec`: the contract, which one reads in a sitting."""


@pytest.fixture(scope="session")
def public(modules: dict[str, Module]) -> list[Module]:
    found = public_modules(modules.values())

    assert {"asyncwait.spec", "asyncwait.reference"} <= {module.name for module in found}
    return found


@pytest.fixture(scope="session")
def exported(public: list[Module]) -> dict[str, Any]:
    found = {
        f"{module.name}.{name}": getattr(importlib.import_module(module.name), name)
        for module in public
        for name in module.exports or []
    }
    kinds = (type, FunctionType, type(functools.cache(len)))
    ours = {
        name: item
        for name, item in found.items()
        if isinstance(item, kinds) and item.__module__.startswith("asyncwait.")
    }

    assert {
        "asyncwait.conformance.running.stream_backend",
        "asyncwait.reference.ordered_wait",
        "asyncwait.spec.CallFailed",
        "asyncwait.spec.rules.rules",
    } <= set(ours)
    return ours


def test_public_names_are_those_that_are_promised(public: list[Module]) -> None:
    """A name that goes, or takes something else, breaks somebody: see docs/stability.md.

    `python tests/support/public_names.py --write` writes the list anew.
    """
    assert told(public).splitlines() == FILE.read_text(encoding="utf-8").splitlines()


def test_every_public_module_says_what_it_exports(public: list[Module]) -> None:
    assert [module.name for module in public if module.exports is None] == []


def test_the_specification_exports_the_contract_alone(modules: dict[str, Module]) -> None:
    assert len(modules["asyncwait.spec"].exports or []) <= MOST_NAMES


def test_what_is_exported_names_its_public_module(exported: dict[str, Any]) -> None:
    """A traceback says `asyncwait.spec.CallFailed`; of two modules, the one of the specification.

    Or else the outer.
    """
    homes: dict[int, str] = {}
    for name, item in exported.items():
        homes[id(item)] = min(homes.get(id(item), name), name, key=closeness)
    wrong = [
        f"{name} says {item.__module__}.{item.__qualname__}"
        for name, item in exported.items()
        if f"{item.__module__}.{item.__qualname__}" != homes[id(item)]
    ]

    assert wrong == []


def closeness(name: str) -> tuple[bool, int]:
    return not name.startswith("asyncwait.spec."), len(name)


def test_what_is_exported_is_pickled_by_its_public_name(exported: dict[str, Any]) -> None:
    wrong = [
        name
        for name, item in exported.items()
        if pickle.loads(pickle.dumps(item)) is not item  # noqa: S301 - of our own making
    ]

    assert wrong == []


def test_types_of_fields_are_found_from_the_public_module(exported: dict[str, Any]) -> None:
    kinds = [item for item in exported.values() if isinstance(item, type)]
    structs = [kind for kind in kinds if issubclass(kind, Struct)]
    wrong = [kind for kind in structs if not has_known_types(kind)]

    assert Snapshot in structs
    assert wrong == []


def has_known_types(kind: type[Struct]) -> bool:
    try:
        return set(typing.get_type_hints(kind)) >= set(kind.__struct_fields__)
    except NameError:
        return False
