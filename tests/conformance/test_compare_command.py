"""The command that holds two backends against each other."""

from outside import Folder

HASTY = """
from msgspec.structs import replace

from asyncwait.conformance import stream_backend
from asyncwait.reference import open_operator as sound
from asyncwait.spec import OperatorConfig


def open_operator(config, fn, elements, restore=None):
    if isinstance(config, OperatorConfig) and config.capacity == 6 and config.mode == "ordered":
        config = replace(config, mode="unordered")
    return sound(config, fn, elements, restore)


def backend():
    return stream_backend(open_operator)


def known():
    return stream_backend(open_operator, expected_failures={"ORD-1": "six are out of order"})
"""

SIX = ("--count", "4", "--seed", "49")
"""The last of these scenarios has that capacity."""

DIES = """
import os
from pathlib import Path

from asyncwait.conformance import stream_backend
from asyncwait.reference import open_operator as sound

MARK = Path(__file__).with_name("mark")


def open_operator(config, fn, elements, restore=None):
    if not MARK.exists():
        MARK.touch()
        os._exit(9)
    return sound(config, fn, elements, restore)


def backend():
    return stream_backend(open_operator)
"""


def test_two_sound_operators_differ_in_ties_only(outside: Folder) -> None:
    """The pool and the reference share no code."""
    done = outside.here("compare", "pool-asyncio", "reference-asyncio", "--count", "1")

    line = done.out.splitlines()[-1]
    assert line.startswith("pool-asyncio, reference-asyncio: ")
    assert "0 explained by departures, 0 unexplained (" in line
    assert done.code == 0, done.out


def test_a_difference_that_nothing_explains_is_drawn_as_two_timelines(outside: Folder) -> None:
    """With the rule that is broken, and where the two first differ."""
    outside.write("gate.py", HASTY)

    done = outside.here("compare", "gate:backend", "reference-asyncio", *SIX)

    assert done.code == 1, done.err
    assert "unexplained: shrunk (" in done.out
    assert "gate:backend breaks ORD-1 at " in done.out
    assert done.out.count("    ms  input                   calls") == 2
    assert ">>> only gate:backend: " in done.out
    assert ">>> only reference-asyncio: " in done.out
    assert "  again: asyncwait play gate:backend " in done.out
    assert "  again: asyncwait play reference-asyncio " in done.out


def test_a_known_departure_explains_what_differs(outside: Folder) -> None:
    """Its reason stands in a table, with the scenarios in which it may be that."""
    outside.write("gate.py", HASTY)

    done = outside.here("compare", "gate:known", "reference-asyncio", *SIX)

    assert "six are out of order" in done.out
    assert ", 0 unexplained (" in done.out.splitlines()[-1]
    assert done.code == 0, done.out


def test_a_run_that_came_to_no_end_of_its_own_is_an_error(outside: Folder) -> None:
    """Nothing can be said of how it differs: it is no difference that nobody explains."""
    outside.write("gate.py", DIES)

    done = outside.here(
        "compare", "gate:backend", "reference-asyncio", "--count", "1", "--jobs", "1"
    )

    assert "gate:backend: died: " in done.out
    assert ", 0 unexplained, 1 in error (" in done.out.splitlines()[-1]
    assert done.code == 3
