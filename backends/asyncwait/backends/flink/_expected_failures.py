"""Rules that Flink 2.3.0 is known to break, and the departures that cause it: data for the suite.

A rule is listed for a departure if the departure breaks that rule first. The suite does not count
the rules that break in consequence.
"""

from msgspec import Struct

from asyncwait.spec.rules import departures


class Known(Struct, frozen=True):
    """Signs of one departure: the rules that it breaks, and examples that show it."""

    flink: str
    rules: tuple[str, ...]
    shows: str
    seldom: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()

    @property
    def theirs(self) -> str:
        """Description of Flink's departure, after its id."""
        known = {departure.flink: departure.theirs for departure in departures()}
        return f"{self.flink}: {known[self.flink]}"


KNOWN = (
    Known(
        "LM-2",
        ("WM-5",),
        "a status comes out while what came before is in flight",
        examples=("slow-record-before-a-status",),
    ),
    Known(
        "SN-3",
        ("SNAP-4",),
        "finished records come first in a snapshot, the others in no order",
        examples=("snapshot-of-what-is-finished-behind-a-fence",),
    ),
    Known(
        "CO-7",
        ("RES-3",),
        "a call that gives None fails the task, and no record is named",
        seldom=("FAIL-8",),
        examples=("a-call-gives-none",),
    ),
    Known(
        "CO-8",
        ("RES-3", "ORD-2", "ORD-3", "FAIL-2"),
        "a call that gives None leaves its record undecided",
        examples=("what-is-no-collection-is-no-reason",),
    ),
    Known(
        "CO-11",
        ("FAIL-1",),
        "the error of a supplier comes out as it is, and names no record",
        examples=("supplier-that-raises",),
    ),
    Known(
        "CO-15",
        ("RES-4",),
        "a completion after the end raises an error in the completing thread",
        examples=("completed-behind-a-failure",),
    ),
    Known(
        "FA-1",
        ("FAIL-1",),
        "what a function raises where it is called comes out as it is",
        seldom=("END-7",),
        examples=("callback-raises-at-once",),
    ),
    Known(
        "RT-18",
        ("FAIL-8",),
        "what a function raises where it is called ends the stream, with attempts left",
        seldom=("END-17",),
        examples=("raising-where-it-is-called",),
    ),
    Known(
        "TO-3",
        ("TIME-1",),
        "a record that is called later than the first is asked for at once, when the deadline is "
        "that far away",
        examples=("deadline-in-millions-of-years",),
    ),
    Known(
        "TO-6",
        ("TIME-6",),
        "after a loop that was blocked, an answer comes out that came behind the deadline",
        seldom=("TIME-2", "TIME-4"),
    ),
    Known(
        "TO-9",
        ("TIME-4", "FAIL-2"),
        "a record whose handler gives None waits, and a late answer counts",
        seldom=("FAIL-3", "TIME-6"),
        examples=("handler-gives-none",),
    ),
    Known(
        "TO-10",
        ("TIME-4",),
        "the error of a handler names no record",
        seldom=("FAIL-8",),
        examples=("handler-raises",),
    ),
    Known(
        "RT-5",
        ("RETRY-3", "RETRY-4"),
        "a record backs off for as long as is due after another one's attempts",
        examples=("attempts-in-contexts-of-their-own",),
    ),
    Known(
        "RT-10",
        ("ELEM-3",),
        "the answer of an attempt that is over comes out",
        seldom=("ELEM-4", "ELEM-8", "FAIL-3", "FAIL-4"),
        examples=("answers-of-attempts-that-are-over",),
    ),
    Known(
        "RT-13",
        ("RETRY-19",),
        "a record backs off until its deadline, and the error of that forgets the last attempt's",
        seldom=("FAIL-2", "RETRY-6"),
        examples=("back-off-beyond-the-deadline",),
    ),
    Known(
        "RT-16",
        ("ORD-2", "ORD-3"),
        "the results of a handler don't come out: an outcome of the same instant counts, or is "
        "followed by another attempt",
        seldom=("CAP-4", "ELEM-4", "RES-2", "RETRY-18", "TIME-2", "TIME-4", "TIME-6", "WM-4"),
        examples=("attempt-fails-at-the-deadline",),
    ),
    Known(
        "RT-17",
        ("RETRY-13",),
        "a predicate that raises leaves the record waiting, or ends the stream without naming it",
        seldom=("ORD-2", "ORD-3", "RETRY-1", "TIME-1"),
        examples=("predicate-of-errors-that-raises",),
    ),
    Known(
        "EI-4",
        ("RETRY-1",),
        "at the end of input an outcome is final",
        seldom=("END-7", "FAIL-8"),
        examples=("repeated-behind-the-end-of-input",),
    ),
    Known(
        "EI-5",
        ("ORD-5", "RETRY-3"),
        "at the end of input a record that has backed off is called once more at once",
        examples=("end-of-input-in-a-second-attempt",),
    ),
)
"""In the order of Flink's own parts."""

_THE_SAME = ("LM-2", "CO-7", "CO-15", "TO-3", "TO-6", "TO-9", "TO-10")
"""Departures that the two operators share."""

KNOWN_KEYED = (
    *(each for each in KNOWN if each.flink in _THE_SAME),
    Known(
        "CAP-8",
        ("CAP-5",),
        "more is inside than there is room for, as watermarks take none",
        examples=("watermark-behind-two-and-room-for-two",),
    ),
    Known(
        "KO-9",
        ("RES-4", "FAIL-2", "KEY-3"),
        "a completion by a supplier gets an error, and the record waits",
        seldom=(
            "CAP-4",
            "ELEM-3",
            "ELEM-8",
            "END-2",
            "END-8",
            "FAIL-3",
            "KEY-5",
            "RES-1",
            "RES-2",
            "RES-5",
            "TIME-10",
        ),
        examples=("supplier-that-raises",),
    ),
    Known(
        "KO-10",
        ("FAIL-1",),
        "what a function raises where it is called ends the stream, and names no record",
        seldom=("END-7", "FAIL-8"),
        examples=("callback-raises-at-once",),
    ),
    Known(
        "KO-11",
        ("SNAP-2", "SNAP-3", "SNAP-4"),
        "a snapshot has watermarks that came out, and none with no record behind; keys in no order",
        examples=("restored-with-four-keys", "snapshot-before-a-watermark-behind-it"),
    ),
    Known(
        "KO-12",
        ("SNAP-3", "SNAP-4", "WM-1", "KEY-6"),
        "what was restored is stored again, though it is out; watermarks come out as keys come",
        seldom=("REST-3", "REST-6", "REST-7", "WM-2", "WM-3", "WM-4"),
        examples=("not-twice-after-it-was-idle", "restored-into-order-by-key"),
    ),
)
"""Departures of the key-ordered operator."""
