"""The command that holds two backends against each other."""

import re

import pytest
from outside import Folder

HASTY = """
import os
from pathlib import Path

from msgspec.structs import replace

from asyncwait.conformance import stream_backend
from asyncwait.reference import open_operator as sound
from asyncwait.spec import OperatorConfig


def open_operator(config, fn, elements, restore=None):
    if isinstance(config, OperatorConfig) and config.capacity == 6 and config.mode == "ordered":
        config = replace(config, mode="unordered")
    return sound(config, fn, elements, restore)


MARK = Path(__file__).with_name("mark")


def dies_once(config, *others):
    if not MARK.exists():
        MARK.touch()
        os._exit(9)
    return open_operator(config, *others)


def backend():
    return stream_backend(dies_once)


def known():
    return stream_backend(open_operator, expected_failures={"ORD-1": "six are out of order"})
"""

pytestmark = pytest.mark.usefixtures("few_examples")

SIX = ("--count", "4", "--seed", "39")
"""The first of these scenarios has that capacity."""


def test_a_difference_that_nothing_explains_is_drawn_as_two_timelines(outside: Folder) -> None:
    """With the rule that is broken, and where they first differ; a run without an end is no such.

    Nothing can be said of how that one differs: it is in error.
    """
    outside.write("gate.py", HASTY)

    done = outside.here("compare", "gate:backend", "reference-asyncio", *SIX, "--jobs", "1")

    assert done.code == 1, done.err
    assert "gate:backend: died: " in done.out
    assert re.search(r", [1-9]\d* unexplained, 1 in error$", done.out.splitlines()[-1])
    assert "unexplained: shrunk (" in done.out
    assert "gate:backend breaks ORD-1 at " in done.out
    assert done.out.count("    ms  input                   calls") == 2
    assert ">>> only gate:backend: " in done.out
    assert ">>> only reference-asyncio: " in done.out
    assert "  again: asyncwait play gate:backend " in done.out
    assert "  again: asyncwait play reference-asyncio " in done.out


def test_a_known_departure_explains_what_differs(outside: Folder) -> None:
    outside.write("gate.py", HASTY)

    done = outside.here("compare", "gate:known", "pool-asyncio", *SIX)

    assert "six are out of order" in done.out
    assert done.out.splitlines()[-1].endswith(", 0 unexplained")
    assert done.code == 0, done.out
