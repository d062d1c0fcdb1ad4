"""What PyFlink is known to break: each expected failure is a departure, and shows in an example."""

from flink_defects import assert_departures, said_of

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
    assert_departures(KNOWN, said_of(backend()), KEPT)
