"""The modules of an example, which import each other by their plain names."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@contextmanager
def modules_of(name: str) -> Iterator[None]:
    """Let those in a folder be imported; their names are free before, and again afterwards."""
    folder = EXAMPLES / name
    names = [path.stem for path in folder.glob("*.py")]
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        for each in names:
            sys.modules.pop(each, None)
        yield
        for each in names:
            sys.modules.pop(each, None)
