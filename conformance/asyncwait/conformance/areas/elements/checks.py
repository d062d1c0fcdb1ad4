"""ELEM: what comes out belongs to what went in."""

from collections.abc import Iterator
from itertools import pairwise

from asyncwait.conformance.judging import Finding, Item, LegHistory, Output, leg_check
from asyncwait.spec import LatencyMarker, Record


@leg_check("ELEM-1")
def results_carry_the_timestamp_of_their_record(leg: LegHistory) -> Iterator[Finding]:
    """Each result has the timestamp of the record that gave it."""
    for output, result, source in _results(leg):
        if result.timestamp == source.timestamp:
            yield None
        else:
            yield f"expected timestamp {source.timestamp} of {output.item}, got {result}", output.at


@leg_check("ELEM-2")
def results_carry_the_key_of_their_record(leg: LegHistory) -> Iterator[Finding]:
    """Each result has the key of the record that gave it."""
    for output, result, source in _results(leg):
        if result.key == source.key:
            yield None
        else:
            yield f"expected key {source.key!r} of {output.item}, got {result}", output.at


def _results(leg: LegHistory) -> Iterator[tuple[Output, Record, Record]]:
    """Each output that is a result of a record of the input, itself, and that record."""
    for output in leg.outputs:
        source = None if output.item is None else output.item.element
        if isinstance(output.element, Record) and isinstance(source, Record):
            yield output, output.element, source


@leg_check("ELEM-3")
def nothing_comes_out_that_no_input_gave(leg: LegHistory) -> Iterator[Finding]:
    """Each record that comes out is a result with which a record of the input was decided."""
    if leg.leg.ending.error == "NotAnElement":
        yield leg.leg.ending.detail, leg.end_at
    for output in leg.outputs:
        if isinstance(output.element, Record):
            if output.trouble == "invented":
                yield f"{output.element} is no result of any decided record", output.at
            else:
                yield None


@leg_check("ELEM-4")
def no_result_comes_out_twice(leg: LegHistory) -> Iterator[Finding]:
    """For each result that comes out there is a record that has not given it yet."""
    for output in leg.outputs:
        if isinstance(output.element, Record):
            if output.trouble == "repeated":
                yield f"{output.element} came out once more than records gave it", output.at
            else:
                yield None


@leg_check("ELEM-5")
def results_of_one_record_stay_together_in_order(leg: LegHistory) -> Iterator[Finding]:
    """After one of several results of a record comes the next of them, and nothing else."""
    several = [item for item in leg.records if len(item.results or ()) > 1]
    for item in several:
        if item.outputs:
            yield _gap(leg, item)
    for output in leg.outputs:
        if output.trouble == "repeated":
            yield from (_out_of_turn(output, item) for item in several if _is_due(item, output))


def _gap(leg: LegHistory, item: Item) -> Finding:
    """Return what came where the next result of `item` should have come."""
    results = item.results or ()
    for output, got in pairwise(leg.outputs):
        part = output.part + 1
        if output.item is item and part < len(results) and (got.item, got.part) != (item, part):
            return f"expected {results[part]!r} of {item} next, got {got.element}", got.at
    return None


def _out_of_turn(output: Output, item: Item) -> Finding:
    """Return that `output` is a later result of `item`, whose first has not come out yet."""
    first, *later = item.results or (None,)
    if isinstance(output.element, Record) and output.element.value in later:
        return f"expected {first!r} of {item} first, got {output.element}", output.at
    return None


def _is_due(item: Item, output: Output) -> bool:
    """Whether `item` was decided when `output` came, and nothing of it was out."""
    return item.decided_seq < output.seq and not -1 < item.first_seq < output.seq


@leg_check("ELEM-6")
def latency_markers_overtake_what_waits(leg: LegHistory) -> Iterator[Finding]:
    """When time goes on for a waiting consumer, every latency marker that was taken is out."""
    for rest in leg.rests:
        if rest.waiting and not rest.failed and (marker := rest.marker_owed()) is not None:
            yield f"{marker} has not been passed on while the consumer waits", rest.at
            return
    for item in leg.items:
        if isinstance(item.element, LatencyMarker) and item.outputs:
            yield None


@leg_check("ELEM-7")
def latency_markers_come_out_once_each(leg: LegHistory) -> Iterator[Finding]:
    """Each latency marker that comes out was taken, and all of them are out before the end."""
    for output in leg.outputs:
        if isinstance(output.element, LatencyMarker):
            if output.item is None:
                yield f"{output.element} was {output.trouble or 'invented'}", output.at
            else:
                yield None
    if leg.ran_to_its_end:
        for item in leg.items:
            if isinstance(item.element, LatencyMarker) and not item.outputs:
                yield f"{item} never came out", leg.end_at
