"""One run before all others: whether a backend is an operator at all, right or wrong.

What `open_operator` takes and returns is the affair of whoever adapts an operator. A slip there is
no broken rule, and would break all of them.
"""

import inspect
from collections.abc import Sequence
from typing import Any

from asyncwait.conformance.harness import play, play_in_real_time, shown
from asyncwait.conformance.running._backend import StreamBackend
from asyncwait.conformance.running._capabilities import adapted
from asyncwait.spec import Element, InvalidConfig, Record
from asyncwait.spec.scenario import Capability, Plan, Scenario, Step, Timed

_ARGUMENTS = ("config", "fn", "elements", "restore")

_PLAIN = Scenario(inputs=(Timed(0, Record("a")),), plans=(Plan("a", (Step(results=("b",)),)),))


def probe(backend: StreamBackend) -> None:
    """Open an operator, take an element, and leave.

    Whatever goes wrong on the way is told by the scenarios that are judged, unless it is no
    operator that was opened.

    Raises:
        InvalidConfig: it is none; the message says what was expected.
    """
    _require_arguments(backend.open_operator)
    wrong: list[str] = []

    def watched(*arguments: Any) -> Any:
        opened = backend.open_operator(*arguments)
        if inspect.isawaitable(opened) or not _can(opened, "__aenter__", "__aexit__"):
            wrong.append(f"open_operator returned {shown(opened)}, expected {_CONTEXT}")
            return opened
        return _Watched(opened, backend.capabilities, wrong)

    virtual = Capability.VIRTUAL_TIME in backend.capabilities
    scenario = adapted(_PLAIN, backend.capabilities)
    opening: Any = watched
    (play if virtual else play_in_real_time)(opening, scenario, backend.loop)
    if wrong:
        raise InvalidConfig(wrong[0])


_CONTEXT = "an async context manager; see contextlib.asynccontextmanager"


def _require_arguments(open_operator: Any) -> None:
    try:
        signature = inspect.signature(open_operator)
    except (TypeError, ValueError):
        return  # There is no telling; the call tells.
    try:
        signature.bind(*_ARGUMENTS)
    except TypeError as error:
        expected = f"open_operator({', '.join(_ARGUMENTS)}), called with all four by position"
        raise InvalidConfig(f"expected {expected}, got {signature}: {error}") from None


def _can(what: object, *names: str) -> bool:
    return all(callable(getattr(what, name, None)) for name in names)


class _Watched:
    """An operator that is looked at where it is used."""

    def __init__(self, opened: Any, capabilities: frozenset[Capability], wrong: list[str]) -> None:
        self._opened = opened
        self._needs = ["__anext__"]
        if Capability.STATISTICS in capabilities:
            self._needs.append("statistics")
        self._wrong = wrong
        self._results: Any = None

    async def __aenter__(self) -> Any:
        self._results = await self._opened.__aenter__()
        lacking = [name for name in self._needs if not _can(self._results, name)]
        if lacking:
            self._wrong.append(
                f"entering what open_operator returned gave {shown(self._results)}, expected an "
                f"async iterator of elements with {' and '.join(f'{each}()' for each in lacking)}"
            )
        return self

    async def __aexit__(self, *raised: object) -> Any:
        return await self._opened.__aexit__(*raised)

    async def __anext__(self) -> Any:
        given = await self._results.__anext__()
        if isinstance(given, Sequence) and given and all(isinstance(e, Element) for e in given):
            self._wrong.append(
                f"a read gave {shown(given)}, expected one element: give them one after the other"
            )
        return given

    def __getattr__(self, name: str) -> Any:
        return getattr(self._results, name)
