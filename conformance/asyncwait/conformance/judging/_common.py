"""What the checks of several areas ask of a leg."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

from asyncwait.conformance.judging._check import Finding
from asyncwait.conformance.judging._leg import LegHistory
from asyncwait.conformance.judging._observe import NEVER, Item, Output
from asyncwait.spec import Record
from asyncwait.spec.scenario import PLANNED_ERRORS, identity


def failure_named(leg: LegHistory, name: str) -> Iterator[Finding]:
    """The leg fails with the error `name` if a record that was decided first has it coming."""
    blamed = first_failures(leg)
    ending = leg.ending
    if not blamed or any(item.wrong != name for item in blamed):
        return
    if ending.how == "finished":
        yield f"expected {name} for {blamed[0].element}, and the stream just ended", ending.at
    if ending.how != "failed":
        return
    if ending.error != name:
        yield f"expected {name}, got {ending.error}: {ending.detail}", ending.at
    elif set(blamed).isdisjoint(leg.named):
        yield (
            f"expected the record {blamed[0].element} in the error, got {ending.record}",
            ending.at,
        )
    else:
        yield None


def first_failures(leg: LegHistory) -> list[Item]:
    """Return the records that failed first; several if it was in one instant."""
    noticed = leg.facts.instants(leg.fail_at)[-1]
    return [item for item in leg.records if item.wrong and item.decided_at <= noticed]


_NAMED = frozenset(PLANNED_ERRORS["raise"]) - {""}
"""What plans call an error by the name of its class; all others are of the harness's own."""


def causes_of(item: Item, failure: str, cause: str) -> set[str]:
    """Return the class names that the cause of a record's failure may have; none if any may.

    Where it may have no cause, "" is among them.

    Args:
        item: the record.
        failure: name of the error.
        cause: class of its cause, where it is not what the call has raised.
    """
    if cause:
        return {cause}
    if failure == "CallTimedOut":
        return {"", "TimeoutError"}
    if failure != "CallFailed" or item.last is None:
        return set()
    error = item.last.step.error
    if item.timed_out or error not in _NAMED:
        return {"Planned"}
    # The language itself turns the one into the other where it leaves a coroutine.
    return {error, "RuntimeError"} if error == "StopIteration" else {error}


def either(names: Iterable[str]) -> str:
    """Return names of errors as a sentence has them; "" is the name of none."""
    return " or ".join(sorted(name or "none" for name in names))


class FirstBehind:
    """Finds when something first came out that was read behind some place.

    Args:
        items: what counts, in input order.
    """

    def __init__(self, items: Sequence[Item]) -> None:
        began = [item.first_seq if item.given else NEVER for item in items]
        self._places = [item.pos for item in items]
        self._earliest = [*accumulate(reversed([*began, NEVER]), min)][::-1]

    def __call__(self, pos: int) -> float:
        """Return the number of the first event at which something behind `pos` came out."""
        return self._earliest[bisect_right(self._places, pos)]


def first_stray(leg: LegHistory, values: Iterable[Any], *, after: int = -1) -> Output | None:
    """Return the first record that came out with one of `values` and that no record gave.

    Args:
        leg: of which it came.
        values: that are looked for.
        after: the number of an event; what came before does not count.
    """
    found: list[Output] = []
    for value in values:
        strays = leg.strays.get(identity(value), ())
        number = bisect_right(strays, after, key=lambda stray: stray.seq)
        found += strays[number : number + 1]
    return min(found, key=lambda stray: stray.seq, default=None)


def untimely_request(leg: LegHistory, item: Item, *, after: float, before: float) -> float | None:
    """Return when the handler was asked for the value of `item` though no such record was due.

    Args:
        leg: of which it is.
        item: a record.
        after: ms; only later requests count.
        before: ms; only earlier requests count.
    """
    assert isinstance(item.element, Record)
    asked = leg.untimely_at.get(identity(item.element.value), ())
    number = bisect_right(asked, after)
    return asked[number] if number < len(asked) and asked[number] < before else None


def blamed_for_timeout(leg: LegHistory) -> frozenset[Item]:
    """Return the records whose timeout the error may mean; if one of them did, it means that."""
    if leg.ending.error != "CallTimedOut":
        return frozenset()
    timed_out = frozenset(item for item in leg.named if item.timed_out)
    if not timed_out:
        return leg.named
    return timed_out if len(timed_out) == 1 else frozenset()


def early_timeout(leg: LegHistory, item: Item, blamed: frozenset[Item]) -> float | None:
    """Return when `item` was decided by time although it had not had its full time; None if not.

    Args:
        leg: of which it is.
        item: a record.
        blamed: those whose timeout the error may mean.
    """
    undecided_until = min(leg.deadline(item), item.decided_at)
    early = untimely_request(leg, item, after=item.at, before=undecided_until)
    if early is None and item in blamed and leg.end_at < leg.deadline(item):
        return leg.end_at
    return early


def held_back(leg: LegHistory) -> Iterator[Finding]:
    """Find a decided record that could come out while the consumer waits, and does not."""
    for rest in leg.rests:
        if rest.waiting and not rest.failed:
            held = rest.emittable
            if held is not None and held.is_record:
                yield f"{held} is decided, but the waiting consumer did not get it", rest.at
                return
    for item in leg.records:
        if item.given:
            yield None
