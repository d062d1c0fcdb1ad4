"""Scenarios that together use every field, and a trace in which every kind of event stands."""

from collections.abc import Iterator
from typing import Any

import msgspec

from asyncwait.conformance.areas import EXAMPLES
from asyncwait.spec import Record, Snapshot
from asyncwait.spec.scenario import (
    Blocked,
    CallCancelled,
    CallEnded,
    CallStarted,
    Closed,
    Ending,
    FailureAsked,
    FiguresRead,
    HandlerAsked,
    HookRun,
    Leg,
    Misuse,
    Scenario,
    SinkGaveUp,
    SinkLeft,
    SinkTook,
    SinkWaits,
    SnapshotAsked,
    SourceAsked,
    SourceClosed,
    SourceEnded,
    Taken,
    Trace,
)


def fields_set(item: Any) -> Iterator[str]:
    if isinstance(item, msgspec.Struct):
        for field in msgspec.structs.fields(item):
            value = getattr(item, field.name)
            if field.required or value != field.default:
                yield f"{type(item).__name__}.{field.name}"
            yield from fields_set(value)
    elif isinstance(item, tuple):
        for part in item:
            yield from fields_set(part)


def _varied() -> Iterator[Scenario]:
    scenarios = [msgspec.structs.replace(each.scenario, name=each.name) for each in EXAMPLES]
    fields = [(each, {*fields_set(each)}) for each in scenarios]
    left = set[str]().union(*(used for _, used in fields))
    while left:
        scenario, used = max(fields, key=lambda each: len(each[1] & left))
        left -= used
        yield scenario


VARIED = tuple(_varied())
"""Few examples, in which each field of a scenario is set."""

WHOLE = Trace(
    (
        Leg(
            Ending(
                "failed",
                20.5,
                "CallFailed",
                Record("a"),
                "ValueError",
                True,
                "same",
                "same",
                "x",
                "at y",
                0,
                2,
            ),
            (
                SourceAsked(0),
                Taken(0, 0),
                CallStarted(0, 0, "a", 0, 1),
                CallCancelled(1, 0),
                CallEnded(20, 0, "raised", ("x",)),
                HandlerAsked(20, "a", 0),
                FailureAsked(20, "a", "CallFailed", "ValueError", 2, 0),
                HookRun(20, "open"),
                Blocked(20, 20.25),
                Misuse(20, "supplier-thread", "the supplier of call 0"),
                SnapshotAsked(20, 3),
                FiguresRead(20, *range(1, 19), 18.5, (1, 2)),
                SourceEnded(20, True),
                SourceClosed(20),
                SinkWaits(20),
                SinkGaveUp(20),
                SinkTook(20.5, Snapshot(1, (Record("a"),), 3)),
                SinkLeft(20.5, raising=True),
                Closed(20.5),
            ),
            1,
            Snapshot(0),
            "unordered",
            2,
            1,
            1,
            1,
            "no",
            3,
            8.5,
            0.5,
        ),
    ),
    self_reported=True,
    output="said",
)
