"""JSON that anybody may have written is read, or refused in one line."""

from collections.abc import Callable

import pytest

from asyncwait.spec import InvalidConfig
from asyncwait.spec.scenario import scenarios_from_json, trace_from_json

DEEP = b"[" * 100_000 + b"]" * 100_000
NO_UTF_8 = b'"\xff"'
PLAN = b'[{"plans": [{"value": %b}]}]'
CALL = b'{"type": "call", "at": 0, "call": 0, "value": %b}'
TRACE = b'{"legs": [{"ending": {"how": "left"}, "events": [%b]}]}' % CALL


@pytest.mark.parametrize(
    ("read", "data", "said"),
    [
        (
            scenarios_from_json,
            PLAN % NO_UTF_8,
            r"the scenarios are not JSON, which is UTF-8: .*",
        ),
        (scenarios_from_json, PLAN % DEEP, "the scenarios are not JSON: it is nested too deeply"),
        (scenarios_from_json, b"\xff\xfe[", r"the scenarios are not JSON: JSON is malformed: .*"),
        (scenarios_from_json, b"7", r"the scenarios break their schema: Expected `array`, .*"),
        (trace_from_json, TRACE % NO_UTF_8, r"the trace is not whole JSON, which is UTF-8: .*"),
        (trace_from_json, TRACE % DEEP, "the trace is not whole JSON: it is nested too deeply"),
        (trace_from_json, b'{"legs": [', r"the trace is not whole JSON: Input data was truncated"),
        (trace_from_json, b"[]", r"the trace breaks its schema: Expected `object`, got `array`"),
    ],
)
def test_whatever_stands_in_a_file_is_no_error_of_ours(
    read: Callable[[bytes], object], data: bytes, said: str
) -> None:
    """It says what is wrong with it, and where."""
    with pytest.raises(InvalidConfig, match=f"^{said}$"):
        read(data)
