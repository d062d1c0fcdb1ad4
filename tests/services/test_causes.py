"""Names and counts of many errors."""

from collections.abc import Callable
from urllib.error import HTTPError

import httpx
import pytest

from asyncwait.backends.services._causes import cause_of, most_frequent, tell_causes


class Refused(Exception):
    """One of the user's."""


class Sly(Exception):
    @property
    def status(self) -> int:
        raise LookupError


def by_httpx() -> Exception:
    request = httpx.Request("GET", "http://a.example")
    return httpx.HTTPStatusError("no", request=request, response=httpx.Response(400))


def wrapped() -> Exception:
    error = Refused()
    error.__cause__ = by_httpx()
    return error


@pytest.mark.parametrize(
    ("made", "cause"),
    [
        (by_httpx, "HTTPStatusError 400"),
        (lambda: HTTPError("http://a.example", 404, "", {}, None), "HTTPError 404"),  # type: ignore[arg-type]
        (wrapped, "Refused 400"),
        (TimeoutError, "TimeoutError"),
        (Sly, "Sly"),
        (type("A\n::error::\x1b[2J", (Exception,), {}), r"A\n::error::\x1b[2J"),
    ],
)
def test_a_cause_is_a_class_and_the_status_if_there_is_one(
    made: Callable[[], Exception], cause: str
) -> None:
    assert cause_of(made()) == cause


def test_the_most_frequent_causes_are_named_and_the_rest_is_other() -> None:
    counts = {"A": 1, "other": 2, "B": 3_000, "C": 2, "D": 0}
    assert most_frequent(counts, 2) == {"B": 3_000, "C": 2, "other": 3}
    assert most_frequent(counts, 3) == {"B": 3_000, "C": 2, "A": 1, "other": 2}
    assert most_frequent({"A": 1, "D": 0}, 2) == {"A": 1}
    assert tell_causes(most_frequent(counts, 1)) == ["3,000 B", "5 other"]
