"""The installed package and the source tree, as the tests of the layout look at them."""

import importlib
import tomllib
from pathlib import Path
from typing import Any

import pytest
from package_modules import Module, find_modules

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def checkout() -> Path:
    return CHECKOUT


@pytest.fixture(scope="session")
def project() -> dict[str, Any]:
    return tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def portions() -> list[Path]:
    return [Path(folder) for folder in importlib.import_module("asyncwait").__path__]


@pytest.fixture(scope="session")
def modules(portions: list[Path]) -> dict[str, Module]:
    return find_modules(portions)
