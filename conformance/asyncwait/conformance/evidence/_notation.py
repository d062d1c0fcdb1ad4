"""What happens in a leg, in few characters, for witnesses.

What happens at one time stands behind it, apart by commas; times are apart by semicolons:

    0: waits, takes 0 1, calls a b; 40: #0 gives x y, #1 raises, out x y

    waits, left                the consumer waits, leaves
    gives up                   it stops waiting
    out a ~9                   it gets these elements, and waits again after each; see `_elements`
    gets a                     it gets it, and does not wait again
    wants 7                    it asks for a snapshot
    takes 0 1                  the operator takes inputs
    reads, end, closes         the source is asked, has ended, is closed
    calls a b                  the function is called for each; calls are numbered from 0 on
    #0 gives x y               a call returns these results
    #0 raises, #0 misreturns   it raises; it gives what is no collection
    #0 told, #0 ends           it is cancelled; it ends by that
    #0 cancelled               it is cancelled, and ends by it at once
    asks a                     the timeout handler is asked
    hook open                  a hook of the function runs
    closed                     the operator has been left

What else may happen stands as an event beside the text.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from asyncwait.conformance.evidence._elements import element_of, value_of
from asyncwait.conformance.evidence._events import (
    Events,
    answered,
    asked,
    called,
    cancelled,
    input_ended,
    left,
    misreturned,
    raised,
    taken,
    took,
    waits,
)
from asyncwait.spec.scenario import (
    CallCancelled,
    CallEnded,
    CallStarted,
    Event,
    HookRun,
    SinkGaveUp,
    SinkLeft,
    SinkTook,
    SnapshotAsked,
    SourceAsked,
    SourceClosed,
)

Part = str | Iterable[Event]
"""Of what happens in a leg: told in a text, or as events."""

_OF_CALLS: Mapping[str, Callable[[float, int], Events]] = {
    "raises": raised,
    "misreturns": misreturned,
    "cancelled": cancelled,
    "told": lambda at, call: (CallCancelled(at, call),),
    "ends": lambda at, call: (CallEnded(at, call, "cancelled"),),
}
_OF_OTHERS: Mapping[str, Callable[[float], Events]] = {
    "waits": waits,
    "left": lambda at: (SinkLeft(at),),
    "gives up": lambda at: (SinkGaveUp(at),),
    "reads": lambda at: (SourceAsked(at),),
    "end": input_ended,
    "closes": lambda at: (SourceClosed(at),),
    "closed": left,
}


def told(parts: Iterable[Part]) -> Events:
    """Return the events of `parts`, one after the other.

    Raises:
        ValueError: a text holds something else than the notation above.
    """
    found: list[Event] = []
    for part in parts:
        if isinstance(part, str):
            for at, words in _happenings(part):
                calls = sum(isinstance(event, CallStarted) for event in found)
                found += _happens(at, words, calls)
        else:
            found += part
    return tuple(found)


def _happenings(text: str) -> Iterator[tuple[float, list[str]]]:
    for moment in text.split(";"):
        at, _, rest = moment.partition(":")
        for happening in rest.split(","):
            yield float(at), happening.split()


def _happens(at: float, words: list[str], calls: int) -> Events:
    match words:
        case ["takes", *indices]:
            return taken(at, *map(int, indices))
        case ["calls", *values]:
            return called(at, *map(value_of, values), first=calls)
        case ["out", *elements]:
            return took(at, *map(element_of, elements))
        case ["gets", element]:
            return (SinkTook(at, element_of(element)),)
        case ["wants", snapshot]:
            return (SnapshotAsked(at, int(snapshot)),)
        case ["hook", "open" | "close" as hook]:
            return (HookRun(at, hook),)
        case ["asks", value]:
            return asked(at, value_of(value))
        case [call, "gives", *results] if call[0] == "#":
            return answered(at, int(call[1:]), *map(value_of, results))
        case [call, how] if call[0] == "#" and how in _OF_CALLS:
            return _OF_CALLS[how](at, int(call[1:]))
        case _ if " ".join(words) in _OF_OTHERS:
            return _OF_OTHERS[" ".join(words)](at)
        case _:
            raise ValueError(f"{' '.join(words)!r} tells nothing; see the notation")
