"""Any output or error of an operator, as text and data that a trace can hold."""

import asyncio
import linecache
import math
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import AbstractAsyncContextManager
from traceback import walk_tb
from types import FrameType
from typing import Any, TypeAlias

import msgspec

import asyncwait.spec
from asyncwait.spec import AsyncWaitError, Element, OperatorError, Record, Snapshot, texts
from asyncwait.spec.scenario import Ending

MOST_TEXT = 2_000
"""Longest text of an operator's value, in characters."""

MOST_TRACEBACK = 6_000
"""Longest traceback, in characters."""

_MOST_FRAMES = 8
_MOST_ERRORS = 6

_UNTOLD = (asyncio.CancelledError, GeneratorExit, StopIteration, StopAsyncIteration)
"""Errors often in progress when another error is raised, and seldom its reason."""

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Element)


def shown(value: object) -> str:
    """Return the shortened repr of a value, and its type."""
    return f"{texts.shown(value, 100)} ({type(value).__name__})"


def text_of(value: object) -> str:
    """Return the shortened text of a value, or a note if its text raises."""
    try:
        return _cut(str(value), MOST_TEXT)
    except Exception as error:
        return f"<its text raised {type(error).__name__}>"


def _cut(text: str, most: int) -> str:
    # No trace can hold what UTF-8 cannot. Shortening comes first: a text may have 50 MB.
    short = texts.shortened(text, most)
    return texts.shortened(short.encode(errors="backslashreplace").decode(), most)


def portable(value: Any) -> Any:
    """Return `value` if JSON can hold it, else its shortened repr."""
    try:
        _ENCODER.encode(value)
    except Exception:
        return shown(value)
    return value


def no_element(output: object) -> str:
    """Return why an output is no element of a stream; empty if it is."""
    if not isinstance(output, Element):
        return (
            f"the operator put out {shown(output)}, expected an element of the stream; "
            "wrap results in Record"
        )
    if isinstance(output, Snapshot) and not isinstance(output.in_flight, tuple):
        return f"in_flight of a Snapshot is {shown(output.in_flight)}, expected a tuple"
    try:
        _DECODER.decode(_ENCODER.encode(output))
    except Exception as error:
        return f"the operator put out {shown(output)}: {text_of(error)}"
    return ""


def require_context(opened: Any) -> AbstractAsyncContextManager[Any]:
    """Return the result of `open_operator` if it can be entered.

    Raises:
        TypeError: it can't.
    """
    if isinstance(opened, AbstractAsyncContextManager):
        return opened
    if isinstance(opened, Coroutine):
        opened.close()  # Python would warn that it was never awaited.
    raise TypeError(
        f"open_operator returned {shown(opened)}, expected an async context manager; "
        "see contextlib.asynccontextmanager"
    )


def whole_number(figure: object, name: str) -> int:
    """Return `figure` if it is a whole number.

    Raises:
        TypeError: it is no whole number.
    """
    if isinstance(figure, int):
        return int(figure)
    raise TypeError(f"{name} is {shown(figure)}, expected a whole number")


def seconds(figure: object, name: str) -> float:
    """Return `figure` if it is a finite number.

    Raises:
        TypeError: it is no finite number.
    """
    if isinstance(figure, int | float) and math.isfinite(figure):
        return float(figure)
    raise TypeError(f"{name} is {shown(figure)}, expected a number of seconds")


def traceback_of(error: BaseException) -> str:
    """Return the origin of `error`: the innermost error first, and in it the innermost frame."""
    lines: list[str] = []
    for each in _innermost_first(error, set()):
        lines.append(f"{type(each).__name__}: {text_of(each)}")
        frames = [told for at in walk_tb(each.__traceback__) if (told := _told(*at))]
        lines += frames[: -_MOST_FRAMES - 1 : -1]
    return _cut("\n".join(lines), MOST_TRACEBACK)


