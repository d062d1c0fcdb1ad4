"""A small HTTP service whose answers are made up: some late, some errors, some "come again".

python examples/http/service.py '{"seed": 7}'
"""

import asyncio
import math
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

sys.path.append(str(Path(__file__).resolve().parents[1] / "serving"))

import answering
from answering import Answer, response


class Call(NamedTuple):
    """A line of the log; times are those of the machine's monotonic clock, in seconds.

    The status is 0 if the client has left before the answer.
    """

    number: int
    began: float
    ended: float
    status: int


@dataclass(frozen=True)
class Behaviour:
    """Says how a request is answered; the same one always alike, whenever it comes.

    Args:
        seed: another one gives another service.
        median: seconds that half of the answers take at most. They have a long tail.
        longest: seconds that no answer takes longer than.
        busy: the share of requests that are told to come again (429), the first time.
        failing: the share of calls that are answered by an error (500).
        broken: the share of requests that always are.
        stuck: the share of requests that are not answered at all.
        retry_after: seconds after which those may come again that are told to.
    """

    seed: int = 1
    median: float = 0.03
    longest: float = 0.2
    busy: float = 0.02
    failing: float = 0.03
    broken: float = 0.003
    stuck: float = 0.002
    retry_after: float = 1

    def answer(self, number: int, attempt: int) -> Answer:
        """Return the answer to an attempt, the first of which is 1, for a request."""
        chance = Random(f"{self.seed}, {number}, {attempt}")
        seconds = min(chance.lognormvariate(math.log(self.median), 0.8), self.longest)
        fate = Random(f"{self.seed}, {number}").random()
        if fate < self.stuck:
            return Answer(200, math.inf)
        if fate < self.stuck + self.broken:
            return Answer(500, seconds)
        if fate < self.stuck + self.broken + self.busy and attempt == 1:
            return Answer(429, seconds)
        return Answer(500 if chance.random() < self.failing else 200, seconds)


class Service(answering.Service):
    """Answers calls, and keeps a log of them.

    Args:
        behaviour: says how.
    """

    def __init__(self, behaviour: Behaviour) -> None:
        super().__init__()
        self._behaviour = behaviour
        self._attempts = Counter[int]()

    async def answer(self, asked: str, reader: asyncio.StreamReader) -> bytes:
        """Return the response to a number; nothing if its client has left."""
        began, number = time.monotonic(), int(asked)
        self._attempts[number] += 1
        status, seconds = self._behaviour.answer(number, self._attempts[number])
        stays = await _stays(reader, seconds)
        self.log.append(Call(number, began, time.monotonic(), status if stays else 0))
        if not stays:
            return b""
        again = [f"Retry-After: {self._behaviour.retry_after:g}"] if status == 429 else []
        return response(status, {"number": number}, *again)


async def _stays(reader: asyncio.StreamReader, seconds: float) -> bool:
    """Wait, and say whether the client does, too."""
    with suppress(ConnectionError):
        try:
            async with asyncio.timeout(seconds):
                await reader.read(1)
        except TimeoutError:
            return True
    return False


def service(**options: Any) -> Service:
    """Return a service that behaves so."""
    return Service(Behaviour(**options))


if __name__ == "__main__":
    answering.start(service, asdict(Behaviour()))
