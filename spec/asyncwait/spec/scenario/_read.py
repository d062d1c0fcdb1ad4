"""Reads JSON that anybody may have written."""

from collections.abc import Generator
from contextlib import contextmanager

import msgspec

from asyncwait.spec._errors import InvalidConfig


@contextmanager
def reading(subject: str, *, breaks: str, is_no: str) -> Generator[None]:
    """Turn whatever goes wrong in decoding JSON into one error that says what and where.

    Args:
        subject: what is read.
        breaks: says that it breaks its schema.
        is_no: says that it is no JSON.

    Raises:
        InvalidConfig: it is no JSON, not in UTF-8, nested too deeply, or breaks its schema.
    """
    try:
        yield
    except msgspec.ValidationError as error:
        raise InvalidConfig(f"{subject} {breaks} schema: {error}") from error
    except msgspec.DecodeError as error:
        raise InvalidConfig(f"{subject} {is_no} JSON: {error}") from error
    except UnicodeDecodeError as error:
        raise InvalidConfig(f"{subject} {is_no} JSON, which is UTF-8: {error}") from error
    except RecursionError as error:
        raise InvalidConfig(f"{subject} {is_no} JSON: it is nested too deeply") from error
