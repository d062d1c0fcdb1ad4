"""What is wrong with what the function gives."""

from asyncwait.spec import AsyncWaitError


class SchemaMismatch(AsyncWaitError, TypeError):
    """A result does not fit the schema: its fields, or the type of a value.

    It is no error that another attempt would mend, so that `retry` passes it over.
    """
