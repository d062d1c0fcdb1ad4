"""The state of Flink's key-ordered operator, by Flink's own keyed state backend.

For each key it is a list of records, each with the watermark that opened its epoch (KO-11):

    a  W3  b         a is stored with the least of all watermarks, b with W3
    a  W3  W5  b     b is stored with W5, and W3 is lost
    a  b  W5         W5 is lost

What is read from it stands by epochs, the least first, in which keys come in the order in which
Flink's restore would go through them.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from asyncwait.backends.flink._jvm import flink, java
from asyncwait.backends.flink._keys import key_of
from asyncwait.backends.flink._state import (
    Naming,
    Reading,
    Restorable,
    finished,
    java_element,
    snapshot_of,
    state_context,
)
from asyncwait.backends.flink._surroundings import strings
from asyncwait.spec import Record, Stored, Watermark

_NAME = "_keyed_async_wait_operator_state_"
"""Under which Flink's operator keeps its elements."""

_LEAST = Watermark(-(2**63))
"""What the first epoch of all is opened by."""


def read_keyed_state(state: Any, meaning: Reading) -> tuple[Stored, ...]:
    """Return what a snapshot of Flink's holds."""
    epochs: dict[int, list[Stored]] = {_LEAST.timestamp: []}
    for pair in _pairs(state_context(state, strings()).keyedStateBackend()):
        opened_by = int(pair.f1.asWatermark().getTimestamp())
        epoch = epochs.setdefault(opened_by, [Watermark(opened_by)])
        epoch.append(meaning(str(pair.f0.asRecord().getValue())))
    return tuple(element for _, epoch in sorted(epochs.items()) for element in epoch)


def _pairs(backend: Any) -> Iterator[Any]:
    """Yield each record, with the watermark of its epoch, as Flink's restore goes through them."""
    state, namespace = _list_state(backend), flink("runtime.state.VoidNamespace").INSTANCE
    for key in list(backend.getKeys(_NAME, namespace).iterator()):
        backend.setCurrentKey(key)
        yield from state.get()


def written_keyed_state(elements: Iterable[Restorable], token: Naming) -> Any:
    """Return a snapshot of Flink's that holds `elements`, as far as they are `restorable_by_key`.

    Args:
        elements: in their order.
        token: what is to stand for a record, and tells its key.
    """
    backend = state_context(None, strings()).keyedStateBackend()
    state = _list_state(backend)
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
    """Split what was stored where Flink's own restore ends.

    It knows no statuses (RS-6), and watermarks only if they rise and have a record right behind.
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


def _list_state(backend: Any) -> Any:
    """Return the state that the operator has, which makes it of the same serializers."""
    from jpype import JArray

    element = flink("streaming.runtime.streamrecord.StreamElementSerializer")(strings())
    both = JArray(flink("api.common.typeutils.TypeSerializer"))([element, element])
    pair = flink("api.java.tuple.Tuple2").class_
    serializer = flink("api.java.typeutils.runtime.TupleSerializer")(pair, both)
    return backend.getPartitionedState(
        flink("runtime.state.VoidNamespace").INSTANCE,
        flink("runtime.state.VoidNamespaceSerializer").INSTANCE,
        flink("api.common.state.ListStateDescriptor")(_NAME, serializer),
    )
