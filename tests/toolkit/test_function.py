"""Parts of a user's function, its results, its back-offs, and checks of a snapshot."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from asyncwait.spec import (
    Barrier,
    CallFailed,
    InvalidConfig,
    InvalidResult,
    LatencyMarker,
    Record,
    Retry,
    Snapshot,
    Watermark,
    WatermarkStatus,
)
from asyncwait.toolkit import BackOffs, FunctionParts, call_failed, check_restore, collect_results

RECORD = Record("a", 12)


def of_part(name: str, part: object) -> Callable[..., Awaitable[Any]]:
    async def fn(value: Any) -> list[Any]:
        return [value]

    setattr(fn, name, part)
    return fn


@pytest.mark.parametrize("part", ["async_invoke", "timeout", "failure", "open", "close"])
def test_a_part_that_is_no_function_is_refused(part: str) -> None:
    with pytest.raises(InvalidConfig, match=rf"^fn\.{part} must be .* got 0 \(int\)$"):
        FunctionParts.of(of_part(part, 0))


class OldSequence:
    def __getitem__(self, index: int) -> int:
        return [1, 2][index]


@pytest.mark.parametrize(
    ("returned", "results"),
    [
        ([], ()),
        ((1, None), (1, None)),
        (range(3), (0, 1, 2)),
        (iter("ab"), ("a", "b")),
        ({"k": 1}, ("k",)),
        (OldSequence(), (1, 2)),
    ],
)
def test_any_collection_is_read_in_its_order(returned: Any, results: tuple[Any, ...]) -> None:
    assert collect_results(RECORD, returned) == results


@pytest.mark.parametrize("returned", [None, "text", b"bytes", bytearray(b"x"), 7, list])
def test_what_is_no_collection_is_an_invalid_result(returned: Any) -> None:
    with pytest.raises(InvalidResult) as caught:
        collect_results(RECORD, returned)

    assert f"got {returned!r} ({type(returned).__name__})" in str(caught.value)
    assert all(cure in str(caught.value) for cure in ("[]", "[result]"))
    assert caught.value.record == RECORD


def test_the_error_of_a_call_that_names_the_record_is_not_wrapped_again() -> None:
    error = InvalidResult(RECORD, "no collection")

    assert call_failed(RECORD, error) is error
    assert call_failed(Record("a", 12), error).__cause__ is error


def test_an_error_is_shown_with_its_text_where_that_is_made_by_its_class() -> None:
    class Late(LookupError):
        def __str__(self) -> str:
            return "no column is named 'nope'"

    for error, said in ((Late(), "Late(\"no column is named 'nope'\")"), (Late(1), "Late(1)")):
        assert str(call_failed(RECORD, error)).endswith(f"the call failed: {said}")


A = Record("a")


def failure(error: BaseException) -> CallFailed:
    failed = call_failed(A, error)
    assert isinstance(failed, CallFailed)
    return failed


class Sized(Exception):
    def __len__(self) -> int:
        return 0


@pytest.mark.parametrize(
    ("on_error", "repeated"),
    [
        (Exception, [ValueError, KeyError, TimeoutError, Sized]),
        (ValueError, [ValueError]),
        ((ValueError, KeyError), [ValueError, KeyError]),
        (Sized, [Sized]),
        (lambda error: isinstance(error, TimeoutError), [TimeoutError]),
        (lambda error: "yes" if isinstance(error, KeyError) else "", [KeyError]),
    ],
)
def test_an_error_that_is_named_is_a_reason(on_error: Any, repeated: list[type[Exception]]) -> None:
    back_offs = BackOffs(Retry(on_error=on_error))
    kinds = [ValueError, KeyError, TimeoutError, Sized]

    assert [k for k in kinds if back_offs.after_failure(failure(k()), 1) is not None] == repeated


def test_what_ends_the_program_passes_a_predicate() -> None:
    def interrupted(_: object) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        BackOffs(Retry(on_error=interrupted)).after_failure(failure(ValueError()), 1)


def test_jitter_leaves_out_a_part_of_each_back_off() -> None:
    retry = Retry(initial=8, multiplier=1, jitter=0.25, seed=7)
    pauses = [_pauses(BackOffs(retry)) for _ in range(2)]

    assert pauses[0] == pauses[1]
    assert len(set(pauses[0])) == len(pauses[0])
    assert all(6 <= pause <= 8 for pause in pauses[0])
    assert _pauses(BackOffs(Retry(initial=8, multiplier=1, jitter=0.25))) != pauses[0]


def _pauses(back_offs: BackOffs) -> list[float | None]:
    return [back_offs.after_failure(failure(ValueError()), 1) for _ in range(20)]


@pytest.mark.parametrize(
    "restore",
    [None, Snapshot(1), Snapshot(2, (Record("a"), Watermark(3), WatermarkStatus(idle=True)))],
    ids=["none", "empty", "everything"],
)
def test_what_a_snapshot_can_hold_is_accepted(restore: Snapshot | None) -> None:
    check_restore(restore)


@pytest.mark.parametrize(
    ("restore", "name", "shown"),
    [
        *((wrong, "restore", wrong) for wrong in (b"x", (Record("a"),), Snapshot)),
        *(
            (Snapshot(1, (Record("b"), wrong, 7)), r"restore\.in_flight", wrong)  # type: ignore[arg-type]
            for wrong in ("a", None, LatencyMarker(1), Barrier(1), Snapshot(1))
        ),
        *(
            (Snapshot(1, wrong), r"restore\.in_flight", wrong)
            for wrong in (None, 7, "ab", iter(()))
        ),  # type: ignore[arg-type]
    ],
)
def test_what_can_not_be_restored_is_refused(restore: Any, name: str, shown: Any) -> None:
    told = re.escape(f"got {shown!r} ({type(shown).__name__})")
    with pytest.raises(InvalidConfig, match=f"^{name} must be .*{told}$"):
        check_restore(restore)
