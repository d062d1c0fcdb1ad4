"""The Snapshots that came out of a leg, and what each has to account for."""

from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator, Sequence
from itertools import takewhile

from msgspec import Struct

from asyncwait.conformance.judging._observe import Identity, Item, Output, identity_of
from asyncwait.spec import Snapshot


class SnapshotOut(Struct, frozen=True, eq=False):
    """One Snapshot that the consumer took.

    Args:
        output: itself, as one of the outputs.
        element: what came out.
        barrier: the input that asked for it; None for one on request.
        bound: how many of the leg's inputs it has to account for: those before its barrier or,
            on request, those that it says were read.
        stored: the identities of what it holds.
    """

    output: Output
    element: Snapshot
    barrier: Item | None
    bound: int
    stored: tuple[Identity, ...]

    @property
    def checkpoint_id(self) -> int:
        """The id that it was asked for with."""
        return self.element.checkpoint_id

    @property
    def at(self) -> float:
        """When it came out, in ms since the leg began."""
        return self.output.at

    @property
    def seq(self) -> int:
        """The number of that event."""
        return self.output.seq


def snapshots_out(items: Sequence[Item], outputs: Sequence[Output]) -> tuple[SnapshotOut, ...]:
    """Return the Snapshots among `outputs`, each with what it has to account for.

    Args:
        items: what became of its inputs.
        outputs: what came out of it.
    """
    asked_by = {item.checkpoint_id: item for item in reversed(items)}
    restored = sum(item.index is None for item in items)
    found = []
    for output in outputs:
        if isinstance(output.element, Snapshot):
            snapshot = output.element
            barrier = asked_by.get(snapshot.checkpoint_id)
            read = restored + max(0, snapshot.read or 0)
            bound = min(len(items), read) if barrier is None else barrier.pos
            stored = tuple(map(identity_of, snapshot.in_flight))
            found.append(SnapshotOut(output, snapshot, barrier, bound, stored))
    return tuple(found)


class Held:
    """What a Snapshot has to hold, and what it may: moved on from each Snapshot to the next.

    Each answer comes element by element, so that who stops at the first that is wrong has looked
    at no more elements than the Snapshot holds.

    Args:
        items: what the operator had to deal with.
    """

    def __init__(self, items: Sequence[Item]) -> None:
        stored = [item for item in items if item.is_stored]
        self._bound = 0
        self._must = OrderedDict((item.pos, item) for item in stored)
        self._may: dict[Identity, OrderedDict[int, Item]] = defaultdict(OrderedDict)
        for item in stored:
            self._may[item.identity][item.pos] = item
        out = (item for item in stored if item.emitted_seq >= 0)
        self._out = deque(sorted(out, key=lambda item: item.emitted_seq))
        silent = (item for item in stored if item.results == ())
        self._silent = deque(sorted(silent, key=lambda item: item.decided_at))

    def move_to(self, snapshot: SnapshotOut) -> None:
        """Take away what is gone by the time at which `snapshot` comes out."""
        self._bound = snapshot.bound
        while self._out and self._out[0].is_out_before(snapshot.seq):
            item = self._out.popleft()
            self._must.pop(item.pos, None)
            del self._may[item.identity][item.pos]
        while self._silent and self._silent[0].decided_at <= snapshot.at:
            self._must.pop(self._silent.popleft().pos, None)

    def must(self) -> Iterator[Item]:
        """Yield what it must hold: all that was read before it and is not gone."""
        return takewhile(self._is_read, self._must.values())

    def may(self, identity: Identity) -> Iterator[Item]:
        """Yield what it may hold of one identity: records without results need not be gone."""
        return takewhile(self._is_read, self._may.get(identity, {}).values())

    def _is_read(self, item: Item) -> bool:
        return item.pos < self._bound


def held_at(
    snapshots: Sequence[SnapshotOut], items: Sequence[Item]
) -> Iterator[tuple[SnapshotOut, Held]]:
    """Yield each Snapshot with what it has to hold; see `Held`."""
    if not snapshots:
        return
    held = Held(items)
    for snapshot in snapshots:
        held.move_to(snapshot)
        yield snapshot, held
