"""What is wrong with a row, or with what the function gives for one."""

from asyncwait.spec import AsyncWaitError


class SchemaMismatch(AsyncWaitError, TypeError):
    """A result does not fit the schema: its fields, or the type of a value.

    It is no error that another attempt would mend, so that `retry` passes it over.
    """


class UnreadableRow(AsyncWaitError, ValueError):
    """A row can't be given to the function: the bytes of a text are not UTF-8."""
