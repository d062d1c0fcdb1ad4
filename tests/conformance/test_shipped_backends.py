"""What the shipped backends can do: capabilities are no way out of a rule."""

import pytest

from asyncwait.backends.emitter.conformance import LACKS
from asyncwait.conformance.running import known_backends, load_backend, shipped_backends
from asyncwait.spec.scenario import ALL_CAPABILITIES

OF_ELEMENTS = {
    "callbacks",
    "event-time",
    "snapshots",
    "on-demand-snapshot",
    "in-flight-snapshot",
    "restore",
    "cache",
    "limits",
}
"""What plain values lack: they are records alone, and nothing is kept of them."""

OPERATORS = ("pool", "reference")
LOOPS = ("asyncio", "trio")
OF_RETRY = {"attempt-timeout", "retry-after", "jitter"}
LACKED: dict[str, set[str]] = {
    **{f"{operator}-{loop}": set() for operator in OPERATORS for loop in LOOPS},
    **{f"emitter-{loop}": {*LACKS, *OF_RETRY} for loop in LOOPS},
    **{f"{operator}-plain-{loop}": OF_ELEMENTS for operator in OPERATORS for loop in LOOPS},
    "threads": {"cancel-calls", "cache"},  # nothing ends a thread from outside
}
OF_STREAMS = {"flink", "flink-keyed", "spark", "spark-dataframe", "spark-streaming"}


def test_the_shipped_backends_are_these() -> None:
    assert set(shipped_backends()) == {*LACKED, *OF_STREAMS}
    assert "pyflink" in known_backends()


@pytest.mark.parametrize(("name", "lacked"), LACKED.items())
def test_what_a_backend_lacks_is_known_and_it_fails_nothing(name: str, lacked: set[str]) -> None:
    backend = load_backend(name)

    assert ALL_CAPABILITIES - backend.capabilities == lacked
    assert backend.expected_failures == {}
