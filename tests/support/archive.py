"""The formats as a version writes them, and what is read of such files.

    python tests/support/archive.py

writes a folder of `tests/archive` for the version that is installed, and never writes over one: the
files are what users have. It needs the extras conformance and spark. `told.json` in the folder says
what was read of it on that day; `tests/archive` reads all folders, and asks for the same data.
"""

import asyncio
import json
import shutil
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from click.testing import CliRunner
from journals import entries, fill
from operators import in_a_row

from asyncwait.backends import emitter, pool, threads
from asyncwait.backends.journal import Failure, Journal, compact, key_of, summary
from asyncwait.backends.spark.carry._reading import lanes_of
from asyncwait.conformance._commands import asyncwait
from asyncwait.conformance.report import read_lines
from asyncwait.conformance.verifying import read_entries
from asyncwait.reference import open_operator
from asyncwait.spec import Barrier, Element, OperatorConfig, Record, Snapshot, Watermark
from asyncwait.spec import WatermarkStatus as Status
from asyncwait.spec.scenario import id_of
from asyncwait.spec.snapshots import decode_snapshot, encode_snapshot
from asyncwait.spec.vectors import shipped_vectors, vectors_from_json, vectors_to_json

FOLDER = Path(__file__).resolve().parents[1] / "archive"

CONFIG = OperatorConfig("unordered", 10)
VALUES = ({"größe": [1, None, 0.5]}, "b", None)
ELEMENTS: tuple[Element, ...] = (
    Record(VALUES[0], 5, "k"),
    Watermark(5),
    Status(idle=True),
    Status(idle=False),
    Record(VALUES[1], -(2**63)),
    Record(VALUES[2], None, ["a", 2**53]),
    Barrier(7),
)

SETTINGS = (("zone", "UTC"),)
KEYS = range(40)

FAULTY = "faulty-forgets-what-waits-for-room"
VECTORS = ("cancel.json", "copies.json", "order.json", "restore.json", "statistics.json")

EXPECTED_FAILURES = """\
[[expected-failure]]
rule = "SNAP-4"
reason = "restored in a set"
scenarios = ["none", "0123456789ab"]
until = 2027-01-31

[[expected-failure]]
rule = "KEY-9"
reason = "it has no keys"
strict = false

[[expected-failure]]
rule = "CACHE-1"
reason = "it will have a cache"
"""


async def _elements() -> AsyncIterator[Element]:
    for element in ELEMENTS:
        if isinstance(element, Barrier):
            await asyncio.sleep(0.05)  # so that the second of two has something
        yield element
    await asyncio.sleep(3600)


def taken(opens: Any, config: Any, fn: Any) -> Snapshot:
    async def scene() -> Snapshot:
        async with opens(config, fn, _elements()) as results:
            async for each in results:
                if isinstance(each, Snapshot):
                    goes.set()
                    return each
        raise AssertionError(opens)

    goes.clear()
    return asyncio.run(scene())


goes = threading.Event()
"""Set when threads may end."""


async def never(_: Any) -> list[Any]:
    return await asyncio.sleep(3600, [])


async def some(value: Any) -> list[Any]:
    return [value] if value is not None else await never(value)


def blocks(_: Any) -> list[Any]:
    goes.wait()
    return []


def write_snapshots(folder: Path) -> None:
    both = in_a_row(pool.open_operator, open_operator)
    found = {
        "chain": taken(both, CONFIG, (some, never)),
        "emitter": taken(emitter.open_operator, CONFIG, never),
        "pool": taken(pool.open_operator, CONFIG, never),
        "reference": taken(open_operator, CONFIG, never),
        "threads": taken(threads.open_operator, CONFIG, blocks),
    }
    for name, snapshot in found.items():
        (folder / f"{name}.snapshot").write_bytes(encode_snapshot(snapshot))


def read_snapshots(folder: Path) -> Any:
    files = sorted(folder.glob("*.snapshot"))
    return {file.stem: msgspec.to_builtins(decode_snapshot(file.read_bytes())) for file in files}


def journal_at(path: Path) -> Journal:
    return Journal(str(path), "job", "1", settings=SETTINGS, failures=True)


def write_journals(folder: Path) -> None:
    whole = journal_at(folder / "whole")
    whole.prepare()
    fill(whole, entries(*range(20)), name="merged")
    compact(whole.path)
    fill(whole, entries(*range(15, 25)), name="sealed")
    with whole.attempt("failed") as attempt:
        attempt.add_failure(Failure(key_of(30), "HTTPStatusError", "400 of größe", 3, 400))
    torn = shutil.copytree(whole.path, folder / "torn")
    fill(journal_at(torn), entries(*range(25, 30)), name="torn", is_closed=False)
    (file,) = torn.glob("torn-*")
    file.write_bytes(file.read_bytes()[:-1])


def read_journals(folder: Path) -> Any:
    return {path.name: _read_journal(path) for path in sorted(folder.iterdir())}


