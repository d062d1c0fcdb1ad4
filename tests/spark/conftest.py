"""One embedded Spark for all tests of this folder."""

from collections.abc import Generator

import pytest

from asyncwait.backends.spark import EmbeddedSpark, _kept, embedded_spark


@pytest.fixture(scope="session")
def spark() -> Generator[EmbeddedSpark]:
    embedded = embedded_spark()
    yield embedded
    embedded.stop()


@pytest.fixture
def nothing_kept() -> Generator[None]:
    yield
    _kept._kept.clear()
