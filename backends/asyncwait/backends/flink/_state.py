"""A snapshot in Flink's form: the elements of the operator's state, by key in key-ordered mode.

Flink stores a token for each record; Python keeps the record, because a value may have any type.
The key-ordered operator has keyed state, with another form:

For each key the state is a list of records, each with the watermark that opened its epoch (KO-11):

    a  W3  b         a is stored with the least of all watermarks, b with W3
    a  W3  W5  b     b is stored with W5, and W3 is lost
    a  b  W5         W5 is lost

Reading it returns the elements by epoch, the least first; within an epoch, the keys come in the
order in which Flink's restore would read them.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, TypeAlias

from asyncwait.backends.flink._jvm import flink, java
from asyncwait.backends.flink._surroundings import environment, operator_id, proxy, strings
from asyncwait.backends.flink._values import key_of
from asyncwait.spec import Record, Watermark, WatermarkStatus
from asyncwait.spec.snapshots import Stored

Restorable: TypeAlias = Record | Watermark
"""Elements that Flink's operators can restore."""

Reading: TypeAlias = Callable[[str], Record]
"""Returns the record of a token."""

Naming: TypeAlias = Callable[[Record], str]
"""Returns a new token for a record."""

_NAME = "_async_wait_operator_state_"
"""Name of the state in which Flink's operator keeps its elements (Flink's SN-6)."""

_BYTES = 1 << 24
_CHECKPOINT = 1


def initializer(env: Any) -> Any:
    """Return the initializer of an operator's state in its environment."""
    backend = flink("runtime.state.hashmap.HashMapStateBackend")()
    return flink("streaming.api.operators.StreamTaskStateInitializerImpl")(env, backend)


def taken_state(operator: Any) -> Any:
    """Make `operator` take a snapshot; return it in Flink's form."""
    operator.prepareSnapshotPreBarrier(_CHECKPOINT)
    futures = operator.snapshotState(_CHECKPOINT, 0, _options(), _streams())
    return finished(futures)


def read_state(state: Any, meaning: Reading) -> tuple[Stored, ...]:
    """Return the elements of a snapshot of Flink's."""

    def element(stored: Any) -> Stored:
        if stored.isWatermark():
            return Watermark(int(stored.asWatermark().getTimestamp()))
        return meaning(str(stored.asRecord().getValue()))

    return tuple(element(stored) for stored in _list_state(state_context(state)).get())


def written_state(elements: Iterable[Restorable], token: Naming) -> Any:
    """Return a snapshot of Flink's that contains `elements`."""
    context = state_context(None)
    state = _list_state(context)
    for element in elements:
        state.add(java_element(element, token))
    futures = flink("streaming.api.operators.OperatorSnapshotFutures")()
    futures.setOperatorStateManagedFuture(snapshot_of(context.operatorStateBackend()))
    return finished(futures)


def restorable(stored: tuple[Stored, ...]) -> tuple[tuple[Restorable, ...], tuple[Stored, ...]]:
    """Split stored elements before the first status, which Flink cannot restore (RS-6)."""
    for place, element in enumerate(stored):
        if isinstance(element, WatermarkStatus):
            return stored[:place], stored[place:]  # type: ignore[return-value]
    return stored, ()  # type: ignore[return-value]


def java_element(element: Restorable, token: Naming) -> Any:
    """Return `element` as an element of Flink's."""
    from jpype import JLong, JString

    if isinstance(element, Watermark):
        return flink("streaming.api.watermark.Watermark")(JLong(element.timestamp))
    record, value = flink("streaming.runtime.streamrecord.StreamRecord"), JString(token(element))
    when = element.timestamp
    return record(value) if when is None else record(value, JLong(when))


def state_context(state: Any, keys: Any = None) -> Any:
    """Return the state of an operator that is made only to read or write its state.

    Args:
        state: in Flink's form; None for none.
        keys: serializer of its keys; None for an operator without keys.
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
    """Make a state backend take a snapshot; return its future."""
    return backend.snapshot(_CHECKPOINT, 0, _streams(), _options())


def finished(futures: Any) -> Any:
    """Return the content of a snapshot in Flink's form."""
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


