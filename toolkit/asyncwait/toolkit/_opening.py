"""What an operator looks at when it is opened, and closes when it is left."""

from collections.abc import AsyncIterable, Generator
from typing import Any

from asyncwait.spec import InvalidConfig, OperatorConfig, Snapshot, Stored
from asyncwait.spec.texts import shown
from asyncwait.toolkit._loop import reraise_fatal
from asyncwait.toolkit._parts import FunctionParts


def check_arguments(
    config: Any, fn: Any, elements: Any, restore: Any, operator: str, *supported: str
) -> FunctionParts:
    """Refuse what an operator can't be opened with (END-19), and return the parts of `fn`.

    They are given copies of values, if `config` says so.

    Args:
        config: as it was given to `OpenOperator`; so are the next three.
        fn: see `AsyncFunction`.
        elements: the input.
        restore: a snapshot, or None.
        operator: its name, for messages.
        supported: names of optional settings that it knows.

    Raises:
        InvalidConfig: one of the four is not what it should be, or `config` asks for what is not
            among `supported`.
    """
    if not isinstance(config, OperatorConfig):
        raise InvalidConfig.of("config", config, "an OperatorConfig")
    config.require_only(operator, *supported)
    if not isinstance(elements, AsyncIterable):
        raise InvalidConfig.of("elements", elements, "an async iterable of elements")
    check_restore(restore)
    return FunctionParts.of(fn).with_copies(config.copy)


def check_restore(restore: Any) -> None:
    """Refuse what an operator can't go on with.

    Args:
        restore: as it was given to `OpenOperator`.

    Raises:
        InvalidConfig: it is neither None nor a Snapshot that holds records, watermarks and
            statuses alone.
    """
    if restore is None:
        return
    if not isinstance(restore, Snapshot):
        raise InvalidConfig.of("restore", restore, "a Snapshot or None")
    name, held = "restore.in_flight", restore.in_flight
    if not isinstance(held, tuple):
        raise InvalidConfig.of(name, held, "a tuple of elements")
    for element in held:
        if not isinstance(element, Stored):
            raise InvalidConfig.of(name, element, "records, watermarks and statuses")


async def close_source(*sources: Any) -> BaseException | None:
    """Close what a stream is read from, as far as it can be closed.

    Shield it from cancellation: whatever comes here is taken for the source's own.

    Args:
        sources: the iterator, and the iterable that made it; one that is there twice is closed
            once. A plain generator is closed by `close()`, all else by `aclose()`, if it has that.

    Returns:
        The first error that closing raised, with notes of the others; None if there is none.
    """
    errors: list[BaseException] = []
    for place, source in enumerate(sources):
        if any(source is earlier for earlier in sources[:place]):
            continue
        try:
            if isinstance(source, Generator):
                source.close()
            elif (aclose := getattr(source, "aclose", None)) is not None:
                await aclose()
        except BaseException as error:
            reraise_fatal(error)
            errors.append(error)
    return join_errors(*errors)


def join_errors(*errors: BaseException | None) -> BaseException | None:
    """Return the first error, with a note on it of each other one; None if there is none.

    Args:
        errors: what went wrong on leaving an operator, in its order.
    """
    first: BaseException | None = None
    for error in errors:
        if first is None:
            first = error
        elif error is not None and error is not first:
            first.add_note(f"Closing the operator raised, too: {shown(error)}")
    return first