def _read_journal(path: Path) -> Any:
    with TemporaryDirectory() as folder:  # An attempt writes into it.
        journal = journal_at(shutil.copytree(path, Path(folder, "copy")))
        with journal.attempt("reader") as attempt:
            outcomes = attempt.outcomes([key_of(number) for number in KEYS])
    found = {str(number): _told(each) for number, each in zip(KEYS, outcomes, strict=True)}
    known = summary(str(path))
    states = {each.name: [each.entries, each.state] for each in (*known.loose, *known.merged)}
    return {"found": found, "files": states}


def _told(outcome: bytes | Failure | None) -> Any:
    return outcome.decode() if isinstance(outcome, bytes) else msgspec.to_builtins(outcome)


def write_report(folder: Path) -> None:
    arguments = ["verify", FAULTY, "--rule", "SNAP-2", "--rule", "ORD-1", "--count", "20"]
    with TemporaryDirectory() as home:
        done = CliRunner().invoke(asyncwait, [*arguments, "--report", home])
        assert done.exit_code == 1, done.output
        shutil.copy(Path(home, "report.jsonl"), folder)


def read_report(folder: Path) -> Any:
    report = read_lines(folder / "report.jsonl")
    runs = [
        {
            "backend": run.name,
            "doubt": run.header.doubt,
            "verdict": run.footer.word if run.footer else "",
            "results": {
                each.rule: [each.status, [[e.played, e.at, e.text] for e in each.evidence]]
                for each in run.results
            },
            "played": [
                [each.name, id_of(each.as_played), len(each.trace.legs[0].events)]
                for each in run.played
                if each.as_played and each.trace
            ],
        }
        for run in report.runs
    ]
    texts = {rule.id: [rule.level, rule.since, rule.sentence] for rule in report.rules}
    return {"header": msgspec.to_builtins(report.header), "rules": texts, "runs": runs}


def write_vectors(folder: Path) -> None:
    for name in VECTORS:
        (folder / name).write_bytes(vectors_to_json(shipped_vectors()[name]))


def read_vectors(folder: Path) -> Any:
    return {file.name: _read_vectors(file) for file in sorted(folder.iterdir())}


def _read_vectors(file: Path) -> Any:
    vectors = vectors_from_json(file.read_bytes()).vectors
    return {
        each.name: [each.rules, each.needs, id_of(each.scenario), msgspec.to_builtins(each.outcome)]
        for each in vectors
    }


def write_expected_failures(folder: Path) -> None:
    (folder / "known.toml").write_text(EXPECTED_FAILURES, encoding="utf-8")


def read_expected_failures(folder: Path) -> Any:
    return msgspec.to_builtins(read_entries(folder / "known.toml"))


def write_streams(folder: Path) -> None:
    """Run a stream of Spark that is stopped with calls in flight; keep the states of its lanes.

    The checkpoint around them is Spark's, and can't be kept: its own path stands in it.
    """
    from streams import SLOW, Stream, feed, states_of, two_lanes

    from asyncwait.backends.spark import embedded_spark

    with TemporaryDirectory() as home, two_lanes(embedded_spark()) as spark:
        stream = Stream(spark, Path(home, "stream"))
        feed(stream.source, 0, range(8))
        stream.run_until(8 - len(SLOW))
        for batch, lane, state in states_of(spark, stream.kept):
            (folder / f"{batch}-{lane}.lane").write_bytes(state)
    spark.stop()


def read_streams(folder: Path) -> Any:
    files = sorted(folder.glob("*.lane"))
    return {file.stem: _read_lane(file) for file in files}


def _read_lane(file: Path) -> Any:
    number = int(file.stem.partition("-")[2])
    (lane,) = lanes_of(file.stem, [(number, file.read_bytes())])
    return msgspec.to_builtins(lane)


FORMATS: Mapping[str, tuple[Callable[[Path], None], Callable[[Path], Any]]] = {
    "snapshots": (write_snapshots, read_snapshots),
    "journals": (write_journals, read_journals),
    "report": (write_report, read_report),
    "vectors": (write_vectors, read_vectors),
    "expected-failures": (write_expected_failures, read_expected_failures),
    "streams": (write_streams, read_streams),
}
"""How each is written, and read: a folder of its own."""


def read(folder: Path) -> Any:
    found = {name: FORMATS[name][1](folder / name) for name in FORMATS if (folder / name).is_dir()}
    return json.loads(msgspec.json.encode(found))


def lost(told: Any, found: Any, where: str = "") -> Iterator[str]:
    """Yield what was told once and is not found: more may be, such as a field that is new."""
    match told, found:
        case dict(), dict():
            for name, each in told.items():
                yield from lost(each, found.get(name), f"{where}/{name}")
        case list(), list() if len(told) == len(found):
            for number, pair in enumerate(zip(told, found, strict=True)):
                yield from lost(*pair, f"{where}/{number}")
        case _ if told != found:
            yield f"{where}: expected {told!r}, got {found!r}"


def write(folder: Path) -> None:
    """Write all formats, and what is read of them."""
    folder.mkdir()
    for name, (writes, _) in FORMATS.items():
        (folder / name).mkdir()
        writes(folder / name)
    told = json.dumps(read(folder), ensure_ascii=False, indent=1, sort_keys=True)
    (folder / "told.json").write_text(f"{told}\n", encoding="utf-8")


if __name__ == "__main__":
    write(FOLDER / version("asyncwait"))
