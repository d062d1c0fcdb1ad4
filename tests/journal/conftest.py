"""Journals on a disk and behind fsspec, and what the tests put in them."""

from pathlib import Path
from uuid import uuid4

import pytest
from journals import prepared

from asyncwait.backends.journal import Journal

KINDS = ("disk", "memory", "file")


def path_of(kind: str, folder: Path) -> str:
    if kind == "memory":
        return f"memory://journal-{uuid4().hex}"
    return f"file://{folder}/journal" if kind == "file" else f"{folder}/journal"


@pytest.fixture(params=KINDS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a journal may be: a folder, and two kinds of URL."""
    return path_of(request.param, tmp_path)


@pytest.fixture(params=KINDS[1:])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return path_of(request.param, tmp_path)


@pytest.fixture
def journal(path: str) -> Journal:
    return prepared(path)


@pytest.fixture
def on_disk(tmp_path: Path) -> Journal:
    return prepared(f"{tmp_path}/journal")
