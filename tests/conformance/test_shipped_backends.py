"""What the shipped backends can do: capabilities are no way out of a rule."""

import pytest
from outside import Folder

from asyncwait.conformance.running import known_backends, load_backend, shipped_backends
from asyncwait.spec.scenario import ALL_CAPABILITIES

OF_ELEMENTS = {
    "callbacks",
    "event-time",
    "snapshots",
    "on-demand-snapshot",
    "in-flight-snapshot",
    "restore",
}


def test_the_shipped_backends_are_these() -> None:
    """A backend that is shipped is in the list that the main job verifies."""
    assert shipped_backends() == [
        "emitter-asyncio",
        "emitter-plain-asyncio",
        "emitter-plain-trio",
        "emitter-trio",
        "flink",
        "flink-keyed",
        "pool-asyncio",
        "pool-plain-asyncio",
        "pool-plain-trio",
        "pool-trio",
        "reference-asyncio",
        "reference-plain-asyncio",
        "reference-plain-trio",
        "reference-trio",
        "spark",
        "spark-dataframe",
        "threads",
    ]


def test_what_can_not_be_installed_beside_others_is_known_by_its_name() -> None:
    """The main job has no place for it; it has an environment of its own."""
    assert "pyflink" in known_backends()
    assert "pyflink" not in shipped_backends()


@pytest.mark.parametrize(
    "name",
    [
        "emitter-asyncio",
        "emitter-trio",
        "pool-asyncio",
        "pool-trio",
        "reference-asyncio",
        "reference-trio",
    ],
)
def test_a_backend_in_one_process_lacks_nothing_and_fails_nothing(name: str) -> None:
    """Every rule applies to the reference, to the pool and to the emitter."""
    backend = load_backend(name)

    assert backend.capabilities == ALL_CAPABILITIES
    assert backend.expected_failures == {}


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
@pytest.mark.parametrize("operator", ["emitter", "pool", "reference"])
def test_plain_values_lack_what_only_elements_have(operator: str, loop: str) -> None:
    """They are records alone, and nothing is kept of them; every other rule applies."""
    backend = load_backend(f"{operator}-plain-{loop}")

    assert ALL_CAPABILITIES - backend.capabilities == OF_ELEMENTS
    assert backend.expected_failures == {}


def test_threads_lack_that_a_call_can_be_cancelled() -> None:
    """Nothing ends a thread from outside; every other rule applies."""
    backend = load_backend("threads")

    assert ALL_CAPABILITIES - backend.capabilities == {"cancel-calls"}
    assert backend.expected_failures == {}


def test_threads_conform_on_this_python(outside: Folder) -> None:
    """The verdict on threads, which plays every example, is green on this Python."""
    done = outside.asyncwait("verify", "threads", "--count", "1")

    assert done.out.splitlines()[-1] == "threads: conformant (152 rules pass, 11 not-applicable)"
    assert done.code == 0
