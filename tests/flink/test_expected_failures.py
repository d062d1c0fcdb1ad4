"""What Flink is known to break: each expected failure is a departure, and shows in an example."""

from collections.abc import Callable

import pytest
from flink_defects import assert_departures, said_of

from asyncwait.backends.flink._expected_failures import KNOWN, KNOWN_KEYED, Known
from asyncwait.backends.flink.conformance import backend, keyed_backend
from asyncwait.conformance import StreamBackend

pytestmark = pytest.mark.usefixtures("flink")

KEPT = ("a-long-stream-is-let-go", "handler-after-two-days", "handler-gives-several-results")
KEPT_BY_KEY = (
    "one-call-after-another",
    "called-behind-a-watermark",
    "finished-and-held-by-a-watermark",
    "late-one-after-the-other",
    "keys-that-look-alike",
    "waiting-takes-room",
    "a-snapshot-of-a-line",
    "as-many-keys-as-records",
    "one-key-and-a-watermark",
    "a-long-stream-is-let-go",
)


@pytest.mark.parametrize(
    ("opened", "known", "kept"),
    [(backend, KNOWN, KEPT), (keyed_backend, KNOWN_KEYED, KEPT_BY_KEY)],
    ids=["flink", "flink-keyed"],
)
def test_what_is_known_shows_in_the_examples_and_nothing_else(
    opened: Callable[[], StreamBackend], known: tuple[Known, ...], kept: tuple[str, ...]
) -> None:
    assert_departures(known, said_of(opened()), kept)