_KEYED_NAME = "_keyed_async_wait_operator_state_"
"""Name of the state in which Flink's key-ordered operator keeps its elements."""

_LEAST = Watermark(-(2**63))
"""Watermark that opens the first epoch."""


def read_keyed_state(state: Any, meaning: Reading) -> tuple[Stored, ...]:
    """Return the elements of a keyed snapshot of Flink's."""
    epochs: dict[int, list[Stored]] = {_LEAST.timestamp: []}
    for pair in _pairs(state_context(state, strings()).keyedStateBackend()):
        opened_by = int(pair.f1.asWatermark().getTimestamp())
        epoch = epochs.setdefault(opened_by, [Watermark(opened_by)])
        epoch.append(meaning(str(pair.f0.asRecord().getValue())))
    return tuple(element for _, epoch in sorted(epochs.items()) for element in epoch)


def _pairs(backend: Any) -> Iterator[Any]:
    """Yield each record with the watermark of its epoch, in the order of Flink's restore."""
    state, namespace = _keyed_list_state(backend), flink("runtime.state.VoidNamespace").INSTANCE
    for key in list(backend.getKeys(_KEYED_NAME, namespace).iterator()):
        backend.setCurrentKey(key)
        yield from state.get()


def written_keyed_state(elements: Iterable[Restorable], token: Naming) -> Any:
    """Return a snapshot of Flink's that contains `elements`, which are `restorable_by_key`."""
    backend = state_context(None, strings()).keyedStateBackend()
    state = _keyed_list_state(backend)
    for key, pairs in _by_key(elements, token).items():
        backend.setCurrentKey(key)
        state.update(pairs)
    futures = flink("streaming.api.operators.OperatorSnapshotFutures")()
    futures.setKeyedStateManagedFuture(snapshot_of(backend))
    return finished(futures)


def _by_key(elements: Iterable[Restorable], token: Naming) -> dict[str, Any]:
    pair, keys = flink("api.java.tuple.Tuple2"), dict[str, Any]()
    opened_by = java_element(_LEAST, token)
    for element in elements:
        stored = java_element(element, token)
        if isinstance(element, Watermark):
            opened_by = stored
        else:
            pairs = keys.setdefault(key_of(stored.getValue()), java("java.util.ArrayList")())
            pairs.add(pair(stored, opened_by))
    return keys


def restorable_by_key(
    stored: tuple[Stored, ...],
) -> tuple[tuple[Restorable, ...], tuple[Stored, ...]]:
    """Split stored elements at the first element that Flink's keyed state cannot restore.

    Flink cannot restore statuses (RS-6), nor watermarks that do not rise or have no record right
    behind them.
    """
    last = _LEAST.timestamp
    for place, (element, behind) in enumerate(pairwise((*stored, None))):
        if isinstance(element, Watermark) and element.timestamp > last:
            last = element.timestamp
            if isinstance(behind, Record):
                continue
        if not isinstance(element, Record):
            return stored[:place], stored[place:]  # type: ignore[return-value]
    return stored, ()  # type: ignore[return-value]


def _keyed_list_state(backend: Any) -> Any:
    from jpype import JArray

    element = flink("streaming.runtime.streamrecord.StreamElementSerializer")(strings())
    both = JArray(flink("api.common.typeutils.TypeSerializer"))([element, element])
    pair = flink("api.java.tuple.Tuple2").class_
    serializer = flink("api.java.typeutils.runtime.TupleSerializer")(pair, both)
    return backend.getPartitionedState(
        flink("runtime.state.VoidNamespace").INSTANCE,
        flink("runtime.state.VoidNamespaceSerializer").INSTANCE,
        flink("api.common.state.ListStateDescriptor")(_KEYED_NAME, serializer),
    )
