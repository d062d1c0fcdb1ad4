"""The partition operator without Spark: batches in, batches out, and a loop in its own thread."""

import asyncio
import itertools
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any

import anyio
import pyarrow as pa
import pytest

from asyncwait.backends.spark._partition import Partition, on_elements, run_partition
from asyncwait.backends.spark._reader import InMemorySource, ThreadedSource
from asyncwait.backends.spark._rows import ElementRows
from asyncwait.conformance.harness import OutsideVirtualLoop
from asyncwait.spec import (
    Barrier,
    CallFailed,
    CallTimedOut,
    Element,
    InvalidConfig,
    OperatorConfig,
    Record,
    Snapshot,
    Watermark,
)
from asyncwait.spec.snapshots import NotPortable

ROWS = ElementRows()


class Virtual:
    """The two parameters by which a run on the virtual clock differs from a real one."""

    def __init__(self) -> None:
        self.loop = OutsideVirtualLoop()
        self.options: dict[str, Any] = {
            "loop_factory": lambda: self.loop,
            "reader": InMemorySource,
        }

    def now(self) -> int:
        """The ms since the loop began."""
        return round(self.loop.time() * 1000)

    def ask(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine on the loop, from outside."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(30)


@pytest.fixture
def virtual() -> Virtual:
    """A virtual clock."""
    return Virtual()


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    """No test leaves a thread behind."""
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) == before


def batches_of(elements: Sequence[Element], size: int = 4) -> Iterator[pa.RecordBatch]:
    """The rows of `elements`, so many to a batch."""
    starts = range(0, len(elements), size)
    return iter([ROWS.encode(elements[start : start + size]) for start in starts])


def records(*values: Any) -> list[Element]:
    """A record for each value."""
    return [Record(value) for value in values]


def elements_of(batches: Iterator[pa.RecordBatch]) -> list[Element]:
    """All elements in `batches`."""
    return [element for batch in batches for element in ROWS.decode(batch)]


async def echo(value: Any) -> list[Any]:
    """Answer with the value."""
    return [value]


def answering(durations: dict[Any, float]) -> Callable[[Any], Coroutine[Any, Any, list[Any]]]:
    """A function that takes so many seconds for a value."""

    async def answer(value: Any) -> list[Any]:
        await asyncio.sleep(durations.get(value, 0))
        return [f"{value}!"]

    return answer


@pytest.mark.parametrize("reader", [ThreadedSource, InMemorySource])
@pytest.mark.parametrize("count", [0, 1, 7, 2_000])
def test_every_record_comes_out_in_order(reader: Any, count: int) -> None:
    """On the real clock, through either reader, however the input is cut."""
    inputs = records(*range(count))
    results = run_partition(
        batches_of(inputs, 700), on_elements(OperatorConfig(capacity=50), echo), ROWS, reader=reader
    )
    assert elements_of(results) == inputs


def test_results_come_as_they_are_ready(virtual: Virtual) -> None:
    """A batch waits for its first row only, and holds all that is there with it."""
    config = OperatorConfig("unordered", capacity=4)
    fn = answering({"a": 0.2, "b": 0.1, "c": 0.1, "d": 0.3})
    with Partition(
        batches_of(records(*"abcd")), on_elements(config, fn), ROWS, **virtual.options
    ) as partition:
        seen = [(virtual.now(), [e.value for e in ROWS.decode(batch)]) for batch in partition]
    assert seen == [(100, ["b!", "c!"]), (200, ["a!"]), (300, ["d!"])]


def test_batches_are_no_larger_than_asked_for(virtual: Virtual) -> None:
    """What does not fit stays where it is, and comes next."""
    results = run_partition(
        batches_of(records(*range(7))),
        on_elements(OperatorConfig(capacity=7), echo),
        ROWS,
        batch_size=3,
        **virtual.options,
    )
    assert [batch.num_rows for batch in results] == [3, 3, 1]


