"""PyFlink's own operation in the suite: equal runs, its capabilities, and its departures."""

import gc
import threading

import pytest
from flink_defects import (
    PYFLINK,
    Defect,
    assert_departures,
    assert_let_go,
    assert_the_same_each_time,
    said_of,
)

from asyncwait.backends.pyflink._expected_failures import KNOWN
from asyncwait.backends.pyflink.conformance import backend
from asyncwait.spec.scenario import Capability

KEPT = (
    "a-long-stream-is-let-go",
    "handler-after-two-days",
    "handler-gives-several-results",
    "handler-that-blocks-the-loop",
    "end-of-input-in-a-back-off",
)


def test_a_run_is_the_same_each_time() -> None:
    assert_the_same_each_time(backend(), "equal-records-each-with-its-own-back-off")


def test_a_run_that_is_over_is_let_go() -> None:
    assert_let_go(backend(), threading.active_count, gc.collect)


def test_what_it_lacks_is_this() -> None:
    assert set(Capability) - backend().capabilities == {
        "key-ordered",
        "failure-handler",
        "max-held",
        "copies",
        "batches",
        "cache",
        "limits",
        "statistics",
        "callbacks",
        "event-time",
        "snapshots",
        "in-flight-snapshot",
        "on-demand-snapshot",
        "restore",
        "cancel-calls",
        "attempt-timeout",
        "retry-after",
        "jitter",
    }


def test_what_is_known_shows_in_the_examples_and_nothing_else() -> None:
    assert_departures(KNOWN, said_of(backend()), KEPT)


@pytest.mark.parametrize("defect", PYFLINK.defects, ids=lambda defect: defect.id)
def test_the_page_of_defects_shows_what_an_example_shows(defect: Defect) -> None:
    assert PYFLINK.section(defect) in PYFLINK.text


def test_the_page_of_defects_has_a_section_for_each_example() -> None:
    assert PYFLINK.text.startswith(PYFLINK.head)
    assert PYFLINK.text.count("\n## ") == len(PYFLINK.defects) >= 8
