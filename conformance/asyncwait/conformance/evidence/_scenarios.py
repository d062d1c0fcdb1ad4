"""Notation of scenarios in few words, for examples and witnesses, and wherever a scenario is shown.

Semicolons separate statements. Elements follow their time, a plan follows its value:

    unordered; capacity 2; 0: a b@5/k ~9; 40: ^1; a: 80 gives a1; b: never, late gives b?; handled

    0: a b 9*c d%40            these elements come in at 0, see `_words`; before d comes in, the
                               source blocks the loop for 40 ms
    a: 40 gives x y            each call of a gives these results, 40 ms after it began
    a: 40 raises, raises own   the first call raises a ValueError then, all others raise an error
                               of the harness's own at once
    a: 3 times raises, gives x three calls raise, then one gives a result
    a: misreturns text         the calls give a result that is no collection
    a: never                   the calls never answer
    a: outlives 80 x           the calls swallow their cancellation, and give x 80 ms later
    a: gives x with thread blocks=40       with further fields of `Step`
    a: never, late gives y, failed none    results of its timeout and its failure handler
    a: 40 gives x, costs 3, of h           cost of a call, and the key of the value for limits
    a b c: 40 gives *1         the plans of several values; the star stands for their value
    plan 1 null: gives x       the plans of values that are no texts

Each further field of a scenario has its own name: `timeout 80`, `figures_at 0 40`; `handled` alone
is true, and a mode needs no name. A snapshot is an element. The parts of other fields follow in
their order, or by name:

    restore |1(a+b); retry; retry max_attempts=5 cap=160; requests 40 1, 80 2
    crashes 80, 40 mode=unordered; sink read 1, give_up 40, leave
    limits window 2 200, in-flight 1 by, budget 5 costs then=stop

Words of elements of a stream, values and options:

    a  a@5  a/k  a@5/k     a record, with its timestamp and its key
    1  null/["k"]          values and keys that are no texts are written as JSON
    ~9  ~idle  ~active     a watermark, a status
    !3  !3/s               a latency marker, of a source
    ^1                     a barrier
    |1(a+~9+b@5/k)=2       a snapshot of these elements, with the number of elements read
    |1(a)<|1(b)            a snapshot with another snapshot, of the operator upstream

An option is `name=value`, in which `_` stands for a blank, or a name alone, which is true. A shown
scenario has JSON escapes for the signs above, such as 002f for a slash.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from asyncwait.spec import (
    Barrier,
    Element,
    LatencyMarker,
    Record,
    Snapshot,
    Watermark,
    WatermarkStatus,
)
from asyncwait.spec.scenario import (
    Crash,
    Handler,
    Plan,
    PlannedLimit,
    Scenario,
    SinkStep,
    SnapshotRequest,
    Step,
    Timed,
)
from asyncwait.spec.texts import printable, shortened

_RECORD = re.compile(r"(?P<value>[^@/]+)(?:@(?P<timestamp>-?\d+))?(?:/(?P<key>.+))?")
_SNAPSHOT = re.compile(
    r"\|(?P<id>\d+)(?:\((?P<stored>[^<]+)\))?(?:=(?P<read>\d+))?(?:<(?P<upstream>.+))?"
)
_STATUSES = {"~idle": True, "~active": False}
_JSON = frozenset('"[{-0123456789')


def options_of(words: Iterable[str]) -> dict[str, Any]:
    """Return the options in `words`, by their names."""
    found = (word.partition("=") for word in words)
    return {name: value.replace("_", " ") if equals else True for name, equals, value in found}


def options_in(part: Struct, names: Iterable[str]) -> Iterator[str]:
    """Yield the fields of `part` that differ from their defaults, as options."""
    defaults = {each.name: each.default for each in fields(part)}
    for name in names:
        value = getattr(part, name)
        if value != defaults[name]:
            yield f"{name}={'true' if value is True else str(value).replace(' ', '_')}"


def value_of(word: str) -> Any:
    """Return the JSON value of `word`, or `word` itself if it is no JSON."""
    if word[0] not in _JSON and word not in {"null", "true", "false"}:
        return word
    try:
        return json.loads(word)
    except ValueError:
        return word


def word_of(value: Any) -> str:
    """Return the word for a value, which `value_of` reads."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value not in _TAKEN:
        return value
    told = json.dumps(value, separators=(",", ":"))
    return _SIGNS.sub(lambda found: f"\\u{ord(found[0]):04x}", told)


_PLAIN = re.compile(r"[^\W\d][\w.?-]*")
_TAKEN = {"null", "true", "false", "with"}
_SIGNS = re.compile(r"[\s;@/+#()<=*%]")


