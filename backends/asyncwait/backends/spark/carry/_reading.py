"""The lanes of a checkpoint, read outside of its query."""

import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from heapq import merge
from itertools import starmap
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from asyncwait.spec import AsyncWaitError, Record, Snapshot
from asyncwait.spec.carry import Finished, InFlight, decode_lane
from asyncwait.spec.texts import one_line, shown

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


STATE = "lane"
"""The name of the state's one value."""


class StateHeld(Struct, frozen=True, array_like=True):
    """The value of a lane in the state.

    Args:
        columns: of its rows, in words.
        lane: as `asyncwait.spec.carry.encode_lane` writes it.
        about: the settings with which its rows were called, by name; digests of long ones.
    """

    columns: str
    lane: bytes
    about: dict[str, str] = {}


read_state = msgspec.msgpack.Decoder(StateHeld).decode


class CheckpointUnreadable(AsyncWaitError):
    """A folder is no checkpoint of carried calls, or can't be read or moved."""


class Held(Struct, frozen=True, omit_defaults=True):
    """A record of a lane, in values for JSON.

    Args:
        stamp: of the micro-batch that brought it, in milliseconds.
        value: its columns by name; the plain value if it has one column.
        key: by which it is ordered: a value, or a list; None outside of key-ordered mode.
        results: its output rows, by name; None while it is in flight.
    """

    stamp: int
    value: Any
    key: Any = None
    results: list[dict[str, Any]] | None = None


class LaneRead(Struct, frozen=True):
    """A lane after its last visit; see `asyncwait.spec.carry.LaneState`."""

    lane: int
    stamp: int | None
    in_flight: list[Held]
    finished: list[Held]


class CheckpointRead(Struct, frozen=True):
    """The lanes of an operator that hold records after a micro-batch.

    Args:
        begun: a later micro-batch that is not committed; None without one.
    """

    path: str
    operator: int
    batch: int
    begun: int | None
    lanes: tuple[LaneRead, ...]

    def snapshot(self) -> Snapshot:
        """Return the records in flight, and finished ones, because a snapshot has no results.

        Records of a lane keep their order. Lanes have no common order: they are merged by their
        micro-batches. Event times are columns here, and no part of the snapshot.
        """
        lanes = [(*lane.finished, *lane.in_flight) for lane in self.lanes]
        held = merge(*lanes, key=lambda each: each.stamp)
        return Snapshot(self.batch, tuple(Record(each.value, None, each.key) for each in held))


def read_checkpoint(
    session: "SparkSession", path: str, batch: int | None = None, operator: int | None = None
) -> CheckpointRead:
    """Return the content of the lanes of a checkpoint.

    Args:
        session: reads it.
        path: of the checkpoint, as Spark writes it.
        batch: the last micro-batch to include; None for the last committed one.
        operator: its number in the query; None for the only operator with carried calls.

    Raises:
        CheckpointUnreadable: there is none, or it is torn, or of another version.
    """
    with _told(path):
        begun = last_of(session, path, "offsets")
        found = operators_of(session, path)
        chosen: Any = min(found) if operator is None and len(found) == 1 else operator
        if chosen not in found:
            text = f"those that carry calls are {sorted(found)}"
            raise CheckpointUnreadable(f"expected an operator of {shown(path)}: {text}")
        last = found[chosen].maxBatchId
        at = last if batch is None else batch
        if not found[chosen].minBatchId <= at <= last:
            raise CheckpointUnreadable(f"{shown(path)} has micro-batches up to {last}, not {at}")
        reader = session.read.format("statestore").option("stateVarName", STATE)
        rows = reader.option("operatorId", chosen).option("batchId", at).load(path).collect()
    lanes = lanes_of(path, [(row.key.lane, bytes(row.value.state)) for row in rows])
    return CheckpointRead(path, chosen, at, begun if begun > last else None, lanes)


def operators_of(session: "SparkSession", path: str) -> dict[int, Any]:
    """Return Spark's data about the operators of a checkpoint that carry calls, by number."""
    with _told(path):
        known = session.read.format("state-metadata").load(path).collect()
        return {row.operatorId: row for row in known if _has(row.operatorProperties, STATE)}


