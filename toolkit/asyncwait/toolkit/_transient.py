"""Classification of errors: whether another call may succeed, and when to make it.

The errors of clients show an HTTP status, or else the name of their class, so that no client has to
be installed.
"""

import errno
import math
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from asyncwait.spec import RetryAfter

_STATUSES = {408, 425, 429, 500, 502, 503, 504, *range(520, 525), 529}
"""Transient HTTP statuses, also of proxies (520 to 524), and of an overloaded service (529)."""

_LOST = {
    *(errno.EADDRNOTAVAIL, errno.EHOSTDOWN, errno.EHOSTUNREACH),
    *(errno.ENETDOWN, errno.ENETRESET, errno.ENETUNREACH, errno.ETIMEDOUT),
}

_OF_CLIENTS: Mapping[str, bool] = {
    "aiohttp.ClientConnectionError": True,
    "aiohttp.ClientPayloadError": True,
    "aiohttp.ClientSSLError": False,
    "botocore.ConnectionError": True,
    "botocore.HTTPClientError": True,
    "botocore.SSLError": False,
    "http.IncompleteRead": True,
    "httpx.NetworkError": True,
    "httpx.RemoteProtocolError": True,
    "httpx.TimeoutException": True,
    "redis.AuthenticationError": False,
    "redis.BusyLoadingError": True,
    "redis.ConnectionError": True,
    "redis.TimeoutError": True,
    "requests.ChunkedEncodingError": True,
    "requests.ConnectionError": True,
    "requests.SSLError": False,
    "requests.Timeout": True,
    "trio.TooSlowError": True,
}
"""Classes by package and name, and whether their errors are transient. The first class of an
error's MRO in this table counts."""

_ANYWHERE = {"APIConnectionError", "APITimeoutError"}
"""Classes in generated clients of many services, such as OpenAI's."""

_BY_CODE = {
    **dict.fromkeys(("UNAVAILABLE", "DEADLINE_EXCEEDED"), 503),
    **dict.fromkeys(("RESOURCE_EXHAUSTED", "SlowDown", "LimitExceededException"), 429),
    **dict.fromkeys(("RequestLimitExceeded", "ProvisionedThroughputExceededException"), 429),
    **dict.fromkeys(("RequestTimeout", "RequestTimeoutException", "PriorRequestNotComplete"), 408),
}
"""The HTTP statuses for codes of gRPC and AWS; AWS sends some of its codes with the status 400."""

_SPENT = {"insufficient_quota"}
"""Codes of services for a spent quota, which they send with status 429."""

_DEEP = 8
"""Largest number of errors in a chain of causes."""


def transient(error: BaseException) -> bool | RetryAfter:
    """Return whether a failed call may succeed the next time: `Retry(on_error=transient)`.

    An error with an HTTP status is transient if the status is 408, 425, 429, 500, 502, 503, 504,
    520 to 524 or 529; any other status, such as 400, is permanent. The same holds for the codes of
    gRPC (`UNAVAILABLE`, `RESOURCE_EXHAUSTED`, `DEADLINE_EXCEEDED`) and AWS (`SlowDown` and the
    throttling codes). Without a status, lost connections and timeouts are transient: errors of
    Python itself and of aiohttp, botocore, httpx, redis, requests, trio, urllib and clients like
    OpenAI's, also as the cause of another error. All other errors are permanent, so that a mistake
    in the function costs one call.

    Args:
        error: error of the call.

    Returns:
        Whether another attempt follows; a `RetryAfter` if the service names a later time, by
        `Retry-After`, in seconds or as a date, or by `retry-after-ms`. The back-off of `Retry`
        applies if it is longer.
    """
    errors = list(causes(error))
    if any(isinstance(each, ssl.SSLCertVerificationError) for each in errors):
        return False
    answers = (_answer(each) for each in errors)
    return next((each for each in answers if each is not None), False)


def cause_or_self(error: BaseException) -> BaseException:
    """Return the cause of an error, even if the cause is falsy; or else the error itself."""
    return error if error.__cause__ is None else error.__cause__


def causes(error: Any) -> Iterator[BaseException]:
    """Yield an error and its causes, eight at most; `reason` is the cause of errors of urllib."""
    for _ in range(_DEEP):
        if not isinstance(error, BaseException):
            return
        yield error
        cause = error.__cause__
        error = attribute_of(error, "reason") if cause is None else cause


def attribute_of(thing: Any, name: str) -> Any:
    """Return an attribute; None without such an attribute, or if its property raises."""
    try:
        return getattr(thing, name, None)
    except Exception:  # the property is the client's, and may raise anything
        return None


def _answer(error: BaseException) -> bool | RetryAfter | None:
    if str(vars(error).get("code")) in _SPENT:  # Reading aiohttp's property `code` would warn.
        return False
    seconds = _told(error)
    if seconds is not None and seconds > 0:
        return RetryAfter(seconds, at_least=True)
    status = status_of(error)
    return _by_class(error) if status is None else status in _STATUSES


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status in an error; None without a status.

    For a code of gRPC or AWS, return the status with the same meaning.
    """
    code = _code(error)
    if code is not None:
        other = 429 if "Throttl" in code else _aws(error, "HTTPStatusCode") or 400
        return _BY_CODE.get(code, other)
    for place in (error, attribute_of(error, "response")):
        for name in ("status", "status_code", "code"):
            status = attribute_of(place, name)
            if isinstance(status, int) and 100 <= status < 600:  # noqa: PLR2004 - HTTP's own
                return status
    return None


def _code(error: BaseException) -> str | None:
    of_aws = _item(attribute_of(error, "response"), "Error", "Code")
    if isinstance(of_aws, str):
        return of_aws
    code = attribute_of(error, "code")
    try:
        name = getattr(code(), "name", None) if callable(code) else None
    except Exception:  # the method is the client's, and may raise anything
        return None
    return name if isinstance(name, str) else None


def _aws(error: BaseException, name: str) -> Any:
    return _item(attribute_of(error, "response"), "ResponseMetadata", name)


def _item(thing: Any, *names: str) -> Any:
    for name in names:
        thing = thing.get(name) if isinstance(thing, dict) else None
    return thing


def _by_class(error: BaseException) -> bool | None:
    for kind in type(error).__mro__:
        known = _OF_CLIENTS.get(f"{kind.__module__.partition('.')[0]}.{kind.__name__}")
        if known is not None:
            return known
        if kind.__name__ in _ANYWHERE:
            return True
    if isinstance(error, ConnectionError | TimeoutError):
        return True
    return True if isinstance(error, OSError) and error.errno in _LOST else None


def _told(error: BaseException) -> float | None:
    """Return the seconds after which a service accepts the next call; None if it does not say."""
    own, response = attribute_of(error, "headers"), attribute_of(error, "response")
    for headers in (own, attribute_of(response, "headers"), _aws(error, "HTTPHeaders")):
        get: Callable[[str], Any] | None = attribute_of(headers, "get")
        if get is not None:
            for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
                text = get(name) or get(name.title())
                seconds = None if text is None else _seconds(str(text), get)
                if seconds is not None:
                    return seconds / unit
    return None


def _seconds(text: str, get: Callable[[str], Any]) -> float | None:
    """Return the seconds in a header: a number, or a date by the service's clock."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = _until(text, get("date") or get("Date"))
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _until(text: str, now: Any) -> float:
    try:
        at = parsedate_to_datetime(text).timestamp()
        return at - (time.time() if now is None else parsedate_to_datetime(str(now)).timestamp())
    except (ValueError, OverflowError):
        return math.nan
