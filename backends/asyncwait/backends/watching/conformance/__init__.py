"""Watched operators as backends: their figures are read from metrics and progress bar."""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from typing import Any

from asyncwait.backends import pool
from asyncwait.conformance import StreamBackend, stream_backend
from asyncwait.conformance.harness import LoopName
from asyncwait.reference import open_operator
from asyncwait.spec import MissingExtra, OpenOperator

LACKS = ("limits",)
"""Metrics and progress sum waiting calls over all limits, so they cannot show `limits`."""

OPERATORS: Mapping[str, OpenOperator] = {"pool": pool.open_operator, "reference": open_operator}

LOOPS: tuple[LoopName, ...] = ("asyncio", "trio")


def family() -> Mapping[str, Callable[[], StreamBackend]]:
    """Return a factory of each watched operator by its name."""
    return {
        f"watching-{name}-{loop}": partial(_backend, OPERATORS[name], loop)
        for name, loop in product(OPERATORS, LOOPS)
    }


def _backend(opens: OpenOperator, loop: LoopName) -> StreamBackend:
    try:
        from asyncwait.backends.watching.conformance._watched import open_watched
    except ImportError as error:
        raise MissingExtra("opentelemetry-api or rich", "otel,progress") from error
    watched: Any = partial(open_watched, opens)
    return stream_backend(watched, loop=loop, lacks=LACKS)


__all__ = ["family"]
