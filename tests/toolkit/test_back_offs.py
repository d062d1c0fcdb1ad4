"""Back-offs: which outcomes of a call are no last word."""

from typing import Any

import pytest

from asyncwait.spec import CallFailed, Record, Retry
from asyncwait.toolkit import BackOffs, call_failed

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
