"""The task of the reference: when it ends."""

from typing import Any

import anyio
import pytest
from operators import Source

from asyncwait.reference import REFERENCE, MailboxState, ResultStream
from asyncwait.spec import OperatorConfig, Record

pytestmark = pytest.mark.anyio


async def test_the_loop_ends_when_it_is_known_which_calls_are_abandoned() -> None:
    class Stubborn:
        async def __call__(self, value: Any) -> tuple[Any, ...]:
            try:
                await anyio.sleep(5)
            except anyio.get_cancelled_exc_class():
                with anyio.CancelScope(shield=True):
                    await anyio.sleep(5 if value == "goes on" else 0)
                raise
            return ()

        def timeout(self, value: Any) -> tuple[Any, ...]:
            return (f"{value} late",)

    config = OperatorConfig("ordered", timeout=1)
    source = Source(Record("ends"), Record("goes on"))
    stream = ResultStream(REFERENCE, config, Stubborn(), source)
    async with stream as results:
        assert [e.value async for e in results] == ["ends late", "goes on late"]
        await anyio.sleep(0.1)
        assert stream.task.mailbox.state is MailboxState.CLOSED
        assert results.statistics().abandoned == 1