def word_for(element: Element) -> str:
    """Return the word for an element, which `element_of` reads."""
    match element:
        case Record(value, timestamp, key):
            stamp = "" if timestamp is None else f"@{timestamp}"
            return f"{word_of(value)}{stamp}{'' if key is None else f'/{word_of(key)}'}"
        case Watermark(timestamp):
            return f"~{timestamp}"
        case WatermarkStatus(idle):
            return "~idle" if idle else "~active"
        case LatencyMarker(marked_at, source):
            return f"!{marked_at}{f'/{source}' if source else ''}"
        case Barrier(number):
            return f"^{number}"
        case Snapshot(number, in_flight, read, upstream):
            stored = f"({'+'.join(map(word_for, in_flight))})" if in_flight else ""
            carried = "" if upstream is None else f"<{word_for(upstream)}"
            return f"|{number}{stored}{'' if read is None else f'={read}'}{carried}"


def element_of(word: str) -> Element:
    """Return the element for a word.

    Raises:
        ValueError: `word` is no element.
    """
    if word in _STATUSES:
        return WatermarkStatus(_STATUSES[word])
    if word[0] == "~":
        return Watermark(int(word[1:]))
    if word[0] == "!":
        marked_at, _, source = word[1:].partition("/")
        return LatencyMarker(int(marked_at), source)
    if word[0] == "^":
        return Barrier(int(word[1:]))
    if found := _SNAPSHOT.fullmatch(word):
        upstream: Any = element_of(found["upstream"]) if found["upstream"] else None
        stored: Any = map(element_of, filter(None, (found["stored"] or "").split("+")))
        read = None if found["read"] is None else int(found["read"])
        return Snapshot(int(found["id"]), tuple(stored), read, upstream)
    if found := _RECORD.fullmatch(word):
        timestamp = None if found["timestamp"] is None else int(found["timestamp"])
        key = None if found["key"] is None else value_of(found["key"])
        return Record(value_of(found["value"]), timestamp, key)
    raise ValueError(f"{word!r} is no element; see the notation")


_MODES = {"ordered", "unordered", "key-ordered"}
_LISTS = {"limits": PlannedLimit, "sink": SinkStep, "crashes": Crash, "requests": SnapshotRequest}
_OF_PLANS = {"costs": "cost", "of": "group"}
_HANDLERS = {"late": "handler", "failed": "failure"}


def scenario_of(text: str = "", /, **fields: Any) -> Scenario:
    """Return the scenario that `text` describes; `fields` holds the fields missing in `text`.

    Raises:
        ValueError: a statement is not in the notation above, or breaks a limit.
    """
    told: dict[str, Any] = defaultdict(tuple)
    for statement in filter(None, map(str.strip, text.split(";"))):
        try:
            _tell(told, statement)
        except (ValueError, TypeError, LookupError) as error:
            raise ValueError(f"{statement!r}: {error}; see the notation") from error
    return msgspec.convert({**told, **fields}, Scenario, strict=False)


def _tell(told: dict[str, Any], statement: str) -> None:
    head, colon, rest = statement.partition(": ")
    name, *words = statement.split()
    if colon and head.isdecimal():
        for word in _each(rest.split()):
            element, _, blocks = word.partition("%")
            told["inputs"] += (Timed(int(head), element_of(element), int(blocks or 0)),)
    elif colon:
        values = head.removeprefix("plan ").split()
        told["plans"] += tuple(_plan(value_of(each), rest.replace("*", each)) for each in values)
    elif name in _MODES:
        told["mode"] = name
    elif name not in Scenario.__struct_fields__:
        raise ValueError("a scenario has no such field")
    elif name in told:
        raise ValueError("that has been told already")
    else:
        told[name] = _field(name, words)


def _each(words: list[str]) -> Iterator[str]:
    for word in words:
        times, star, repeated = word.rpartition("*")
        yield from int(times) * [repeated] if star else [word]


def _field(name: str, words: list[str]) -> Any:
    if name in _LISTS:
        return [_parts(_LISTS[name], each.split()) for each in " ".join(words).split(", ")]
    if name == "restore":
        return element_of(words[0])
    if name in {"retry", "batch", "cache"}:
        return options_of(words)
    if name == "figures_at":
        return words
    return words[0] if words else True


def _parts(of: Any, words: list[str]) -> dict[str, Any]:
    placed = [word for word in words if "=" not in word]
    if len(placed) > len(of.__struct_fields__):
        raise ValueError(f"a {of.__name__} has no {len(placed)} parts")
    named = options_of(word for word in words if "=" in word)
    return {**dict(zip(of.__struct_fields__, placed, strict=False)), **named}


def _plan(value: Any, text: str) -> Plan:
    steps: list[Step] = []
    more: dict[str, Any] = {}
    for clause in text.split(", "):
        words = clause.split()
        if words[0] in _HANDLERS:
            more[_HANDLERS[words[0]]] = msgspec.convert(_act(words[1:]), Handler, strict=False)
        elif words[0] in _OF_PLANS and len(words) == 2:  # noqa: PLR2004 - a name and its value
            more[_OF_PLANS[words[0]]] = value_of(words[1])
        else:
            steps += _steps(words)
    if steps:
        more["steps"] = tuple(steps)
    return Plan(value, **more)


