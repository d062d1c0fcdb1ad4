"""What the checks of several areas ask of a leg."""

from collections.abc import Iterator

from asyncwait.conformance.judging._check import Finding
from asyncwait.conformance.judging._items import Item, Output
from asyncwait.conformance.judging._rest import LegHistory
from asyncwait.spec import Barrier, Snapshot


def failure_named(leg: LegHistory, name: str) -> Iterator[Finding]:
    """The leg fails with the error `name` if a record that was decided first has it coming."""
    blamed = [i for i in leg.records if i.wrong and i.decided_at == leg.fail_at]
    ending = leg.leg.ending
    if not blamed or any(i.wrong != name for i in blamed):
        return
    if ending.how == "finished":
        yield f"expected {name} for {blamed[0].element}, and the stream just ended", ending.at
    if ending.how != "failed":
        return
    if ending.error != name:
        yield f"expected {name}, got {ending.error}: {ending.detail}", ending.at
    elif ending.record not in [item.element for item in blamed]:
        yield (
            f"expected the record {blamed[0].element} in the error, got {ending.record}",
            ending.at,
        )
    else:
        yield None


def accounted_for(leg: LegHistory, output: Output) -> list[Item]:
    """Return the elements that a snapshot has to account for, in input order.

    Those before its barrier or, for a snapshot on demand, those it says were read.
    """
    barrier = barrier_of(leg, output)
    if barrier is not None:
        items = leg.items[: barrier.pos]
    else:
        assert isinstance(output.element, Snapshot)
        last = leg.leg.first_index + (output.element.read or 0)
        items = [item for item in leg.items if item.index is None or item.index < last]
    return [item for item in items if item.is_record or item.is_fence]


def barrier_id(item: Item) -> int | None:
    """Return the id of the snapshot that an input asks for; None if it asks for none."""
    element = item.element
    return element.checkpoint_id if isinstance(element, Barrier | Snapshot) else None


def barrier_of(leg: LegHistory, output: Output) -> Item | None:
    """Return the input that asked for a Snapshot that came out; None for one on request."""
    assert isinstance(output.element, Snapshot)
    checkpoint = output.element.checkpoint_id
    same = (item for item in leg.items if barrier_id(item) == checkpoint)
    return next(same, None)
