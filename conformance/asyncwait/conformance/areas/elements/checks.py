"""ELEM: the input of each output."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

from asyncwait.conformance.judging import (
    Finding,
    Item,
    LegHistory,
    Output,
    first_stray,
    holds,
    is_same,
    leg_check,
    misuses,
)
from asyncwait.spec import LatencyMarker, Record


@leg_check("ELEM-1", needs_times=False)
def results_carry_the_timestamp_of_their_record(leg: LegHistory) -> Iterator[Finding]:
    """Each result has the timestamp of the record that gave it."""
    yield from _carried(leg, "timestamp")


@leg_check("ELEM-2", needs_times=False)
def results_carry_the_key_of_their_record(leg: LegHistory) -> Iterator[Finding]:
    """Each result has the key of the record that gave it."""
    yield from _carried(leg, "key")


def _carried(leg: LegHistory, field: str) -> Iterator[Finding]:
    for output in leg.outputs:
        source, result = None if output.item is None else output.item.element, output.element
        if isinstance(result, Record) and isinstance(source, Record):
            own = getattr(source, field)
            text = f"expected {field} {own!r} of {output.item}, got {result}"
            yield None if is_same(getattr(result, field), own) else (text, output.at)


@leg_check("ELEM-3", needs_times=False)
def nothing_comes_out_that_no_input_gave(leg: LegHistory) -> Iterator[Finding]:
    """Each record that comes out is a result by which an input record was decided."""
    if leg.ending.error == "NotAnElement":
        yield leg.ending.detail, leg.end_at
    yield from _untroubled(leg, "invented", "is no result of any decided record")


@leg_check("ELEM-4", needs_times=False)
def no_result_comes_out_twice(leg: LegHistory) -> Iterator[Finding]:
    """Each result that comes out belongs to a record that has not given it yet."""
    yield from _untroubled(leg, "repeated", "came out once more than records gave it")


def _untroubled(leg: LegHistory, trouble: str, text: str) -> Iterator[Finding]:
    for output in leg.outputs:
        if isinstance(output.element, Record):
            wrong = output.trouble == trouble
            yield (f"{output.element} {text}", output.at) if wrong else None


@leg_check("ELEM-5")
def results_of_one_record_stay_together_in_order(leg: LegHistory) -> Iterator[Finding]:
    """After a result of a record its next result comes out, and nothing else."""
    several = [item for item in leg.records if len(item.results or ()) > 1]
    gaps = _gaps(leg)
    for item in several:
        if item.given:
            yield gaps.get(item)
    early = [(stray, item) for item in several if (stray := _out_of_turn(leg, item)) is not None]
    for stray, item in sorted(early, key=lambda each: each[0].seq):
        first, *_ = item.results or (None,)
        yield f"expected {first!r} of {item} first, got {stray.element}", stray.at


def _gaps(leg: LegHistory) -> Mapping[Item, Finding]:
    """Return, for each record, the first output in the place of its next result."""
    gaps: dict[Item, Finding] = {}
    for output, got in pairwise(leg.outputs):
        item, part = output.item, output.part + 1
        results = () if item is None else item.results or ()
        if item is not None and part < len(results) and (got.item, got.part) != (item, part):
            text = f"expected {results[part]!r} of {item} next, got {got.element}"
            gaps.setdefault(item, (text, got.at))
    return gaps


def _out_of_turn(leg: LegHistory, item: Item) -> Output | None:
    """Return a later result of `item` that came out between its decision and its first result."""
    _, *later = item.results or (None,)
    stray = first_stray(leg, later, after=item.decided_seq)
    return None if stray is None or item.is_begun_before(stray.seq) else stray


@leg_check("ELEM-6")
def latency_markers_overtake_what_waits(leg: LegHistory) -> Iterator[Finding]:
    """When time goes on for a waiting consumer, every latency marker that was read is out."""
    for rest in leg.waits:
        if (owed := rest.marker_owed) is not None:
            yield f"{owed} has not been passed on while the consumer waits", rest.at
    yield from holds(item.given for item in leg.of(LatencyMarker))


@leg_check("ELEM-7", needs_times=False)
def latency_markers_come_out_once_each(leg: LegHistory) -> Iterator[Finding]:
    """Each latency marker that comes out was read, and all markers are out before the end."""
    for output in leg.outputs:
        if isinstance(output.element, LatencyMarker):
            if output.item is None:
                yield f"{output.element} was {output.trouble or 'invented'}", output.at
            else:
                yield None
    if leg.ran_to_its_end:
        for item in leg.of(LatencyMarker):
            if not item.given:
                yield f"{item} never came out", leg.end_at


@leg_check("ELEM-8", needs_times=False)
def values_are_handed_on_as_they_are(leg: LegHistory) -> Iterator[Finding]:
    """If the harness can recognise values, no copy was seen."""
    if leg.scenario.tracked:
        yield from misuses(leg, "copied")
        yield from holds(leg.calls)
