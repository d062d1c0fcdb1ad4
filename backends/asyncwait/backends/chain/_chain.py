"""The chain: opened as an operator, and made of two."""

from collections.abc import AsyncIterable, Generator
from contextlib import AsyncExitStack, contextmanager
from typing import Any, Self, TypeAlias

from msgspec.structs import replace

from asyncwait.backends.chain._between import Between, Gate
from asyncwait.backends.chain._bundles import bundling
from asyncwait.spec import (
    Element,
    InvalidConfig,
    OpenOperator,
    OperatorConfig,
    OperatorResults,
    Snapshot,
    Statistics,
)
from asyncwait.toolkit import SingleEntry, check_restore

Configs: TypeAlias = OperatorConfig | tuple[OperatorConfig, Any]
"""One configuration for both operators, or one for each."""

_KNOWN = "retry", "max_held", "batch"
"""Settings that not every operator knows. What a cache keeps must not be bundles of results."""

_LINKED = 2
"""Operators, or what is said of them."""


class Chain:
    """Two operators, one behind the other: opened as either of them is.

    The results of the first are the records of the second, with the timestamp and the key of their
    record; everything else goes through both. Each has its own function and its own capacity. The
    first reads only while it has room and the second waits for input, so that nothing waits in
    between but what the first has in flight. So a barrier waits for room in the first; and what
    the first fails with is for the second an error of its source, and comes out last.

    There is one snapshot for both: that of the second, whose `upstream` is that of the first, whose
    `upstream` in turn is what the source gave. From it, both are restored. Functions are opened
    from the first to the last, and closed from the last to the first.

    Args:
        first: opens the operator that reads the source.
        second: opens the one behind it, which may be a chain again.

    Raises:
        InvalidConfig: one of them is not what it should be.
    """

    def __init__(self, first: OpenOperator, second: OpenOperator) -> None:
        for name, operator in (("first", first), ("second", second)):
            if not callable(operator):
                raise InvalidConfig.of(name, operator, "the `open_operator` of a backend")
        if isinstance(first, Chain):
            expected = "a single operator: three of them are chain(a, chain(b, c))"
            raise InvalidConfig.of("first", first, expected)
        self.first = first
        self.second = second

    def __repr__(self) -> str:
        return f"chain({_name_of(self.first)}, {_name_of(self.second)})"

    @property
    def links(self) -> int:
        """How many operators it consists of."""
        return 1 + (self.second.links if isinstance(self.second, Chain) else 1)

    def __call__(
        self,
        config: Configs,
        fn: Any,
        elements: AsyncIterable[Element],
        restore: Snapshot | None = None,
    ) -> "ChainResults":
        """Open the chain.

        Args:
            config: for both operators, or a pair: the first's, and the second's.
            fn: a pair: the first's function, and the second's. Where the second is a chain, what is
                given for it here is a pair again.
            elements: the input.
            restore: a snapshot of such a chain. One of a longer chain looks the same, and what is
                beyond the operators of this one is left out.

        Raises:
            InvalidConfig: one of them is not what it should be.
        """
        return ChainResults(*self.parts(config, fn, elements, restore))

    def parts(
        self, config: Configs, fn: Any, elements: AsyncIterable[Element], restore: Snapshot | None
    ) -> tuple[Any, Any, Between]:
        """Return both operators, which are not open yet, and what is between; see above."""
        pair = "a pair, one for each operator of the chain"
        configs: Any = config if isinstance(config, tuple) else (config, config)
        if len(configs) != _LINKED or not isinstance(configs[0], OperatorConfig):
            raise InvalidConfig.of("config", config, f"an OperatorConfig, or {pair}")
        for each in configs:
            if isinstance(each, OperatorConfig):
                each.require_only("a chain", *_KNOWN)
        if not isinstance(fn, tuple) or len(fn) != _LINKED:
            raise InvalidConfig.of("fn", fn, pair)
        retry = configs[0].retry
        of_first = replace(configs[0], retry=None if retry is None else retry.of_one_result())
        upstream = self._restored_upstream(restore)
        inside = 0 if upstream is None else len(upstream.in_flight)
        room = configs[0].capacity + (configs[0].max_held or 0)
        gate = Gate(elements, room, inside)
        between = Between(gate)
        with _named("first"):
            function = bundling(fn[0], shared=of_first.batch is not None)
            first = self.first(of_first, function, gate, upstream)
        with _named("second"):
            second = self.second(configs[1], fn[1], between, restore)
        return first, second, between

    def _restored_upstream(self, restore: Any) -> Snapshot | None:
        """Return the part of a snapshot that is the first operator's."""
        check_restore(restore)
        if restore is None:
            return None
        part = restore
        for _ in range(self.links - 1):
            part = part.upstream
            if part is None:
                expected = f"a snapshot of a chain of {self.links}, with the others as upstream"
                raise InvalidConfig.of("restore", restore, expected)
            check_restore(part)
        return part  # type: ignore[no-any-return]


@contextmanager
def _named(place: str) -> Generator[None]:
    try:
        yield
    except InvalidConfig as error:
        error.add_note(f"that is of the {place} operator of a chain")
        raise


def chain(first: OpenOperator, second: OpenOperator) -> Chain:
    """Join two operators; see `Chain`.

        open_chain = chain(pool.open_operator, pool.open_operator)
        async with open_chain(config, (look_up_user, look_up_city), elements) as results: ...

    Raises:
        InvalidConfig: one of them is not what it should be.
    """
    return Chain(first, second)


class ChainResults:
    """The output of a chain, and its context."""

    def __init__(self, first: Any, second: Any, between: Between) -> None:
        self._first = first
        self._second = second
        self._between = between
        self._single_entry = SingleEntry()
        self._open = AsyncExitStack()
        self._results: OperatorResults | None = None

    async def __aenter__(self) -> Self:
        self._single_entry.enter()
        async with AsyncExitStack() as stack:
            self._between.results = await stack.enter_async_context(self._first)
            self._results = await stack.enter_async_context(self._second)
            self._open = stack.pop_all()
        return self

    async def __aexit__(self, *raised: Any) -> bool | None:
        self._single_entry.leave()
        return await self._open.__aexit__(*raised)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Element:
        if self._results is None:
            raise RuntimeError("the chain is not open: use `async with`")
        return await anext(self._results)

    def statistics(self) -> Statistics:
        """Return the figures of both: each the sum, `oldest` the greater one.

        The sum of two high-water marks may never have been reached at one time.
        """
        opened = (each for each in (self._between.results, self._results) if each is not None)
        return _joined([each.statistics() for each in opened])


def _joined(figures: list[Statistics]) -> Statistics:
    sums: dict[str, Any] = {
        name: sum(getattr(each, name) for each in figures)
        for name in Statistics.__struct_fields__
        if name not in ("oldest", "waiting_for_permits")
    }
    return Statistics(**sums, oldest=max((each.oldest for each in figures), default=0.0))


def _name_of(operator: Any) -> str:
    return getattr(operator, "__qualname__", repr(operator))
