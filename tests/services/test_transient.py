"""Errors of real clients that are worth another call, and counts of causes."""

import asyncio
import errno
import ssl
import urllib.request
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import SimpleNamespace
from typing import Any
from urllib.error import HTTPError

import aiohttp
import anyio
import httpx
import pytest
import requests
from operators import seconds_now, virtual_loop

from asyncwait.backends.journal._failures import Failure
from asyncwait.backends.pool import ordered_wait
from asyncwait.backends.services import status_of, transient
from asyncwait.backends.services._causes import cause_of, most_frequent, tell_causes
from asyncwait.spec import CallFailed, Record, Retry, RetryAfter
from asyncwait.toolkit import call_failed

NOBODY = "http://127.0.0.1:9"
"""Where nobody listens."""


class _Service(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status, _, header = self.path[1:].partition("?")
        if status == "hang-up":
            return
        self.send_response(int(status))
        for each in filter(None, [header.replace("%20", " ")]):
            self.send_header(*each.split("=", 1))
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Service) as server:
        Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def _by_httpx(url: str) -> None:
    with httpx.Client(trust_env=False) as client:
        client.get(url).raise_for_status()


def _by_aiohttp(url: str) -> None:
    async def ask() -> None:
        async with aiohttp.ClientSession(raise_for_status=True) as session:
            await session.get(url)

    asyncio.run(ask())


def _by_requests(url: str) -> None:
    with requests.Session() as session:
        session.trust_env = False
        session.get(url).raise_for_status()


def _by_urllib(url: str) -> None:
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url).close()


CLIENTS = pytest.mark.parametrize(
    "client", [_by_httpx, _by_aiohttp, _by_requests, _by_urllib], ids=lambda client: client.__name__
)


def raised(client: Callable[[str], None], url: str) -> Exception:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - each client has its own
        client(url)
    if isinstance(caught.value, HTTPError):
        caught.value.close()  # It is the answer, too.
    return caught.value


REFUSED, TROUBLED = (
    (400, 401, 403, 404, 409, 413, 422, 501),
    (408, 425, 429, 500, 502, 503, 504, 529),
)


@CLIENTS
@pytest.mark.parametrize("status", [*REFUSED, *TROUBLED])
def test_trouble_of_the_service_may_pass_and_a_refusal_stands(
    client: Any, status: int, service: str
) -> None:
    error = raised(client, f"{service}/{status}")
    assert (transient(error), status_of(error)) == (status in TROUBLED, status)


@CLIENTS
def test_the_reason_of_a_failure_names_the_status_first(client: Any, service: str) -> None:
    error = raised(client, f"{service}/422?X-Long={'x' * 500}")
    reason = call_failed(Record(1), error).reason
    assert reason.startswith(f"the call failed: {type(error).__name__} 422: ")
    assert Failure.of_call(b"", error).reason == reason


@CLIENTS
def test_a_lost_connection_may_pass(client: Any, service: str) -> None:
    assert transient(raised(client, NOBODY)) is True
    assert transient(raised(client, f"{service}/hang-up")) is True


@CLIENTS
@pytest.mark.parametrize(
    ("header", "seconds"),
    [("Retry-After=7", 7), ("retry-after=0.5", 0.5), ("retry-after-ms=250", 0.25)],
)
def test_a_service_says_when(client: Any, header: str, seconds: float, service: str) -> None:
    for status in (429, 503, 403):
        answer = transient(raised(client, f"{service}/{status}?{header}"))
        assert isinstance(answer, RetryAfter)
        assert answer.seconds == seconds


@CLIENTS
def test_a_service_says_when_by_a_date(client: Any, service: str) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    answer = transient(raised(client, f"{service}/503?Retry-After={date.replace(' ', '%20')}"))
    assert isinstance(answer, RetryAfter)
    assert answer.at_least
    assert abs(answer.seconds - 60) <= 2  # Each of the two is in whole seconds.


@CLIENTS
@pytest.mark.parametrize("text", ["soon", "inf", "nan", "Fri,%2099%20Nov%202026%2000:00:00%20GMT"])
def test_what_says_nothing_sets_nothing(client: Any, text: str, service: str) -> None:
    assert transient(raised(client, f"{service}/503?Retry-After={text}")) is True
    assert transient(raised(client, f"{service}/400?Retry-After={text}")) is False


class APITimeoutError(Exception):
    """As clients call it that are generated for many services."""


class _Quota(Exception):
    status_code = 429

    def __init__(self) -> None:
        super().__init__("no money")
        self.code = "insufficient_quota"


def _aws(code: str, status: int = 400) -> Exception:
    error: Any = Exception(code)
    error.response = {
        "Error": {"Code": code},
        "ResponseMetadata": {"HTTPStatusCode": status, "HTTPHeaders": {}},
    }
    return error  # type: ignore[no-any-return]


def _grpc(name: str) -> Exception:
    error: Any = Exception(name)
    error.code = lambda: SimpleNamespace(name=name)
    return error  # type: ignore[no-any-return]


_BOTO = type("ConnectionError", (Exception,), {"__module__": "botocore.exceptions"})


def _caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


LOST_OR_LATE: list[Exception] = [
    TimeoutError(),
    ConnectionResetError(),
    OSError(errno.ENETUNREACH, "no network"),
    httpx.ReadTimeout("slow"),
    APITimeoutError(),
    _aws("SlowDown", 503),
    _aws("ThrottlingException"),
    _aws("ProvisionedThroughputExceededException"),
    _aws("InternalError", 500),
    _grpc("UNAVAILABLE"),
    _grpc("RESOURCE_EXHAUSTED"),
    type("EndpointConnectionError", (_BOTO,), {})(),
    _caused(RuntimeError("no weather"), httpx.ReadTimeout("slow")),
]
OTHERS: list[Exception] = [
    _Quota(),
    _aws("AccessDenied", 403),
    _aws("ValidationException"),
    _grpc("INVALID_ARGUMENT"),
    FileNotFoundError(errno.ENOENT, "no file"),
    httpx.UnsupportedProtocol("ftp"),
    LookupError("no such city"),
    ValueError("no number"),
    _caused(httpx.ConnectError("no connection"), ssl.SSLCertVerificationError("wrong")),
]


@pytest.mark.parametrize("error", [*LOST_OR_LATE, *OTHERS], ids=repr)
def test_what_is_lost_or_late_may_pass_and_other_errors_stand(error: Exception) -> None:
    assert transient(error) is (error in LOST_OR_LATE)


def test_errors_that_cause_each_other_come_to_an_end() -> None:
    first, second = ValueError(1), ValueError(2)
    first.__cause__, second.__cause__ = second, first
    assert transient(first) is False


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
def test_a_permanent_failure_costs_one_call(loop: str, service: str) -> None:
    calls: list[tuple[float, str]] = []

    async def fetch(path: str) -> None:
        calls.append((seconds_now(), path))
        _by_httpx(f"{service}/{path}")

    async def main(path: str) -> None:
        retry = Retry(max_attempts=3, initial=0.1, jitter=0, on_error=transient)
        with pytest.raises(CallFailed):
            async with ordered_wait([path], fetch, retry=retry) as results:
                [each async for each in results]

    for path in ("400", "503", "429?Retry-After=60"):
        backend, options = virtual_loop(loop)
        anyio.run(main, path, backend=backend, backend_options=options)
    assert [path for _, path in calls] == ["400", *["503"] * 3, *["429?Retry-After=60"] * 3]
    assert [at for at, _ in calls] == [0, 0, 0.1, 0.3, 0, 60, 120]


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
