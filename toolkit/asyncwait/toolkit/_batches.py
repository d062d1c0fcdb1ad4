"""Batched calls: what a function gives for several records, sorted out by record."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from asyncwait.spec import InvalidResult, OperatorError, Record
from asyncwait.spec.texts import shown
from asyncwait.toolkit._calls import call_failed, is_collection
from asyncwait.toolkit._kinds import settled
from asyncwait.toolkit._loop import read_whole, reraise_fatal


class NoAnswer(Exception):
    """Stands for what a batched call owes one of its records; the text says what is wrong."""


def answers_of(values: Sequence[Any], returned: Any, *, single: bool = False) -> Sequence[Any]:
    """Return what a batched call gives for each of its values, or an exception in its place.

    Args:
        values: those that the function was given, in a list that it does not have.
        returned: a collection in the same order, or a mapping from values. What a mapping holds for
            a value that was not asked for makes all of it doubtful (BAT-11).
        single: whether each answer is one result, and no collection.

    Raises:
        WrongFunction: the call gave unfinished work.

    Returns:
        As many as there are values: the function's own, its exceptions among them, or a `NoAnswer`.
        The list belongs to the caller.
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
    """Return an answer that several equal values share, so that each of them can read it."""
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
    """Return the failure that an exception among the answers of a batch is for its record."""
    if isinstance(answer, NoAnswer):
        return InvalidResult(record, str(answer))
    return call_failed(record, answer)
