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


OLD = {
    "journal.identity": """
    41574a524e6900012800000083a36a6f62a36a6f62a776657273696f6ea131a26964c410c2fa987d7f566bbaba43694c
    0aa43fd881d2d2416924f0d6f1bc71ee60f6bfec
    """,
    "part-0876d1435157441489d1224446c96820.loose": """
    41574a524e6500012800000083a36a6f62a36a6f62a776657273696f6ea131a26964c410c5fd69022c88109451ba4ae4
    e69bf9a05abb829ad3c7b4d05dcf9e665bb02c3203000000a16d48de7ce1189fb023ec44113951056f6e6568283b811b
    f054f9ffffffffa16d48de7ce1189fb023ec4411395105440000000000000001000000000000006700000000000000fd
    1bce2cebdbe729a48faf440975249441574a524e660001
    """,
}
"""Files of a journal that version 1 of the format has written, with one entry."""


@pytest.fixture
def old(tmp_path: Path) -> Journal:
    journal = Journal(f"{tmp_path}/old", "job", "1")
    Path(journal.path).mkdir()
    for name, data in OLD.items():
        Path(journal.path, name).write_bytes(bytes.fromhex(data))
    return journal