def test_unread_output_stops_no_call_and_no_deadline(virtual: Virtual) -> None:
    """While nobody reads, calls end in time, and a deadline asks its handler when it is due."""
    ended = []

    async def fn(value: str) -> list[str]:
        await asyncio.sleep(9 if value == "never" else 0.04)
        ended.append((virtual.now(), value))
        return [value]

    def late(value: str) -> list[str]:
        ended.append((virtual.now(), f"{value} is late"))
        return ["late"]

    fn.timeout = late  # type: ignore[attr-defined]
    config = OperatorConfig(capacity=3, timeout=0.08)
    inputs = records("a", "never", "b", "c")
    with Partition(
        batches_of(inputs), on_elements(config, fn), ROWS, **virtual.options
    ) as partition:
        virtual.ask(asyncio.sleep(0.24))
        assert ended == [(40, "a"), (40, "b"), (80, "never is late")]
        assert elements_of(partition) == records("a", "late", "b", "c")
    assert ended[3:] == [(280, "c")]


def test_stalled_input_stops_no_call() -> None:
    """Results come out while the input waits for them before it goes on."""
    came_out = threading.Event()

    def batches() -> Iterator[pa.RecordBatch]:
        yield ROWS.encode(records("a", "b"))
        assert came_out.wait(30)
        yield ROWS.encode(records("c"))

    results = run_partition(batches(), on_elements(OperatorConfig(), echo), ROWS)
    seen = []
    for batch in results:
        seen += ROWS.decode(batch)
        if len(seen) == 2:
            came_out.set()
    assert seen == records("a", "b", "c")


def test_the_input_is_read_a_bounded_way_ahead() -> None:
    """However long it is, not more is held than the operator and the reader have room for."""
    read = 0

    def batches() -> Iterator[pa.RecordBatch]:
        nonlocal read
        for start in range(0, 20_000, 100):
            read += 100
            yield ROWS.encode(records(*range(start, start + 100)))

    emitted, most = 0, 0
    for batch in run_partition(
        batches(), on_elements(OperatorConfig(capacity=10), echo), ROWS, batch_size=10
    ):
        emitted += batch.num_rows
        most = max(most, read - emitted)
    assert emitted == 20_000
    # The operator holds ten and one, the reader a batch in use, two in its queue, one in hand.
    assert most <= 11 + 4 * 100 + 10


def test_snapshots_and_watermarks_pass(virtual: Virtual) -> None:
    """Elements of every kind go through, and a barrier becomes a snapshot."""
    inputs: list[Element] = [Record("a", 1), Watermark(1), Barrier(5), Record("b", 2)]
    results = elements_of(
        run_partition(
            batches_of(inputs),
            on_elements(OperatorConfig(), answering({"a": 0.1})),
            ROWS,
            **virtual.options,
        )
    )
    snapshot = Snapshot(5, (Record("a", 1), Watermark(1)))
    assert results == [snapshot, Record("a!", 1), Watermark(1), Record("b!", 2)]


def test_a_snapshot_is_gone_on_from(virtual: Virtual) -> None:
    """What was in flight comes before the first row."""
    results = run_partition(
        batches_of(records("c")),
        on_elements(OperatorConfig(), echo, Snapshot(1, (Record("a"), Record("b")))),
        ROWS,
        **virtual.options,
    )
    assert elements_of(results) == records("a", "b", "c")


async def fail_on_x(value: str) -> list[str]:
    """Answer with the value, but raise for x."""
    if value == "x":
        raise LookupError("no such thing")
    return [value]


@pytest.mark.parametrize("reader", [ThreadedSource, InMemorySource])
def test_a_failure_names_record_and_cause(reader: Any) -> None:
    """The error is the operator's own; its cause is the user's, and is shown in a note, too."""
    batches = batches_of([Record("a"), Record("x", 3), *records(*"bcdefghij")], 2)
    results = run_partition(batches, on_elements(OperatorConfig(), fail_on_x), ROWS, reader=reader)
    with pytest.raises(CallFailed) as raised:
        elements_of(results)
    assert str(raised.value) == "Record 'x' @ 3: the call failed: LookupError('no such thing')"
    assert raised.value.record == Record("x", 3)
    assert isinstance(raised.value.__cause__, LookupError)
    (note,) = raised.value.__notes__
    assert "in fail_on_x" in note
    assert note.endswith("LookupError: no such thing")
    assert list(batches) == []


