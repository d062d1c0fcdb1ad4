"""A chain of two shipped operators, the first of which does nothing: from outside, one operator."""

from collections.abc import AsyncIterable
from typing import Any

from msgspec.structs import replace

from asyncwait.backends import pool
from asyncwait.backends.chain import ChainResults, chain
from asyncwait.reference import open_operator
from asyncwait.spec import Element, OperatorConfig, Snapshot

_ONE_AT_A_TIME = OperatorConfig(capacity=1)
_CHAIN = chain(pool.open_operator, open_operator)


async def _hand_on(value: Any) -> list[Any]:
    return [value]


class HasAnotherInFront(ChainResults):
    """Is a chain of two, whose first operator hands each record on as it is."""

    # Its source sees what the first function has set on opening, not what the second has.
    lacks = ("statistics", "on-demand-snapshot", "contexts")

    def __init__(
        self,
        config: OperatorConfig,
        fn: Any,
        elements: AsyncIterable[Element],
        restore: Snapshot | None = None,
    ) -> None:
        if isinstance(restore, Snapshot):  # what came out is the snapshot of one operator
            restore = replace(restore, upstream=Snapshot(restore.checkpoint_id, ()))
        configs, functions = (_ONE_AT_A_TIME, config), (_hand_on, fn)
        super().__init__(*_CHAIN.parts(configs, functions, elements, restore))

    async def __anext__(self) -> Element:
        element = await super().__anext__()
        if not isinstance(element, Snapshot):
            return element
        first = element.upstream
        assert first is not None
        return replace(first, in_flight=element.in_flight + first.in_flight)