def line_of(error: BaseException) -> str:
    """Return `error` in a line: its class and text, its place, and its innermost cause."""
    innermost = next(_innermost_first(error, set()))
    told = _with_place(error)
    return told if innermost is error else f"{told}, because of {_with_place(innermost)}"


def _with_place(error: BaseException) -> str:
    said = texts.one_line(" ".join(text_of(error).split()), MOST_TEXT)
    told = f"{type(error).__name__}: {said}".rstrip(": ")
    for frame, line in reversed(list(walk_tb(error.__traceback__))):
        if not _is_of_the_suite(frame) and not _is_of_imports(frame):
            return f"{told} ({frame.f_code.co_filename}:{line})"
    return told


def _innermost_first(error: BaseException, seen: set[int]) -> Iterator[BaseException]:
    if id(error) in seen or len(seen) == _MOST_ERRORS:
        return
    seen.add(id(error))
    inner = list(error.exceptions) if isinstance(error, BaseExceptionGroup) else []
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None and not isinstance(before, _UNTOLD):
        inner.append(before)
    for each in inner:
        yield from _innermost_first(each, seen)
    yield error


def _told(frame: FrameType, line: int) -> str:
    """Return a frame as a line; nothing for a frame of the suite."""
    if _is_of_the_suite(frame):
        return ""
    code = frame.f_code
    source = linecache.getline(code.co_filename, line, frame.f_globals).strip()
    return f"  {code.co_filename}:{line}, in {code.co_name}: {source}".rstrip(": ")


def _is_of_the_suite(frame: FrameType) -> bool:
    module = str(frame.f_globals.get("__name__", ""))
    return module.startswith("asyncwait.") and "conformance" in module.split(".")


def _is_of_imports(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == "importlib"


Named: TypeAlias = Callable[[Record], tuple[Record, int | None]]


def describe_failure(
    error: BaseException,
    at: float,
    raised: Iterable[BaseException] = (),
    passing: Iterable[BaseException] = (),
    named: Named = lambda record: (record, None),
) -> Ending:
    """Return the ending of a leg whose consumer got `error`.

    Args:
        error: the very object.
        at: ms of the error.
        raised: planned errors of calls.
        passing: planned errors of hooks and the source.
        named: how a record that the error names is noted, and its number if it is known.
    """
    unchanged = any(error is one for one in passing)
    expected = unchanged or isinstance(error, AsyncWaitError)
    record, number = _record(error, named)
    return Ending(
        "failed",
        at,
        error=_name(error),
        record=record,
        number=number,
        attempts=0 if record is None else _attempts(error),
        cause=_cause(error.__cause__, list(raised)),
        unchanged=unchanged,
        detail=text_of(error),
        traceback="" if expected else traceback_of(error),
    )


def _record(error: BaseException, named: Named) -> tuple[Record | None, int | None]:
    record = error.record if isinstance(error, OperatorError) else None
    if not isinstance(record, Record):
        return None, None
    record, number = named(record)
    return (None, None) if no_element(record) else (record, number)


def _attempts(error: BaseException) -> int:
    attempts = getattr(error, "attempts", 0)
    return attempts if isinstance(attempts, int) and attempts > 0 else 0


def _name(error: BaseException) -> str:
    """Name the class of `error`; a foreign class with one of our names gets its module."""
    name = type(error).__name__
    ours = getattr(asyncwait.spec, name, None)
    return name if ours in {None, type(error)} else f"{type(error).__module__}.{name}"


def _cause(cause: BaseException | None, raised: list[BaseException]) -> str:
    """Name the class of the cause; mark a cause that is only of the class of a planned error."""
    if cause is None:
        return ""
    name = type(cause).__name__
    if getattr(cause, "planned_cause", cause.__cause__) is not cause.__cause__:
        return f"{name} without its cause"
    alike = [one for one in raised if type(one) is type(cause)]
    return name if not alike or any(cause is one for one in alike) else f"another {name}"
