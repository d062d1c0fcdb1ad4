"""The state of Flink's operator: written and read by Flink's own state backend and serializer.

What is stored stands for its elements: a token for each record, whose meaning Python keeps, since a
value may be anything. The key-ordered operator has keyed state, which is in `_keyed_state`.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from asyncwait.backends.flink._jvm import flink
from asyncwait.backends.flink._surroundings import environment, operator_id, proxy, strings
from asyncwait.spec import Record, Stored, Watermark, WatermarkStatus

Restorable: TypeAlias = Record | Watermark
"""What Flink's operators can be restored from."""

Reading: TypeAlias = Callable[[str], Record]
"""Returns the record that a token stands for."""

Naming: TypeAlias = Callable[[Record], str]
"""Returns a new token for a record."""

_NAME = "_async_wait_operator_state_"
"""Under which Flink's operator keeps its elements (Flink's SN-6)."""

_BYTES = 1 << 24
_CHECKPOINT = 1


def initializer(env: Any) -> Any:
    """Return what makes the state of an operator in its surroundings."""
    backend = flink("runtime.state.hashmap.HashMapStateBackend")()
    return flink("streaming.api.operators.StreamTaskStateInitializerImpl")(env, backend)


def taken_state(operator: Any) -> Any:
    """Have `operator` take a snapshot; return it as Flink keeps it."""
    operator.prepareSnapshotPreBarrier(_CHECKPOINT)
    futures = operator.snapshotState(_CHECKPOINT, 0, _options(), _streams())
    return finished(futures)


def read_state(state: Any, meaning: Reading) -> tuple[Stored, ...]:
    """Return what a snapshot of Flink's holds."""

    def element(stored: Any) -> Stored:
        if stored.isWatermark():
            return Watermark(int(stored.asWatermark().getTimestamp()))
        return meaning(str(stored.asRecord().getValue()))

    return tuple(element(stored) for stored in _list_state(state_context(state)).get())


def written_state(elements: Iterable[Restorable], token: Naming) -> Any:
    """Return a snapshot of Flink's that holds `elements`: records and watermarks."""
    context = state_context(None)
    state = _list_state(context)
    for element in elements:
        state.add(java_element(element, token))
    futures = flink("streaming.api.operators.OperatorSnapshotFutures")()
    futures.setOperatorStateManagedFuture(snapshot_of(context.operatorStateBackend()))
    return finished(futures)


def restorable(stored: tuple[Stored, ...]) -> tuple[tuple[Restorable, ...], tuple[Stored, ...]]:
    """Split what was stored where Flink's own restore ends: it knows no statuses (RS-6)."""
    for place, element in enumerate(stored):
        if isinstance(element, WatermarkStatus):
            return stored[:place], stored[place:]  # type: ignore[return-value]
    return stored, ()  # type: ignore[return-value]


def java_element(element: Restorable, token: Naming) -> Any:
    """Return what Flink takes for `element`."""
    from jpype import JLong, JString

    if isinstance(element, Watermark):
        return flink("streaming.api.watermark.Watermark")(JLong(element.timestamp))
    record, value = flink("streaming.runtime.streamrecord.StreamRecord"), JString(token(element))
    when = element.timestamp
    return record(value) if when is None else record(value, JLong(when))


def state_context(state: Any, keys: Any = None) -> Any:
    """Return the state of an operator that is only there to be read or written.

    Args:
        state: as Flink keeps it; None for nothing.
        keys: serializer of its keys; None if it has none.
    """
    metrics = flink("runtime.metrics.groups.UnregisteredMetricGroups")
    return initializer(environment(state, lambda _: None)).streamOperatorStateContext(
        operator_id(),
        "asyncwait",
        proxy("streaming.runtime.tasks.ProcessingTimeService", {}),
        proxy("streaming.api.operators.KeyContext", {}),
        keys,
        flink("core.fs.CloseableRegistry")(),
        metrics.createUnregisteredOperatorMetricGroup(),
        1.0,
        False,
        False,
    )


def snapshot_of(backend: Any) -> Any:
    """Have a state backend take a snapshot; return its future."""
    return backend.snapshot(_CHECKPOINT, 0, _streams(), _options())


def finished(futures: Any) -> Any:
    """Return what a snapshot holds, as Flink keeps it."""
    done = flink("streaming.api.operators.OperatorSnapshotFinalizer").create(futures)
    return done.getJobManagerOwnedState()


def _list_state(context: Any) -> Any:
    serializer = flink("streaming.runtime.streamrecord.StreamElementSerializer")(strings())
    descriptor = flink("api.common.state.ListStateDescriptor")(_NAME, serializer)
    return context.operatorStateBackend().getListState(descriptor)


def _options() -> Any:
    return flink("runtime.checkpoint.CheckpointOptions").forCheckpointWithDefaultLocation()


def _streams() -> Any:
    return flink("runtime.state.memory.MemCheckpointStreamFactory")(_BYTES)
