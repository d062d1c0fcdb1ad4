"""ELEM: what comes out belongs to what went in."""

from collections.abc import Iterator

from asyncwait.conformance.judging import Finding, LegHistory, leg_check
from asyncwait.spec import LatencyMarker, Record


@leg_check("ELEM-1")
def results_carry_the_timestamp_of_their_record(leg: LegHistory) -> Iterator[Finding]:
    for output in leg.outputs:
        if isinstance(output.element, Record) and output.item is not None:
            source = output.item.element
            assert isinstance(source, Record)
            if output.element.timestamp == source.timestamp:
                yield None
            else:
                yield f"expected timestamp {source.timestamp}, got {output.element}", output.at


@leg_check("ELEM-2")
def results_carry_the_key_of_their_record(leg: LegHistory) -> Iterator[Finding]:
    for output in leg.outputs:
        if isinstance(output.element, Record) and output.item is not None:
            source = output.item.element
            assert isinstance(source, Record)
            if output.element.key == source.key:
                yield None
            else:
                yield f"expected key {source.key!r}, got {output.element}", output.at


@leg_check("ELEM-3")
def nothing_comes_out_that_no_input_gave(leg: LegHistory) -> Iterator[Finding]:
    for output in leg.outputs:
        if isinstance(output.element, Record):
            if output.trouble == "invented":
                yield f"{output.element} is no result of any decided record", output.at
            else:
                yield None


@leg_check("ELEM-4")
def no_result_comes_out_twice(leg: LegHistory) -> Iterator[Finding]:
    for output in leg.outputs:
        if isinstance(output.element, Record):
            if output.trouble == "repeated":
                yield f"{output.element} came out once more than records gave it", output.at
            else:
                yield None


@leg_check("ELEM-5")
def results_of_one_record_stay_together_in_order(leg: LegHistory) -> Iterator[Finding]:
    for item in leg.records:
        if len(item.results or ()) > 1 and item.outputs:
            torn = next((o for o in leg.outputs if o.trouble == "torn" and o.seq > item.first_seq), None)
            missing = (item.results or ())[len(item.outputs) :]
            if torn is not None and missing:
                yield f"expected {missing[0]!r} of {item} next, got {torn.element}", torn.at
            else:
                yield None


@leg_check("ELEM-6")
def latency_markers_overtake_what_waits(leg: LegHistory) -> Iterator[Finding]:
    for rest in leg.rests:
        if rest.waiting and not rest.failed and (marker := rest.marker_owed()) is not None:
            yield f"{marker} has not been passed on while the consumer waits", rest.at
            return
    for item in leg.items:
        if isinstance(item.element, LatencyMarker) and item.outputs:
            yield None


@leg_check("ELEM-7")
def latency_markers_come_out_once_each(leg: LegHistory) -> Iterator[Finding]:
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
