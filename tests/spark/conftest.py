"""One embedded Spark for all tests of this folder."""

from collections.abc import Generator
from pathlib import Path

import pytest

from asyncwait.backends.journal import Journal
from asyncwait.backends.spark import EmbeddedSpark, embedded_spark
from asyncwait.backends.spark.frame import _cache


@pytest.fixture(scope="session")
def spark() -> Generator[EmbeddedSpark]:
    embedded = embedded_spark()
    yield embedded
    embedded.stop()


@pytest.fixture
def nothing_kept() -> Generator[None]:
    yield
    _cache._caches.clear()


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(str(tmp_path / "journal"), "job", "1")
