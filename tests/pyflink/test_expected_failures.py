"""What PyFlink is known to break: each expected failure is a departure, and shows in an example."""

import pytest
from flink_runs import assert_departures, said_of
from outside import Folder

from asyncwait.backends.pyflink._expected_failures import KNOWN
from asyncwait.backends.pyflink.conformance import backend

KEPT = (
    "a-long-stream-is-let-go",
    "handler-after-two-days",
    "handler-gives-several-results",
    "handler-that-blocks-the-loop",
    "end-of-input-in-a-back-off",
)


def test_what_is_known_shows_in_the_examples_and_nothing_else() -> None:
    """So the verdict does not hang on what is generated."""
    assert_departures(KNOWN, said_of(backend()), KEPT)


@pytest.mark.parametrize("seed", ["0", "1"])
def test_pyflink_conforms_with_expected_failures(outside: Folder, seed: str) -> None:
    """Whatever is generated."""
    done = outside.asyncwait("verify", "pyflink", "--count", "300", "--seed", seed)

    said = "pyflink: conformant with expected failures: core, ordered, unordered, timeouts, retry"
    assert done.out.splitlines()[-1].startswith(said)
    assert done.code == 0, done.out
