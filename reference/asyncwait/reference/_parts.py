"""Classes of the operator's parts, and the function that opens an operator."""

from collections.abc import AsyncIterable, Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from asyncwait.reference._abandoned import CancelledCalls
from asyncwait.reference._batches import BatchCall, Gathering
from asyncwait.reference._cache import LoadCall, ResultCache
from asyncwait.reference._gate import Gate
from asyncwait.reference._handler import Attempt, ResultHandler
from asyncwait.reference._mailbox import TaskMailbox
from asyncwait.reference._operator import AsyncWaitOperator, KeyLines
from asyncwait.reference._output import Output
from asyncwait.reference._processor import MailboxProcessor
from asyncwait.reference._queues import (
    ElementQueue,
    KeyOrderedQueue,
    OrderedQueue,
    UnorderedQueue,
)
from asyncwait.reference._stream import ResultStream, SourceReader
from asyncwait.reference._task import StreamTask
from asyncwait.reference._timers import TimerService
from asyncwait.spec import Element, Mode, OpenOperator, OperatorConfig, Snapshot

QUEUES: Mapping[Mode, type[ElementQueue]] = MappingProxyType(
    {"ordered": OrderedQueue, "unordered": UnorderedQueue, "key-ordered": KeyOrderedQueue}
)


class Parts(Struct, frozen=True, kw_only=True):
    """Classes of the parts. A variation of the operator replaces some of them.

    Args:
        stream: opens and leaves the operator.
        task: runs the mailbox, and passes the input to the operator.
        mailbox: queue of mails.
        processor: loop over mails and input.
        source: reads the input.
        operator: admits elements.
        handler: decides one record, by attempts and deadline.
        attempt: calls the function for one record.
        gathering: collects attempts for batches.
        batch: calls the function for a batch.
        cache: keeps results by key.
        load: calls the function for a key.
        gate: lets calls wait until all limits have room for them.
        cancelled: finds cancelled calls that are abandoned.
        timers: fires deadlines, limits and back-offs.
        keys: lets records wait for their keys, in key-ordered mode.
        queues: queue of admitted elements, for each mode.
        output: the consumer's side.
    """

    stream: type[ResultStream] = ResultStream
    task: type[StreamTask] = StreamTask
    mailbox: type[TaskMailbox] = TaskMailbox
    processor: type[MailboxProcessor] = MailboxProcessor
    source: type[SourceReader] = SourceReader
    operator: type[AsyncWaitOperator] = AsyncWaitOperator
    handler: type[ResultHandler] = ResultHandler
    attempt: type[Attempt] = Attempt
    gathering: type[Gathering] = Gathering
    batch: type[BatchCall] = BatchCall
    cache: type[ResultCache] = ResultCache
    load: type[LoadCall] = LoadCall
    gate: type[Gate] = Gate
    cancelled: type[CancelledCalls] = CancelledCalls
    timers: type[TimerService] = TimerService
    keys: type[KeyLines] = KeyLines
    queues: Mapping[Mode, type[ElementQueue]] = QUEUES
    output: type[Output] = Output


REFERENCE = Parts()
"""The parts of the reference operator."""


def open_with(parts: Parts = REFERENCE) -> OpenOperator:
    """Return a function that opens operators with these parts.

    Args:
        parts: parts of the operators.
    """

    def open_operator(
        config: OperatorConfig,
        fn: Any,
        elements: AsyncIterable[Element],
        restore: Snapshot | None = None,
    ) -> ResultStream:
        """Open an operator; see `asyncwait.spec.OpenOperator`."""
        return parts.stream(parts, config, fn, elements, restore)

    return open_operator
