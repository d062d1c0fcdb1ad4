"""Words of scenarios and traces: elements of a stream, values, and options.

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
from collections.abc import Iterable, Iterator
from typing import Any

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
