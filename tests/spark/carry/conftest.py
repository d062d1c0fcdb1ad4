"""The embedded Spark, with what streams need."""

from collections.abc import Iterator

import pytest
from streams import two_lanes

from asyncwait.backends.spark import EmbeddedSpark


@pytest.fixture
def streams(spark: EmbeddedSpark) -> Iterator[EmbeddedSpark]:
    with two_lanes(spark) as found:
        yield found