def test_after_a_failure_the_same_error_comes_again() -> None:
    """Reading on gives the error again, before closing and after, and no second note."""
    with Partition(
        batches_of(records("x")), on_elements(OperatorConfig(), fail_on_x), ROWS
    ) as partition:
        errors = []
        for _ in range(2):
            with pytest.raises(CallFailed) as raised:
                next(partition)
            errors.append(raised.value)
    with pytest.raises(CallFailed) as after:
        next(partition)
    assert errors == [after.value, after.value]
    assert len(after.value.__notes__) == 1


def test_after_the_end_the_end_comes_again() -> None:
    """Reading on gives the end again, before closing and after."""
    with Partition(iter([]), on_elements(OperatorConfig(), echo), ROWS) as partition:
        assert list(partition) == []
        assert list(partition) == []
    assert list(partition) == []


def test_a_failure_waits_for_nothing(virtual: Virtual) -> None:
    """It is raised in the instant in which it is decided; the clean-up of others comes after."""

    async def fn(value: str) -> list[str]:
        if value == "x":
            await asyncio.sleep(0.04)
            raise LookupError
        try:
            await asyncio.sleep(9)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.08)
        return []

    partition = Partition(
        batches_of(records("a", "x")), on_elements(OperatorConfig(), fn), ROWS, **virtual.options
    )
    with pytest.raises(CallFailed):
        next(partition)
    assert virtual.now() == 40
    partition.close()
    assert virtual.now() == 120


def test_a_deadline_without_a_handler_is_a_failure(virtual: Virtual) -> None:
    """The error names the record and the time."""
    config = OperatorConfig(timeout=0.5)
    results = run_partition(
        batches_of(records("a")), on_elements(config, answering({"a": 1})), ROWS, **virtual.options
    )
    with pytest.raises(CallTimedOut, match=r"Record 'a': no results after 0\.5 s"):
        elements_of(results)


@pytest.mark.parametrize("reader", [ThreadedSource, InMemorySource])
def test_an_error_of_the_input_comes_last_and_unchanged(reader: Any) -> None:
    """All that was read before it comes out first."""
    error = OSError("the connection is gone")

    def batches() -> Iterator[pa.RecordBatch]:
        yield ROWS.encode(records("a", "b"))
        raise error

    seen: list[Element] = []
    results = run_partition(batches(), on_elements(OperatorConfig(), echo), ROWS, reader=reader)
    with pytest.raises(OSError, match="connection is gone") as raised:
        seen.extend(element for batch in results for element in ROWS.decode(batch))
    assert raised.value is error
    assert seen == records("a", "b")


@pytest.mark.parametrize("reader", [ThreadedSource, InMemorySource])
def test_a_row_that_cannot_be_decoded_is_an_error_of_the_input(reader: Any) -> None:
    """The rows before it count, those behind it are read and dropped."""
    kinds = pa.array(["record", "recrod", "record"])
    bad = ROWS.encode(records("b", "x", "c")).set_column(0, "kind", kinds)
    batches = iter([ROWS.encode(records("a")), bad, ROWS.encode(records("d"))])
    seen: list[Element] = []
    results = run_partition(batches, on_elements(OperatorConfig(), echo), ROWS, reader=reader)
    with pytest.raises(ValueError, match="got 'recrod'"):
        seen.extend(element for batch in results for element in ROWS.decode(batch))
    assert seen == records("a", "b")
    assert list(batches) == []


