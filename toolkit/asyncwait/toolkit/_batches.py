"""Batched calls: answers of a function for several records, assigned to the records."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from asyncwait.spec import InvalidResult, OperatorError, Record
from asyncwait.spec.texts import shown
from asyncwait.toolkit._calls import call_failed, is_collection
from asyncwait.toolkit._kinds import settled
from asyncwait.toolkit._loop import read_whole, reraise_fatal


class NoAnswer(Exception):
    """A batched call gave no valid answer for one of its records; the text says what is wrong."""


def answers_of(values: Sequence[Any], returned: Any, *, single: bool = False) -> Sequence[Any]:
    """Return the answer of a batched call for each of its values, or an exception in its place.

    Args:
        values: values of the call, in another list than the function's argument.
        returned: a collection in the same order, or a mapping from values. A mapping with an answer
            for any other value is invalid as a whole (BAT-11).
        single: whether each answer is a single result, not a collection.

    Raises:
        WrongFunction: the call returned unfinished work.

    Returns:
        One answer for each value: an answer or an exception of the function, or a `NoAnswer`. The
        list belongs to the caller.
    """
    if isinstance(returned, Mapping):
        return _by_value(values, returned, single=single)
    if isinstance(returned, AbstractSet) or not is_collection(returned):  # A set is in no order.
        return _none(values, f"a list or a mapping, got {shown(settled('fn', returned))}")
    answers = read_whole(returned)
    if len(answers) != len(values):
        return _none(
            values, f"{len(values)} answers in the order of the values, got {len(answers)}"
        )
    return answers


def _by_value(values: Sequence[Any], answers: Mapping[Any, Any], *, single: bool) -> Sequence[Any]:
    try:
        asked = {value: type(value) for value in values}
    except TypeError as error:
        return _none(values, f"a list, as values can't be keys of a mapping ({error})")
    if any(asked[value] is not type(value) for value in values):
        return _none(values, "a list, as values are equal and of different types")
    foreign = next((key for key in answers if key not in asked), None)
    if len(answers) > len(asked) or foreign is not None:
        return _none(values, f"a mapping from its values alone, got one from {shown(foreign)}")
    missing = NoAnswer("expected an answer for each value of the batch, got none for this one")
    if single or len(asked) == len(values):
        return [answers.get(value, missing) for value in values]
    read = {value: _read_once(answers.get(value, missing)) for value in asked}
    return [read[value] for value in values]


def _read_once(answer: Any) -> Any:
    """Return an answer for several equal values in a form that can be read several times."""
    if not isinstance(answer, Iterator):
        return answer
    try:
        return read_whole(answer)
    except BaseException as error:
        reraise_fatal(error)
        return error


def _none(values: Sequence[Any], expected: str) -> Sequence[NoAnswer]:
    return [NoAnswer(f"expected {expected}")] * len(values)


def failure_of(record: Record, answer: BaseException) -> OperatorError:
    """Return the failure of a record whose answer in a batch is an exception."""
    if isinstance(answer, NoAnswer):
        return InvalidResult(record, str(answer))
    return call_failed(record, answer)
