"""What answers the visits of a call host: a lease, errors, and who may visit."""

import asyncio
from typing import Any

import pytest
from carried import Hosted, Service, visit, work

from asyncwait.backends.spark.carry._serve import HostServer
from asyncwait.backends.spark.carry._wire import Answer, Asked, read_answer
from asyncwait.backends.spark.progress._wire import LENGTH, packed

pytestmark = pytest.mark.anyio


class Connection:
    def __init__(self) -> None:
        self.written = bytearray()
        self.write = self.written.extend

    async def drain(self) -> None:
        """Take more."""

    def close(self) -> None:
        """Take no more."""

    async def asks(self, server: HostServer, asked: Asked) -> Answer:
        reader = asyncio.StreamReader()
        reader.feed_data(packed(asked))
        answers = asyncio.create_task(server.answer(reader, self))  # type: ignore[arg-type]
        while not self.written:
            await asyncio.sleep(0.001)
        reader.feed_eof()
        await answers
        return read_answer(self.written[LENGTH.size :])


GAPS = {"first": ((), 60), "none": ((0,), 1), "long": ((90_000, 0), 270), "back": ((90_000, 10), 1)}


@pytest.mark.parametrize("case", GAPS)
async def test_a_lease_is_longer_than_the_time_between_visits(hosted: Hosted, case: str) -> None:
    gaps, expected = GAPS[case]
    made, host = hosted(Service(), lease=1.0)
    server = HostServer(made, host)
    for gap in gaps:
        await Connection().asks(server, Asked(visit(made, 0), gap))
    before = asyncio.get_running_loop().time()
    await server.until_over()
    assert asyncio.get_running_loop().time() - before == pytest.approx(expected, abs=0.01)


async def test_half_characters_are_told(hosted: Hosted) -> None:
    async def fails(_row: Any) -> Any:
        raise ValueError("bad \ud800 text")

    made, host = hosted(fails)
    said = await Connection().asks(HostServer(made, host), Asked(visit(made, 1)))
    assert (len(said.failed), said.broken) == (1, None)
    assert "ValueError: bad \\ud800 text" in said.failed[0][1]


async def test_an_answer_that_can_not_be_sent_is_told() -> None:
    class Broken:
        figures = tuple

        async def visit(self, _visit: Any) -> Any:
            return [("\ud800", b"")]

    made = work(Service())
    server = HostServer(made, Broken())  # type: ignore[arg-type]
    said = await Connection().asks(server, Asked(visit(made, 1)))
    assert "UnicodeEncodeError" in str(said.broken)
    await server.until_over()


async def test_an_error_of_one_visit_is_nothing_to_other_lanes() -> None:
    class Odd:
        is_broken = False
        figures = tuple

        async def visit(self, asked: Any) -> Any:
            if len(asked.wanted) == 1:
                raise KeyError("a row that can't be read")
            return []

    made = work(Service())
    server = HostServer(made, Odd())  # type: ignore[arg-type]
    said = await Connection().asks(server, Asked(visit(made, 1)))
    assert "can't be read" in str(said.broken)
    assert (await Connection().asks(server, Asked(visit(made, 1, 2)))).broken is None


PLACES: dict[str, tuple[list[Any], bool]] = {
    "two operators": ([(at, f"{at} {n}", (at, n)) for at in range(3) for n in range(2)], True),
    "one, played twice": ([(at, f"{at} {n}", (at,)) for at in range(9) for n in range(2)], False),
    "rows and timers": ([(at, f"{at}", (at, n)) for at in range(9) for n in range(2)], False),
    "now and then": (
        [(at, f"{at} {n}", (at, n)) for at in range(9) for n in range(2 - at % 2)],
        False,
    ),
    "two, and a query that is started again with one": (
        [
            *((at, f"{at} {n}", (at, n)) for at in range(2) for n in range(2)),
            (2, "2 0", (2,)),
            (2, "9 0", (2, 3), "again"),
        ],
        False,
    ),
}


@pytest.mark.parametrize("case", PLACES)
async def test_two_operators_that_share_a_host_are_told_so(hosted: Hosted, case: str) -> None:
    visits, is_told = PLACES[case]

    made, host = hosted(Service())
    server = HostServer(made, host)
    asked = [
        Asked(visit(made, *rows), 0, stamp, place, *run) for stamp, place, rows, *run in visits
    ]
    said = [(await Connection().asks(server, each)).broken for each in asked]
    assert [text for text in said[:-1] if text] == []
    assert ("Carry(name=...)" in (said[-1] or "")) is is_told