def test_a_result_that_fits_into_no_row_is_named() -> None:
    """It ends the stream like a failure does: further reads give the same error."""

    async def fn(value: str) -> list[Any]:
        return [{value}]

    with Partition(batches_of(records("a")), on_elements(OperatorConfig(), fn), ROWS) as partition:
        for _ in range(2):
            with pytest.raises(NotPortable, match=r"Record \{'a'\}: value does not fit"):
                next(partition)


def test_closing_early_cancels_what_runs_and_waits_for_it(virtual: Virtual) -> None:
    """Dropping the generator is enough; the input is read to its end all the same."""
    ended = []

    async def fn(value: str) -> list[str]:
        try:
            await asyncio.sleep(0 if value == "a" else 9)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.08)
            ended.append((virtual.now(), value))
        return [value]

    batches = batches_of(records(*"abcdefgh"), 1)
    config = OperatorConfig(capacity=2)
    results = run_partition(batches, on_elements(config, fn), ROWS, **virtual.options)
    assert list(ROWS.decode(next(results))) == records("a")
    results.close()  # type: ignore[attr-defined]
    assert sorted(ended) == [(80, "a"), (160, "b"), (160, "c")]
    assert list(batches) == []


def test_closing_early_while_the_input_stalls() -> None:
    """The reader goes on to the end of the input, and nobody gets what it reads."""
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
    with Partition(rest, on_elements(OperatorConfig(), fn), ROWS) as partition:
        next(partition)
        opener = threading.Timer(0, gate.set)
        partition._loop.ask(partition._host.close())
        opener.start()  # what is read from now on comes too late
    opener.join()
    assert called == ["a"]
    assert list(rest) == []


def test_a_partition_that_nobody_reads_is_closed_like_any_other() -> None:
    """No thread is started for its input, which is drained nevertheless."""
    batches = batches_of(records(*"abc"), 1)
    results = run_partition(batches, on_elements(OperatorConfig(), echo), ROWS)
    results.close()  # type: ignore[attr-defined]
    assert len(list(batches)) == 3  # a generator that never began has taken nothing
    batches = batches_of(records(*"abc"), 1)
    Partition(batches, on_elements(OperatorConfig(), echo), ROWS).close()
    assert list(batches) == []


def test_closing_twice_is_closing_once() -> None:
    """The second time nothing happens."""
    partition = Partition(batches_of(records("a")), on_elements(OperatorConfig(), echo), ROWS)
    partition.close()
    partition.close()
    assert list(partition) == []


def test_hooks_run_on_the_loop() -> None:
    """`open` before the first call, `close` after the last, in the thread of the calls."""
    seen: list[tuple[str, str]] = []

    def note(what: str) -> None:
        seen.append((what, threading.current_thread().name))

    class Client:
        async def __call__(self, value: str) -> list[str]:
            note(value)
            return [value]

        async def open(self) -> None:
            note("open")

        def close(self) -> None:
            note("close")

    elements_of(
        run_partition(batches_of(records("a")), on_elements(OperatorConfig(), Client()), ROWS)
    )
    assert seen == [(what, "asyncwait-loop") for what in ("open", "a", "close")]


def test_an_error_of_open_is_raised_at_once() -> None:
    """Nothing is left behind, and the input is drained."""

    class Client:
        async def __call__(self, value: str) -> list[str]:
            return [value]

        async def open(self) -> None:
            raise ConnectionError("refused")

    batches = batches_of(records(*"abc"), 1)
    with pytest.raises(ConnectionError, match="refused"):
        Partition(batches, on_elements(OperatorConfig(), Client()), ROWS)
    assert list(batches) == []


def test_a_wrong_argument_is_refused_when_it_is_given() -> None:
    """`InvalidConfig` comes out of opening, as it does from any operator."""
    with pytest.raises(InvalidConfig, match="fn must be"):
        Partition(iter([]), on_elements(OperatorConfig(), 5), ROWS)


class Stubborn(InMemorySource):
    """An input that does not let itself be closed."""

    async def aclose(self) -> None:
        """Raise."""
        raise ConnectionError("stays open")