@contextmanager
def _told(path: str) -> Generator[None]:
    try:
        yield
    except CheckpointUnreadable:
        raise
    except Exception as error:  # errors of the JVM have many classes
        said = str(getattr(error, "java_exception", None) or error).strip().partition("\n")[0]
        raise CheckpointUnreadable(f"{shown(path)} can't be read: {one_line(said)}") from error


def last_of(session: Any, path: str, log: str) -> int:
    """Return the last micro-batch in a log of a checkpoint; -1 for an empty log.

    Args:
        session: of the stream.
        path: of the checkpoint.
        log: "offsets" for micro-batches that have begun, "commits" for finished ones.

    Raises:
        CheckpointUnreadable: no checkpoint is there, or Spark can't read state at such a path.
    """
    to = session._jvm.org.apache.hadoop.fs.Path  # noqa: SLF001 - it knows all file systems
    uri = to(path).toUri()
    if uri.getRawPath() != uri.getPath():  # Spark reads states at the quoted path.
        raise CheckpointUnreadable(
            "expected a path without spaces and without [ ] { } % # ?, where Spark can't read "
            f"states, got {shown(path)}; stop the stream, move its checkpoint, and start it there"
        )
    files = to(path).getFileSystem(session._jsparkSession.sessionState().newHadoopConf())  # noqa: SLF001
    if not files.exists(to(to(path), "offsets")):
        raise CheckpointUnreadable(f"expected the checkpoint of a stream, got {shown(path)}")
    folder = to(to(path), log)
    names = [each.getPath().getName() for each in files.listStatus(folder)]
    return max((int(name) for name in names if _NUMBER.fullmatch(name)), default=-1)


_NUMBER = re.compile("[0-9]+")


def _has(properties: str, state: str) -> bool:
    variables = msgspec.json.decode(properties or "{}").get("stateVariables", ())
    return any(each["stateName"] == state for each in variables)


def lanes_of(path: str, states: Iterable[tuple[int, bytes]]) -> tuple[LaneRead, ...]:
    """Return the content of the states of lanes, with their numbers.

    Raises:
        CheckpointUnreadable: a value is no state, or of another version; `path` is for the error.
    """
    with _told(path):
        return tuple(starmap(_lane, sorted(states)))


def _lane(lane: int, data: bytes) -> LaneRead:
    decode, held = msgspec.msgpack.decode, read_state(data)
    state, (columns, results) = decode_lane(held.lane), column_names(held.columns)
    in_flight = [_held(each, columns, decode(each.record)) for each in state.in_flight]
    finished = []
    for each in state.finished:
        record, rows = decode(each.result)
        named = [dict(zip(results, row, strict=True)) for row in rows]
        finished.append(_held(each, columns, record, msgspec.to_builtins(named)))
    return LaneRead(lane, state.stamp, in_flight, finished)


def _held(item: InFlight | Finished, columns: list[str], cells: Any, results: Any = None) -> Held:
    cells = msgspec.to_builtins(cells)
    value = cells[0] if len(columns) == 1 else dict(zip(columns, cells, strict=True))
    key = msgspec.to_builtins(msgspec.msgpack.decode(item.key)) if item.key else [None]
    return Held(item.identity.stamp, value, key[0] if len(key) == 1 else key, results)


_PARTS = re.compile(r"`(?:[^`]|``)*`| -> |, |[<(\[]|[>)\]]|[^\s,`<>()\[\]]+|.", re.DOTALL)
"""Parts of the words in which a state describes its columns; see `columns_text`."""


def column_names(words: str) -> tuple[list[str], list[str]]:
    sides: tuple[list[str], list[str]] = [], []
    depth, side, begins = 0, 0, True
    for part in _PARTS.findall(words):
        if begins:
            sides[side].append(part[1:-1].replace("``", "`") if part[0] == "`" else part)
        depth += (part in {*"<(["}) - (part in {*">)]"})
        begins = depth == 0 and part in {", ", " -> "}
        side += begins and part == " -> "
    return sides
