"""Notation of the events of a leg in few words, for witnesses.

Events follow their time, separated by commas; semicolons separate times:

    0: waits, takes 0 1, calls a b; 40: #0 gives x y, #1 raises, out x y

    waits, left, left raising  the consumer waits; it leaves; it leaves by an error
    gives up                   it stops waiting
    out a ~9                   it gets these elements, and waits again after each; see `_words`
    gets a                     it gets the element, and does not wait again
    wants 7                    it asks for a snapshot
    figures held=1 calls=2     it reads the statistics
    takes 0 1                  the operator takes inputs
    reads, end, end raised     the operator asks the source; the source ends, or raises its error
    closes, closed             the source is closed; the operator has been left
    calls a b, calls a#1       the operator calls the function for each value; calls are numbered
                               from 0 on, and so are records, where records are told apart
    batch a b                  the operator calls the function for both together; each is a call
    load a#0, joins 0 a#1      a call begins a load (loads are numbered from 0 on); a call joins
                               load 0
    ahead a                    a load begins for no record
    #0 gives x y               call 0 returns these results
    #0 raises, #0 misreturns   it raises; it gives a result that is no collection
    #0 told, #0 ends           it is cancelled; it ends because of that
    #0 cancelled               it is cancelled, and ends at once
    asks a, asks a#1           the operator asks the timeout handler
    asks a about CallFailed cause=ValueError        the operator asks the failure handler
    hook open                  a hook of the function runs
    blocked 40                 the loop is blocked until then
    misuse swallowed ...       a misuse by the operator, with its detail

A leg may also tell its ending, with further fields of `Ending` and `Leg`. A leg without an ending
has come to its end, and so has its input:

    40: ends failed CallFailed record=a cause=ValueError abandoned=1
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal, TypeVar

import msgspec
from msgspec.structs import replace

from asyncwait.conformance.evidence._scenarios import element_of, options_of, value_of
from asyncwait.spec.scenario import (
    Blocked,
    CallCancelled,
    CallEnded,
    CallStarted,
    Closed,
    Ending,
    Event,
    FailureAsked,
    FiguresRead,
    HandlerAsked,
    HookRun,
    Leg,
    Misuse,
    SinkGaveUp,
    SinkLeft,
    SinkTook,
    SinkWaits,
    SnapshotAsked,
    SourceAsked,
    SourceClosed,
    SourceEnded,
    Taken,
)

EventT = TypeVar("EventT")

_FLAGS = {"unchanged"}
_ENDS_OF_CALLS: Mapping[str, Literal["raised", "misreturned", "cancelled"]] = {
    "raises": "raised",
    "misreturns": "misreturned",
    "ends": "cancelled",
}


def told(text: str) -> tuple[Event, ...]:
    """Return the events in `text`.

    Raises:
        ValueError: `text` is not in the notation above.
    """
    return tuple(_read(text)[0])


def leg_of(text: str) -> Leg:
    """Return the leg in `text`.

    Raises:
        ValueError: `text` is not in the notation above.
    """
    events, ending, fields = _read(text)
    if ending is None:
        over = events[-1].at
        events.append(SourceEnded(over))
        ending = Ending("finished", over)
    return _with(Leg, ending=ending, events=tuple(events), **fields)


def _read(text: str) -> tuple[list[Event], Ending | None, dict[str, Any]]:
    """Return the events, the ending if `text` has one, and further fields of the leg."""
    events: list[Event] = []
    ending: Ending | None = None
    fields: dict[str, Any] = {}
    for at, words in _happenings(text):
        try:
            if words[0] == "ends":
                ending, fields = _ending(at, *words[1:])
            else:
                events += _happens(at, words, [e for e in events if isinstance(e, CallStarted)])
        except (ValueError, TypeError, LookupError) as error:
            raise ValueError(f"{' '.join(words)!r}: {error}; see the notation") from error
    return events, ending, fields


def _happenings(text: str) -> Iterator[tuple[float, list[str]]]:
    for moment in filter(None, map(str.strip, text.split(";"))):
        at, _, rest = moment.partition(":")
        yield from ((float(at), happening.split()) for happening in rest.split(","))


def _ending(at: float, how: str, *words: str) -> tuple[Ending, dict[str, Any]]:
    fields = options_of(word for word in words if word in _FLAGS or "=" in word)
    if words and words[0] not in _FLAGS and "=" not in words[0]:
        fields["error"] = words[0]
    fields |= {each: element_of(fields[each]) for each in ("record", "restored") if each in fields}
    told = {name: fields.pop(name) for name in Ending.__struct_fields__ if name in fields}
    return _with(Ending, how=how, at=at, **told), fields


def _happens(at: float, words: list[str], before: Sequence[CallStarted]) -> Iterator[Event]:
    match words:
        case ["takes", *indices]:
            yield from (Taken(at, int(index)) for index in indices)
        case ["calls", *values]:
            yield from (_call(at, call, word) for call, word in enumerate(values, len(before)))
        case ["batch", *values]:
            batch = len({call.batch for call in before})
            for call, word in enumerate(values, len(before)):
                yield replace(_call(at, call, word), batch=batch)
        case ["load" | "ahead", word]:
            batch = len({call.batch for call in before} - {None})
            yield replace(_call(at, len(before), word), batch=batch)
        case ["joins", load, word]:
            yield replace(_call(at, len(before), word), batch=int(load))
        case [call, *how] if call[0] == "#":
            yield from _of_a_call(at, int(call[1:]), how)
        case ["out", *elements]:
            for each in elements:
                yield SinkTook(at, element_of(each))
                yield SinkWaits(at)
        case ["gets", element]:
            yield SinkTook(at, element_of(element))
        case ["wants", snapshot]:
            yield SnapshotAsked(at, int(snapshot))
        case ["hook", "open" | "close" as hook]:
            yield HookRun(at, hook)
        case ["figures", *options]:
            yield _with(FiguresRead, at=at, **_figures(options))
        case ["asks", word]:
            yield HandlerAsked(at, *_of_a_record(word))
        case ["asks", word, "about", error, *options]:
            value, record = _of_a_record(word)
            about = {"at": at, "value": value, "error": error, "record": record}
            yield _with(FailureAsked, **{**about, **options_of(options)})
        case ["blocked", until]:
            yield Blocked(at, float(until))
        case ["misuse", what, *detail]:
            yield _with(Misuse, at=at, what=what, detail=" ".join(detail))
        case _ if (plain := " ".join(words)) in _PLAIN:
            yield _PLAIN[plain](at)
        case _:
            raise ValueError("nothing happens by these words")


def _figures(options: Sequence[str]) -> dict[str, Any]:
    """Return the figures in `options`; `+` separates the figures of several limits."""
    figures = options_of(options)
    if "waiting_for_permits" in figures:
        figures["waiting_for_permits"] = figures["waiting_for_permits"].split("+")
    return figures


def _call(at: float, call: int, word: str) -> CallStarted:
    return CallStarted(at, call, *_of_a_record(word))


def _of_a_record(word: str) -> tuple[Any, int | None]:
    value, told_apart, record = word.partition("#")
    return value_of(value), int(record) if told_apart else None


def _of_a_call(at: float, call: int, how: list[str]) -> Iterator[Event]:
    match how:
        case ["gives", *results]:
            yield CallEnded(at, call, results=tuple(map(value_of, results)))
        case ["told"]:
            yield CallCancelled(at, call)
        case ["cancelled"]:
            yield CallCancelled(at, call)
            yield CallEnded(at, call, "cancelled")
        case [end] if end in _ENDS_OF_CALLS:
            yield CallEnded(at, call, _ENDS_OF_CALLS[end])
        case _:
            raise ValueError("no call does that")


_PLAIN: Mapping[str, Callable[[float], Event]] = {
    "waits": SinkWaits,
    "gives up": SinkGaveUp,
    "left": SinkLeft,
    "left raising": partial(SinkLeft, raising=True),
    "reads": SourceAsked,
    "end": SourceEnded,
    "end raised": partial(SourceEnded, raised=True),
    "closes": SourceClosed,
    "closed": Closed,
}


def _with(kind: type[EventT], **fields: Any) -> EventT:
    return msgspec.convert(fields, kind, strict=False)
