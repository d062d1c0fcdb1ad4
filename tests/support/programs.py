"""The programs in `examples/http` and `examples/airports`, imported as they import themselves."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@contextmanager
def program(name: str) -> Iterator[Any]:
    """Give its module `run`; the names of its modules are free before, and again afterwards."""
    folders = EXAMPLES / name, EXAMPLES / "serving"
    names = [path.stem for folder in folders for path in folder.glob("*.py")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(folders[0]), *sys.path])
        for each in names:
            sys.modules.pop(each, None)
        yield importlib.import_module("run")
        for each in names:
            sys.modules.pop(each, None)


def of(name: str) -> Any:
    """Another module of it."""
    return importlib.import_module(name)