def _steps(words: list[str]) -> list[Step]:
    times, after = 1, "0"
    if words[1:2] == ["times"]:
        times, words = int(words[0]), words[2:]
    if words[0].isdecimal():
        after, *words = words
    return times * [msgspec.convert({"after": after, **_act(words)}, Step, strict=False)]


def _act(words: list[str]) -> dict[str, Any]:
    """Return the fields of a step or a handler, including the options after `with`."""
    place = words.index("with") if "with" in words else len(words)
    verb, *rest = words[:place]
    values = [value_of(word) for word in rest]
    options = options_of(words[place + 1 :])
    match verb, rest:
        case "gives", _:
            return {"results": values, **options}
        case "never", _:
            return {"does": "never", "results": values, **options}
        case "outlives", [clean_up, *_]:
            swallows = {"swallow": True, "clean_up": clean_up}
            return {"does": "never", "results": values[1:], **swallows, **options}
        case "none", []:
            return {"does": "none", **options}
        case "raises", []:
            return {"does": "raise", "error": "ValueError", **options}
        case "raises" | "misreturns", [error, *_]:
            error = "" if error == "own" else error
            return {"does": verb[:-1], "error": error, "results": values[1:], **options}
        case _:
            raise ValueError(f"{' '.join(words)!r} is nothing that a call or a handler does")


LONGEST = 1_000
"""Largest number of characters of a line."""


def describe_scenario(scenario: Scenario) -> list[str]:
    """Return a scenario in lines that `scenario_of` reads, if `; ` joins them."""
    inputs: dict[int, list[str]] = {}
    for each in scenario.inputs:
        blocks = f"%{each.blocks}" if each.blocks else ""
        inputs.setdefault(each.at, []).append(f"{word_for(each.element)}{blocks}")
    lines = [
        "; ".join(_settings(scenario)),
        "; ".join(f"{at}: {' '.join(_repeated('*', words))}" for at, words in inputs.items()),
        *map(_told_plan, scenario.plans),
    ]
    return [
        shortened(printable(f"{'  ' if number else ''}{line}"), LONGEST)
        for number, line in enumerate(lines)
        if line
    ]


def _settings(scenario: Scenario) -> Iterator[str]:
    yield scenario.mode
    yield f"capacity {scenario.capacity}"
    for each in msgspec.structs.fields(scenario):
        value = getattr(scenario, each.name)
        told_elsewhere = each.name in {"mode", "capacity", "inputs", "plans", "name"}
        if not told_elsewhere and value != each.default:
            yield f"{each.name} {_setting(each.name, value)}".rstrip()


def _setting(name: str, value: Any) -> str:
    if value is True:
        return ""
    if name in _LISTS:
        return ", ".join(_told_part(part) for part in value)
    if name == "restore":
        return word_for(value)
    if name in {"retry", "batch", "cache"}:
        return " ".join(options_in(value, value.__struct_fields__))
    return " ".join(map(str, value)) if name == "figures_at" else str(value)


_PLACED: dict[type[Any], int] = {PlannedLimit: 3, SinkStep: 2, Crash: 1, SnapshotRequest: 2}


def _told_part(part: Any) -> str:
    names, count = part.__struct_fields__, _PLACED[type(part)]
    placed = " ".join(str(getattr(part, name)) for name in names[:count])
    placed = placed.removesuffix(" 0") if isinstance(part, SinkStep) else placed
    return " ".join([placed, *options_in(part, names[count:])])


def _repeated(sign: str, words: Iterable[str]) -> Iterator[str]:
    for word, same in groupby(words):
        count = len(list(same))
        yield f"{count}{sign}{word}" if count > 1 else word


def _told_plan(plan: Plan) -> str:
    head = word_of(plan.value)
    clauses = [*_repeated(" times ", map(_told_act, plan.steps))]
    handlers = {"late": plan.handler, "failed": plan.failure}
    clauses += [f"{name} {_told_act(h)}" for name, h in handlers.items() if h != Handler("none")]
    clauses += [f"costs {plan.cost}"] * (plan.cost != 1)
    clauses += [f"of {word_of(plan.group)}"] * bool(plan.group)
    return f"{head if head == plan.value else f'plan {head}'}: {', '.join(clauses)}"


def _told_act(act: Step | Handler) -> str:
    error = {"raise": f"raises {act.error or 'own'}", "misreturn": f"misreturns {act.error}"}
    verb = error.get(act.does) or {"reply": "gives"}.get(act.does, act.does)
    told = {"does", "after", "results", "error"}
    options = [*options_in(act, [name for name in act.__struct_fields__ if name not in told])]
    after = [str(act.after)] if isinstance(act, Step) and act.after else []
    ends = ["with", *options] if options else []
    return " ".join([*after, verb, *map(word_of, act.results), *ends])
