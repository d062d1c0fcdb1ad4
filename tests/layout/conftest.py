"""The installed package and the source tree, as the tests of the layout look at them."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from package_modules import CHECKOUT, Module, find_modules
from package_modules import portions as folders_of_the_package


@pytest.fixture(scope="session")
def checkout() -> Path:
    return CHECKOUT


@pytest.fixture(scope="session")
def project() -> dict[str, Any]:
    return tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def portions() -> list[Path]:
    return folders_of_the_package()


@pytest.fixture(scope="session")
def modules(portions: list[Path]) -> dict[str, Module]:
    return find_modules(portions)
