"""What PyFlink fails with, as the errors of the contract."""

from asyncwait.backends.pyflink._function import CalledFunction
from asyncwait.backends.pyflink._records import Records
from asyncwait.spec import AsyncWaitError, CallFailed, CallTimedOut, OperatorError
from asyncwait.spec.texts import joined, shown


class PyFlinkFailed(AsyncWaitError, RuntimeError):
    """PyFlink's operation has failed with an error that names no record; its text is PyFlink's."""


class Failures:
    """Tells what an error of PyFlink's stands for."""

    def __init__(self, records: Records, function: CalledFunction) -> None:
        self._records, self._function = records, function

    def plain(self, error: BaseException) -> BaseException:
        """Return what the operator ends with; PyFlink gives a sentence, and what was raised."""
        if len(error.args) == 2 and isinstance(cause := error.args[1], BaseException):  # noqa: PLR2004 - these two
            held = self._records.named_in(error.args[0])
            if held is not None:
                return self._named(held.record, cause, held.attempts)
        if type(error) is RuntimeError:
            failure = PyFlinkFailed(joined([str(error)]))
            failure.__cause__ = error
            return failure
        return error

    def _named(self, record: object, cause: BaseException, attempts: int) -> BaseException:
        if isinstance(cause, OperatorError) and cause.record is record:
            return cause.after(attempts)
        is_late = cause is self._function.late
        failure: type[OperatorError] = CallTimedOut if is_late else CallFailed
        error = failure(record, f"PyFlink: {shown(cause)}", attempts)  # type: ignore[arg-type]
        error.__cause__ = cause
        return error
