"""The partition operator without Spark: batches in, batches out, and a loop in its own thread.

That it keeps the rules is what `asyncwait verify spark` says; here is what no scenario can say.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pytest
from msgspec import DecodeError

from asyncwait.backends.spark._partition import Partition, on_elements
from asyncwait.backends.spark._rows import ElementRows
from asyncwait.spec import CallFailed, Element, OperatorConfig, Record
from asyncwait.spec.snapshots import NotPortable

ROWS = ElementRows()


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) == before


def batches_of(elements: Sequence[Element], size: int = 4) -> Iterator[pa.RecordBatch]:
    starts = range(0, len(elements), size)
    return iter([ROWS.encode(elements[start : start + size]) for start in starts])


def records(*values: Any) -> list[Element]:
    return [Record(value) for value in values]


def elements_of(batches: Iterator[pa.RecordBatch]) -> list[Element]:
    return [element for batch in batches for element in ROWS.decode(batch)]


def opened(batches: Any, fn: Any, **options: Any) -> Partition:
    config = OperatorConfig(options.pop("mode", "ordered"), capacity=options.pop("capacity", 100))
    rows = batches_of(records(*batches)) if isinstance(batches, str) else batches
    return Partition(rows, on_elements(config, fn), ROWS, **options)


async def echo(value: Any) -> list[Any]:
    if value == "x":
        raise LookupError("no such thing")
    return [value]


def test_the_input_is_read_a_bounded_way_ahead() -> None:
    read, emitted, most = 0, list[Element](), 0

    def batches() -> Iterator[pa.RecordBatch]:
        nonlocal read
        for start in range(0, 20_000, 100):
            read += 100
            yield ROWS.encode(records(*range(start, start + 100)))

    with opened(batches(), echo, capacity=10, batch_size=10) as partition:
        for batch in partition:
            emitted.extend(ROWS.decode(batch))
            assert batch.num_rows <= 10
            most = max(most, read - len(emitted))
    assert emitted == records(*range(20_000))
    # The operator holds ten and one, the reader a batch in use, two in its queue, one in hand.
    assert most <= 11 + 4 * 100 + 10


def test_a_failure_names_record_and_cause() -> None:
    inputs = [Record("a"), Record("x", 3), *records(*"bcdefghij")]
    batches = batches_of(inputs, 2)
    raised = []
    with opened(batches, echo) as partition:
        for _ in range(2):
            with pytest.raises(CallFailed) as caught:
                elements_of(partition)
            raised.append(caught.value)
    with pytest.raises(CallFailed) as caught:
        next(partition)

    error = caught.value
    assert raised == [error, error]
    assert (error.record, type(error.__cause__)) == (Record("x", 3), LookupError)
    (note,) = [note for note in error.__notes__ if "in echo" in note]
    assert note.endswith("LookupError: no such thing")
    assert list(batches) == []


def breaking_off() -> Iterator[pa.RecordBatch]:
    yield ROWS.encode(records("a", "b"))
    raise OSError("the connection is gone")


def with_a_bad_row() -> Iterator[pa.RecordBatch]:
    whole = ROWS.encode(records("b", "x", "c"))
    broken = pa.array([whole[1][0].as_py(), b"x", whole[1][2].as_py()])
    yield ROWS.encode(records("a"))
    yield whole.set_column(1, "element", broken)
    yield ROWS.encode(records("d"))


@pytest.mark.parametrize(
    ("batches", "error", "said"),
    [(breaking_off, OSError, "connection is gone"), (with_a_bad_row, DecodeError, "got `int`")],
)
def test_an_error_of_the_input_comes_last(
    batches: Callable[[], Iterator[Any]], error: type[Exception], said: str
) -> None:
    seen: list[Element] = []
    rows = batches()
    with opened(rows, echo) as partition, pytest.raises(error, match=said):
        seen.extend(element for batch in partition for element in ROWS.decode(batch))
    assert seen == records("a", "b")
    assert list(rows) == []


def test_a_result_that_fits_into_no_row_is_named() -> None:
    async def fn(value: str) -> list[Any]:
        return [{value}]

    with opened("a", fn) as partition:
        for _ in range(2):
            with pytest.raises(NotPortable, match=r"Record \{'a'\}"):
                next(partition)


def test_results_come_out_and_deadlines_hold_while_the_input_stalls() -> None:
    gate = threading.Event()

    def batches() -> Iterator[pa.RecordBatch]:
        yield ROWS.encode(records("a", "late"))
        assert gate.wait(30)
        yield ROWS.encode(records("b"))

    async def fn(value: str) -> list[str]:
        await asyncio.sleep(60 if value == "late" else 0)
        return [value]

    fn.timeout = lambda value: ["in time"]  # type: ignore[attr-defined]
    config = OperatorConfig("ordered", timeout=0.1)
    with Partition(batches(), on_elements(config, fn), ROWS, batch_size=1) as partition:
        assert [*ROWS.decode(next(partition)), *ROWS.decode(next(partition))] == records(
            "a", "in time"
        )
        gate.set()
        assert elements_of(partition) == records("b")


def test_closing_early_while_the_input_stalls() -> None:
    called: list[str] = []
    gate = threading.Event()

    def batches() -> Iterator[pa.RecordBatch]:
        yield ROWS.encode(records("a"))
        assert gate.wait(30)
        yield from batches_of(records(*"bcd" * 1_000), 1)

    async def fn(value: str) -> list[str]:
        called.append(value)
        return [value]

    rest = batches()
    with opened(rest, fn) as partition:
        next(partition)
        opener = threading.Timer(0, gate.set)
        partition._loop.ask(partition._host.close())
        opener.start()  # what is read from now on comes too late
    opener.join()
    assert called == ["a"]
    assert list(rest) == []


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_what_breaks_out_of_a_loop_reaches_who_reads(kind: type[BaseException]) -> None:
    async def fn(value: str) -> list[str]:
        if value == "x":
            raise kind("of this test")
        await asyncio.sleep(9)
        return [value]

    with pytest.raises(kind, match="of this test"), opened("abxc", fn) as partition:
        next(partition)
