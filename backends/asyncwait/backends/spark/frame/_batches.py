"""The user's function where rows share its calls: several rows in, for each what goes out of it."""

from collections.abc import Sequence
from itertools import repeat
from typing import Any

from asyncwait.backends.services import Cost
from asyncwait.backends.spark.frame._calls import RowFunction
from asyncwait.backends.spark.frame._paid import Payloads
from asyncwait.backends.spark.frame._rows import Around, InputRow
from asyncwait.toolkit import answers_of, reraise_fatal


class BatchFunction(RowFunction):
    """The user's function of several values as one of input rows; see `RowFunction`."""

    async def __call__(self, rows: Any) -> Any:
        values = [row.value for row in rows]
        return self._each(rows, values, await self._call([*values]))

    def _each(self, rows: Sequence[InputRow], values: list[Any], returned: Any) -> Any:
        """Return the output rows of each input row, in a `Cost` if it comes in one.

        What does not fit fails its row alone.
        """
        if type(returned) is Cost:
            made = self._each(rows, values, returned.result)
            return Cost(made, returned.used) if self.tells_costs else made
        answers = answers_of(values, returned, single=not self._results.many)
        return [self._one(row, answer) for row, answer in zip(rows, answers, strict=True)]

    def _one(self, row: InputRow, answer: Any) -> Any:
        if isinstance(answer, BaseException):
            return answer
        try:
            return self._keep(row, self._results.of(row, answer))
        except BaseException as error:
            reraise_fatal(error)
            return error


class BlockingBatchFunction(BatchFunction):
    """The same for a function that blocks."""

    def __call__(self, rows: Any) -> Any:
        """Call the function; what it gives is read in the thread, too."""
        values = [row.value for row in rows]
        return self._each(rows, values, self._call([*values]))


class PaidBatchFunction(Around):
    """A function of several rows that is called with those that are not completed yet.

    What its call raises is for these alone, and so is the time that it takes.
    """

    def __init__(self, of_rows: Any, payloads: Payloads) -> None:
        super().__init__(of_rows)
        self._payloads = payloads
        self._on_time: Any = getattr(of_rows, "timeout", lambda _: None)

    async def __call__(self, rows: Any) -> Any:
        called = [row for row in rows if row.paid is None]
        if len(called) == len(rows):
            return await self._of_rows(rows)
        given: Any = ()
        try:
            given = await self._of_rows(called) if called else ()
        except Exception as error:
            given = repeat(error)
        return self._with_found(rows, given)

    def _with_found(self, rows: Sequence[InputRow], given: Any) -> Any:
        if type(given) is Cost:
            return Cost(self._with_found(rows, given.result), given.used)
        answers = iter(given)
        return [next(answers) if row.paid is None else self._found(row) for row in rows]

    def _found(self, row: InputRow) -> Any:
        try:
            return self._payloads.read(row)
        except Exception as error:
            return error

    def timeout(self, row: InputRow) -> Any:
        """Give what is there, however long the others of its batch take."""
        return self._on_time(row) if row.paid is None else self._payloads.read(row)


class PaidBlockingBatchFunction(PaidBatchFunction):
    """The same for a function that blocks."""

    def __call__(self, rows: Any) -> Any:
        """Call the function with those that are to be called for, in a thread."""
        called = [row for row in rows if row.paid is None]
        if len(called) == len(rows):
            return self._of_rows(rows)
        given: Any = ()
        try:
            given = self._of_rows(called) if called else ()
        except Exception as error:
            given = repeat(error)
        return self._with_found(rows, given)
