"""What happens in a leg, in few characters, for witnesses.

What happens at one time stands behind it, apart by commas; times are apart by semicolons:

    0: waits, takes 0 1, calls a b; 40: #0 gives x y, #1 raises, out x y

    waits, left, left raising  the consumer waits; it leaves, by an error
    gives up, intrudes stop    it stops waiting; another task reads, and gets that
    out a ~9                   it gets these elements, and waits again after each; see `_words`
    gets a                     it gets it, and does not wait again
    wants 7                    it asks for a snapshot
    figures held=1 calls=2     it reads the statistics
    takes 0 1                  the operator takes inputs
    reads, end, end raised     the source is asked, has ended, has raised its error
    closes, closed             the source is closed, the operator has been left
    calls a b, calls a#1       the function is called for each; calls are numbered from 0 on, and
                               so are the records, where they are told apart
    #0 gives x y               a call returns these results
    #0 raises, #0 misreturns   it raises; it gives what is no collection
    #0 told, #0 ends           it is cancelled; it ends by that
    #0 cancelled               it is cancelled, and ends by it at once
    asks a                     the timeout handler is asked
    asks a about CallFailed cause=ValueError        the failure handler is asked
    hook open                  a hook of the function runs
    blocked 40                 the loop is blocked until then
    misuse swallowed ...       the operator does that, in these words

A leg may also say how it ended, with further fields of `Ending` and `Leg`; one that does not has
come to its end, and so has its input:

    40: ends failed CallFailed record=a cause=ValueError abandoned=1
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from asyncwait.conformance.evidence._events import (
    Events,
    answered,
    asked,
    cancelled,
    input_ended,
    left,
    misreturned,
    raised,
    taken,
    took,
    waits,
)
from asyncwait.conformance.evidence._words import element_of, options_of, value_of
from asyncwait.spec.scenario import (
    Blocked,
    CallCancelled,
    CallEnded,
    CallStarted,
    Ending,
    Event,
    FailureAsked,
    FiguresRead,
    HookRun,
    Leg,
    Misuse,
    SinkGaveUp,
    SinkIntruded,
    SinkLeft,
    SinkTook,
    SnapshotAsked,
    SourceAsked,
    SourceClosed,
)

Part = str | Iterable[Event]
"""Of what happens in a leg: told in a text, or as events."""

EventT = TypeVar("EventT")

_FLAGS = {"unchanged"}

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
    "left raising": lambda at: (SinkLeft(at, raising=True),),
    "gives up": lambda at: (SinkGaveUp(at),),
    "reads": lambda at: (SourceAsked(at),),
    "end": input_ended,
    "end raised": lambda at: input_ended(at, raised=True),
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


def leg_of(text: str) -> Leg:
    """Return the leg that `text` tells.

    Raises:
        ValueError: it holds something else than the notation above.
    """
    found: list[Event] = []
    ending: Ending | None = None
    fields: dict[str, Any] = {}
    for at, words in _happenings(text):
        if words[0] == "ends":
            ending, fields = _ending(at, *words[1:])
        else:
            found += _happens(at, words, sum(isinstance(event, CallStarted) for event in found))
    if ending is None:
        found += input_ended(found[-1].at)
        ending = Ending("finished", found[-1].at)
    return msgspec.convert({"ending": ending, "events": tuple(found), **fields}, Leg, strict=False)


def _ending(at: float, how: str, *words: str) -> tuple[Ending, dict[str, Any]]:
    """Return how a leg ended, and what else is known of it."""
    fields = options_of(word for word in words if word in _FLAGS or "=" in word)
    if words and words[0] not in _FLAGS and "=" not in words[0]:
        fields["error"] = words[0]
    fields |= {each: element_of(fields[each]) for each in ("record", "restored") if each in fields}
    told = {name: fields.pop(name) for name in Ending.__struct_fields__ if name in fields}
    return msgspec.convert({"how": how, "at": at, **told}, Ending, strict=False), fields


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
            return tuple(_call(at, call, word) for call, word in enumerate(values, calls))
        case ["out", *elements]:
            return took(at, *map(element_of, elements))
        case ["gets", element]:
            return (SinkTook(at, element_of(element)),)
        case ["wants", snapshot]:
            return (SnapshotAsked(at, int(snapshot)),)
        case ["hook", "open" | "close" as hook]:
            return (HookRun(at, hook),)
        case ["figures", *options]:
            return (_with(FiguresRead, at=at, **options_of(options)),)
        case ["asks", value, "about", error, *options]:
            about = {"at": at, "value": value_of(value), "error": error}
            return (_with(FailureAsked, **about, **options_of(options)),)
        case ["blocked", until]:
            return (Blocked(at, float(until)),)
        case ["misuse", what, *detail]:
            return (_with(Misuse, at=at, what=what, detail=" ".join(detail)),)
        case ["intrudes", *got]:
            return (SinkIntruded(at, " ".join(got)),)
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


def _call(at: float, call: int, word: str) -> CallStarted:
    value, told_apart, record = word.partition("#")
    return CallStarted(at, call, value_of(value), int(record) if told_apart else None)


def _with(kind: type[EventT], **fields: Any) -> EventT:
    return msgspec.convert(fields, kind, strict=False)
