"""What Flink 2.3.0's operator was seen doing: 57 scenarios, each with the trace of its run.

They were played on the operator with its own queues, mailbox, state backend and serializers; clock,
loop and function were scripted. `tests/flink/known_traces.jsonl` holds one of them in each line:

- `scenario`: mode, capacity, `timeout_ms`, retry, scripts of function and handler, and events. Some
  of these are input (records, watermarks, statuses, a `snapshot` as a barrier, the end), which is
  held upstream while the operator is blocked; others come from outside (a call ends, time passes).
- `trace`: what was seen, each entry with `e`, the number of the event that was being played.

`on_fail` says whether a failed task does nothing more, or the bare operator goes on; `auto_drain`
whether all mails run after each event, or only with `run_mail`; `timer_lag_ms` how much later than
its time a timer fires.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from asyncwait.spec import Element, Record, Watermark, WatermarkStatus
from asyncwait.spec.snapshots import Stored

Entry: TypeAlias = dict[str, Any]
Event: TypeAlias = dict[str, Any]
Script: TypeAlias = dict[str, Entry]
"""What a function does for a value, as JSON, or for any, "*"."""

INPUTS = {"record", "watermark", "watermark_status", "snapshot", "end_input"}

HERE = Path(__file__).parents[1] / "flink"

T = TypeVar("T")


class Retrying(Struct, frozen=True, kw_only=True):
    """Flink's strategy of retries; `max_attempts` counts repetitions."""

    kind: Literal["fixed", "exponential"]
    max_attempts: int
    backoff_ms: int = 0
    initial_ms: int = 0
    max_ms: int = 0
    multiplier: float = 1.0
    if_empty: bool = False
    if_exception: bool = False


class Scenario(Struct, frozen=True, kw_only=True):
    """How an operator is made, and what happens to it."""

    mode: Literal["ordered", "unordered"]
    capacity: int
    timeout_ms: int | None
    events: list[Event]
    retry: Retrying | None = None
    on_invoke: Script = {}
    on_timeout: Script = {}
    on_fail: Literal["stop", "continue"] = "stop"
    auto_drain: bool = True
    timer_lag_ms: int = 0


class Known(Struct, frozen=True):
    """A scenario, and what was seen."""

    name: str
    scenario: Scenario
    trace: list[Entry]


@cache
def known_traces() -> tuple[Known, ...]:
    """All that was recorded."""
    return lines("known_traces.jsonl", Known)


def lines(name: str, kind: type[T]) -> tuple[T, ...]:
    """What a file beside the tests holds, one in each line."""
    read = (HERE / name).read_bytes().splitlines()
    return tuple(msgspec.json.decode(line, type=kind) for line in read)


def token_of(value: Any) -> str:
    """The word for a value, in scripts and in Java."""
    return json.dumps(value)


def scripted(script: Script, value: Any) -> Entry:
    """What a script has a function do for `value`; nothing if it doesn't say."""
    return script.get(token_of(value), script.get("*", {}))


def outcome_in(event: Event) -> Entry:
    """What a call comes to in an event, in the words of scripts."""
    match event:
        case {"results": results}:
            return {"complete": results}
        case {"supplier_error": error}:
            return {"supplier_error": error}
    return {"fail": event["error"]}


class Notes:
    """The trace of a run, while it is being written."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.event = -1
        """The number of the event that is being played."""
        self.snapshots: list[tuple[Stored, ...]] = []
        self._tells_of_block = True

    def add(self, kind: str, **said: Any) -> None:
        """Note what is seen."""
        self.entries.append({"e": self.event, "t": kind, **said})

    def invoke(self, value: Any) -> None:
        """Note a call: if the operator is blocked from then on, it is by another element."""
        self.add("invoke", value=value)
        self._tells_of_block = True

    def emit(self, element: Element) -> None:
        """Note an output."""
        match element:
            case Record(value, ts):
                self.add("emit", value=value, ts=ts)
            case Watermark(ts):
                self.add("emit_watermark", ts=ts)
            case WatermarkStatus(idle):
                self.add("emit_watermark_status", idle=idle)

    def snapshot(self, stored: tuple[Stored, ...]) -> None:
        """Note a snapshot, and keep it."""
        self.add("snapshot", n=len(self.snapshots), stored=[_shown(each) for each in stored])
        self.snapshots.append(stored)

    def blocked(self, on: str) -> None:
        """Note that the operator is blocked, once for each element."""
        if self._tells_of_block:
            self.add("blocked", on=on)
        self._tells_of_block = False

    def unblocked(self) -> None:
        """Take note that what the operator was busy with is over."""
        self._tells_of_block = True


def _shown(stored: Stored) -> Entry:
    match stored:
        case Record(value, ts):
            return {"value": value, "ts": ts}
        case Watermark(ts):
            return {"watermark": ts}
        case WatermarkStatus(idle):
            return {"idle": idle}
