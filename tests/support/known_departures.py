"""Where the reference shows something else than Flink in a known scenario, and how they compare.

`tests/flink/known_departures.jsonl` names each such place, with the row of `departures.md` that it
is an instance of. What is not named there is to be the same.
"""

import json
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import groupby

from known_traces import Entry, Known, lines, token_of
from msgspec import Struct


class Departure(Struct, frozen=True):
    """One place in a trace of Flink's where the reference shows something else.

    Args:
        scenario: its name.
        id: of the row in `departures.md` that says why.
        at: number of the entry in front of which, or at which, the two differ.
        flink: the entries that Flink shows from there on.
        reference: those that the reference shows in their place.
    """

    scenario: str
    id: str
    at: int
    flink: list[Entry]
    reference: list[Entry]


@cache
def known_departures() -> tuple[Departure, ...]:
    """Where the reference is known to show something else."""
    return lines("known_departures.jsonl", Departure)


def without_hashes(known: Known, trace: Iterable[Entry]) -> list[Entry]:
    """The same trace, with what hangs on hashes in one order.

    That are the last attempts that Flink forces at the end of the input. A segment of an unordered
    snapshot has such an order, too, but in none of these scenarios more than one record.
    """
    events = known.scenario.events

    def is_forced(entry: Entry) -> bool:
        number = entry["e"]
        is_in_event = entry["t"] == "invoke" and 0 <= number < len(events)
        return is_in_event and bool(events[number]["op"] == "end_input")

    runs = [(forced, list(run)) for forced, run in groupby(trace, is_forced)]
    return [
        entry
        for forced, run in runs
        for entry in (sorted(run, key=lambda e: token_of(e["value"])) if forced else run)
    ]


def expected_of_the_reference(known: Known, departures: Sequence[Departure]) -> list[Entry]:
    """What the reference is to show: what Flink has shown, but for `departures`."""
    expected, place = [], 0
    for departure in sorted(departures, key=lambda departure: departure.at):
        end = departure.at + len(departure.flink)
        assert known.trace[departure.at : end] == departure.flink, departure
        expected += in_words_of_the_reference(known.trace[place : departure.at])
        expected += departure.reference
        place = end
    return expected + in_words_of_the_reference(known.trace[place:])


def in_words_of_the_reference(trace: Iterable[Entry]) -> list[Entry]:
    """The part of a trace that the reference can be compared in.

    Of a failure that is the record it names, and what the call has raised, or that it is late.
    """
    return [_in_words_of_the_reference(entry) for entry in trace]


def _in_words_of_the_reference(entry: Entry) -> Entry:
    match entry:
        case {"t": "fail", "error": [*errors]}:
            return {"e": entry["e"], "t": "fail", **_failure(errors)}
        case {"t": "rejected"}:
            return {"e": entry["e"], "t": "rejected"}
        case {"t": "end"}:
            return {"e": entry["e"], "t": "end", "in_queue": entry["in_queue"]}
    return entry


def _failure(errors: Sequence[str]) -> Entry:
    kinds_and_texts = [error.partition(": ")[::2] for error in errors]
    kind, text = kinds_and_texts[-1]
    why = "timed out" if kind == "TimeoutException" else text
    head = kinds_and_texts[0][1]
    is_named = head.startswith("Could not complete the stream element: ")
    record = json.loads(head.rsplit(" : ", 1)[-1].removesuffix(".")) if is_named else None
    return {"record": record, "why": why}