def test_an_input_that_does_not_close_is_told_of() -> None:
    """Everything came out, and the error comes after it."""
    results = run_partition(
        batches_of(records("a")), on_elements(OperatorConfig(), echo), ROWS, reader=Stubborn
    )
    assert elements_of(itertools.islice(results, 1)) == records("a")
    with pytest.raises(ConnectionError, match="stays open"):
        next(results)


def test_an_input_that_does_not_close_hides_no_failure() -> None:
    """What went wrong first is what is raised."""
    results = run_partition(
        batches_of(records("x")), on_elements(OperatorConfig(), fail_on_x), ROWS, reader=Stubborn
    )
    with pytest.raises(CallFailed):
        next(results)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_what_breaks_out_of_a_loop_reaches_who_reads(kind: type[BaseException]) -> None:
    """A call that ends the process ends the partition, and its threads."""

    async def fn(value: str) -> list[str]:
        if value == "x":
            raise kind("of this test")
        await asyncio.sleep(9)
        return [value]

    with pytest.raises(kind, match="of this test"):
        elements_of(
            run_partition(batches_of(records(*"abxc")), on_elements(OperatorConfig(), fn), ROWS)
        )


def test_an_interrupt_of_the_reader_closes_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the thread that waits for results is no reason to leave threads behind."""

    async def fn(value: str) -> list[str]:
        await asyncio.sleep(9)
        return [value]

    results = Partition(batches_of(records("a")), on_elements(OperatorConfig(), fn), ROWS)
    asked = asyncio.run_coroutine_threadsafe

    class Interrupted:
        def __init__(self, *args: Any) -> None:
            self._future = asked(*args)

        def result(self) -> Any:
            raise KeyboardInterrupt

        def cancel(self) -> None:
            self._future.cancel()

    with results:
        with monkeypatch.context() as patch:
            patch.setattr(asyncio, "run_coroutine_threadsafe", Interrupted)
            with pytest.raises(KeyboardInterrupt):
                next(results)
        with pytest.raises(KeyboardInterrupt):
            next(results)


def test_tasks_that_user_code_leaves_behind_are_ended() -> None:
    """They are cancelled when the operator is gone, as `asyncio.run` would do."""
    ended: list[str] = []

    async def background() -> None:
        try:
            await asyncio.sleep(9)
        finally:
            await asyncio.sleep(0)
            ended.append("background")

    async def fn(value: str) -> list[str]:
        tasks.append(asyncio.create_task(background()))
        await asyncio.sleep(0)
        return [value]

    tasks: list[asyncio.Task[None]] = []
    assert elements_of(
        run_partition(batches_of(records("a")), on_elements(OperatorConfig(), fn), ROWS)
    ) == records("a")
    assert ended == ["background"]


def test_figures_are_there_during_the_run_and_after(virtual: Virtual) -> None:
    """They are those of the operator."""
    config = OperatorConfig(capacity=2)
    fn = answering({"a": 0.1, "b": 0.1})
    with Partition(
        batches_of(records(*"abc")), on_elements(config, fn), ROWS, **virtual.options
    ) as partition:
        before = partition.statistics()
        assert (before.in_flight, before.waiting, before.calls) == (2, 1, 2)
        assert len(elements_of(partition)) == 3
    after = partition.statistics()
    assert (after.in_flight, after.calls, after.max_in_flight) == (0, 3, 2)


def test_figures_can_be_read_on_the_loop(virtual: Virtual) -> None:
    """As a call does, which can't wait for its own loop."""
    seen: list[int] = []

    async def fn(value: str) -> list[str]:
        await asyncio.sleep(0.1)  # until somebody waits outside
        seen.append(partition.statistics().calls)
        return [value]

    with Partition(
        batches_of(records("a")), on_elements(OperatorConfig(), fn), ROWS, **virtual.options
    ) as partition:
        assert elements_of(partition) == records("a")
    assert seen == [1]
