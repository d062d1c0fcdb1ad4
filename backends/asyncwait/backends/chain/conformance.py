"""Chains of two shipped operators as backends: one has the scenario, the other does nothing.

So from outside each is one operator. Where it is the first that does nothing, a chain keeps all
rules; where it is the second, it breaks those that a chain says it breaks.
"""

from collections.abc import AsyncIterable, Callable, Mapping
from functools import partial
from itertools import product
from typing import Any

from msgspec.structs import replace

from asyncwait.backends import pool
from asyncwait.backends.chain import Chain, ChainResults, chain
from asyncwait.conformance import ExpectedFailure, StreamBackend, stream_backend
from asyncwait.conformance.harness import LoopName
from asyncwait.reference import open_operator
from asyncwait.spec import Element, OpenOperator, OperatorConfig, Snapshot

OPERATORS: Mapping[str, OpenOperator] = {
    "pool": pool.open_operator,
    "reference": open_operator,
}

LOOPS: tuple[LoopName, ...] = ("asyncio", "trio")

LACKS = ("statistics", "on-demand-snapshot", "contexts", "cache", "limits")
"""Figures are sums of both; the source sees what the first function has set on opening, not what
the second has; and a chain takes no cache and no limits."""

OF_THE_FIRST = ("snapshots", "restore")
"""What is in the second operator are results of the first, so a snapshot holds those, too."""

_GONE = "a record whose results are with the second operator has left the first"
_LAST = "what the first fails with is an error of the source of the second, and comes last"
_APART = "the second operator takes the results of a record apart, and markers overtake there"

EXPECTED_FAILURES = {
    rule: ExpectedFailure(reason, strict=False)
    for rule, reason in {
        "CAP-1": _GONE,
        "CAP-3": _GONE,
        "ELEM-5": _APART,
        "FAIL-3": _LAST,
        # An answer in the very instant of its limit is then the likelier explanation (a tie).
        "FAIL-8": _LAST,
        "FAIL-11": _LAST,
        "HOLD-3": _GONE,
        "TIME-8": _GONE,
        "TIME-9": _LAST,
    }.items()
}
"""What a chain breaks as an operator with the function of its first, and why."""

_ONE_AT_A_TIME = OperatorConfig(capacity=1)


async def _hand_on(value: Any) -> list[Any]:
    return [value]


class _AsOne(ChainResults):
    """The results of a chain whose first operator does nothing, with the snapshots of one."""

    async def __anext__(self) -> Element:
        element = await super().__anext__()
        if not isinstance(element, Snapshot):
            return element
        first = element.upstream
        assert first is not None
        return replace(first, in_flight=element.in_flight + first.in_flight)


def behind_one(
    joined: Chain,
    config: OperatorConfig,
    fn: Any,
    elements: AsyncIterable[Element],
    restore: Snapshot | None = None,
) -> ChainResults:
    """Open a chain as its second operator, with one in front that hands records on as they are.

    It is restored from the snapshot of one operator: what came first is given to the second
    operator, and the rest to the one in front, which hands it on.
    """
    if isinstance(restore, Snapshot):
        half = len(restore.in_flight) // 2
        behind = replace(restore, in_flight=restore.in_flight[half:])
        restore = replace(restore, in_flight=restore.in_flight[:half], upstream=behind)
    configs: Any = (_ONE_AT_A_TIME, config)
    # A chain refuses a wrong number of functions, as one operator refuses a text for a function.
    functions: Any = (_hand_on,) * 3 if isinstance(fn, str) else (_hand_on, fn)
    return _AsOne(*joined.parts(configs, functions, elements, restore))


def in_front_of_one(
    joined: Chain,
    config: OperatorConfig,
    fn: Any,
    elements: AsyncIterable[Element],
    restore: Snapshot | None = None,
) -> ChainResults:
    """Open a chain as its first operator, with one behind it that hands results on as they are."""
    return joined((config, _ONE_AT_A_TIME), (fn, _hand_on), elements, restore)


def second_backend(first: OpenOperator, second: OpenOperator, loop: LoopName) -> StreamBackend:
    """Return a chain as its second operator."""
    return stream_backend(partial(behind_one, chain(first, second)), loop=loop, lacks=LACKS)


def first_backend(first: OpenOperator, second: OpenOperator, loop: LoopName) -> StreamBackend:
    """Return a chain as its first operator."""
    opens = partial(in_front_of_one, chain(first, second))
    lacks = (*LACKS, *OF_THE_FIRST)
    return stream_backend(opens, loop=loop, lacks=lacks, expected_failures=EXPECTED_FAILURES)


def family() -> Mapping[str, Callable[[], StreamBackend]]:
    """Return a factory of each pair by its name, as the first and as the second of both."""
    found: dict[str, Callable[[], StreamBackend]] = {}
    for one, other, loop in product(OPERATORS, OPERATORS, LOOPS):
        pair = OPERATORS[one], OPERATORS[other], loop
        found[f"chain-{one}-{other}-{loop}"] = partial(second_backend, *pair)
        found[f"chain-{one}-{other}-{loop}-as-the-first"] = partial(first_backend, *pair)
    return found


__all__ = ["family"]
