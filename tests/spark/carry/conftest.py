"""The embedded Spark, with what streams need; and hosts of calls on a clock that jumps."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from carried import Hosted, work
from operators import virtual_loop
from streams import two_lanes

from asyncwait.backends.spark import EmbeddedSpark
from asyncwait.backends.spark.carry._host import CallHost


@pytest.fixture
def streams(spark: EmbeddedSpark) -> Iterator[EmbeddedSpark]:
    with two_lanes(spark) as found:
        yield found


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, Any]]:
    return virtual_loop("asyncio")


@pytest.fixture
async def hosted(anyio_backend: Any) -> AsyncIterator[Hosted]:
    hosts: list[CallHost] = []

    def host_of(fn: Any, **options: Any) -> Any:
        made = work(fn, **options)
        hosts.append(CallHost(made, "h"))
        return made, hosts[-1]

    yield host_of
    for host in hosts:
        await host.aclose()
