"""Rules that Flink 2.3.0 is known to break, and the departures that cause it: data for the suite.

A rule is listed for a departure if the departure breaks that rule first. The suite does not count
the rules that break in consequence.
"""

import re
from collections.abc import Iterator

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


def read_known(text: str) -> Iterator[Known]:
    """Yield departures: each text has an id and its rules, a description, and examples."""
    for entry in re.split(r"\n(?=\S)", text.strip()):
        head, shows, *examples = (" ".join(part.split()) for part in entry.split("\n    - "))
        flink, _, broken = head.partition(":")
        rules, seldom = (re.findall(r"[\w-]+", part) for part in broken.partition("seldom")[::2])
        named = examples[0].removeprefix("shown by ").split(", ") if examples else ()
        yield Known(flink, tuple(rules), shows, tuple(seldom), tuple(named))


KNOWN = tuple(
    read_known("""
LM-2: WM-5
    - a status comes out while earlier elements are in flight
    - shown by slow-record-before-a-status
SN-3: SNAP-4
    - finished records come first in a snapshot, the others in no order
    - shown by snapshot-of-what-is-finished-behind-a-fence
CO-7: RES-3; seldom FAIL-8
    - a call that gives None fails the task, and no record is named
    - shown by a-call-gives-none
CO-8: RES-3, ORD-2, ORD-3, FAIL-2
    - a call that gives None leaves its record undecided
    - shown by what-is-no-collection-is-no-reason
CO-11: FAIL-1
    - the error of a supplier comes out unwrapped, and names no record
    - shown by supplier-that-raises
CO-15: RES-4
    - a completion after the end raises an error in the completing thread
    - shown by completed-behind-a-failure
FA-1: FAIL-1; seldom END-7
    - an exception that a function raises directly comes out unwrapped
    - shown by callback-raises-at-once
RT-18: FAIL-8; seldom END-17
    - an exception that a function raises directly ends the stream, with attempts left
    - shown by raising-where-it-is-called
TO-3: TIME-1
    - with a timeout of millions of years, a record that is not called at time 0 is due at once
    - shown by deadline-in-millions-of-years
TO-6: TIME-6; seldom TIME-2, TIME-4
    - after the loop was blocked, an answer that came behind the deadline comes out
TO-9: TIME-4, FAIL-2; seldom FAIL-3, TIME-6
    - a record whose handler gives None waits, and a late answer counts
    - shown by handler-gives-none
TO-10: TIME-4; seldom FAIL-8
    - the error of a handler names no record
    - shown by handler-raises
RT-5: RETRY-3, RETRY-4
    - a record backs off as if it had the attempts of another record
    - shown by attempts-in-contexts-of-their-own
RT-10: ELEM-3; seldom ELEM-4, ELEM-8, FAIL-3, FAIL-4
    - the answer of an attempt that is over comes out
    - shown by answers-of-attempts-that-are-over
RT-13: RETRY-19; seldom FAIL-2, RETRY-6
    - a record backs off until its deadline, and the timeout error omits the last attempt's error
    - shown by back-off-beyond-the-deadline
RT-16: ORD-2, ORD-3; seldom CAP-4, ELEM-4, RES-2, RETRY-18, TIME-2, TIME-4, TIME-6, WM-4
    - the results of a handler don't come out: an outcome of the same instant counts, or is followed
      by another attempt
    - shown by attempt-fails-at-the-deadline
RT-17: RETRY-13; seldom ORD-2, ORD-3, RETRY-1, TIME-1
    - a predicate that raises leaves the record waiting, or ends the stream without naming it
    - shown by predicate-of-errors-that-raises
EI-4: RETRY-1; seldom END-7, FAIL-8
    - at the end of input an outcome is final
    - shown by repeated-behind-the-end-of-input
EI-5: ORD-5, RETRY-3
    - at the end of input a record that has backed off is called once more at once
    - shown by end-of-input-in-a-second-attempt
""")
)
"""Departures in the order of the parts of Flink."""

_THE_SAME = ("LM-2", "CO-7", "CO-15", "TO-3", "TO-6", "TO-9", "TO-10")
"""Departures that the two operators share."""

KNOWN_KEYED = (
    *(each for each in KNOWN if each.flink in _THE_SAME),
    *read_known("""
CAP-8: CAP-5
    - more elements are in flight than the capacity, because watermarks take no place
    - shown by watermark-behind-two-and-room-for-two
KO-9: RES-4, FAIL-2, KEY-3; seldom CAP-4, ELEM-3, ELEM-8, END-2, END-8, FAIL-3, KEY-5, RES-1, RES-2,
    RES-5, TIME-10
    - a completion by a supplier gets an error, and the record waits
    - shown by supplier-that-raises
KO-10: FAIL-1; seldom END-7, FAIL-8
    - an exception that a function raises directly ends the stream, and names no record
    - shown by callback-raises-at-once
KO-11: SNAP-2, SNAP-3, SNAP-4
    - a snapshot has watermarks that came out, lacks those with no record behind, has
      keys in no order
    - shown by restored-with-four-keys, snapshot-before-a-watermark-behind-it
KO-12: SNAP-3, SNAP-4, WM-1, KEY-6; seldom REST-3, REST-6, REST-7, WM-2, WM-3, WM-4
    - restored records that came out are stored again; watermarks come out as keys come
    - shown by not-twice-after-it-was-idle, restored-into-order-by-key
"""),
)
"""Departures of the key-ordered operator."""
