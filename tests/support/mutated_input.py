"""Reads mutated input of one kind, thousands of times, with little memory; says what went wrong.

    python mutated_input.py KIND FIRST COUNT

A line on standard output for each input that was neither accepted nor refused as it should be, and
one that counts the others.
"""

import resource
import signal
import struct
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from random import Random

import msgspec
from msgspec import Struct
from mutations import mutated
from reports import report, verdict
from whole_run import BATCHED, CACHED, FULL, LIMITED

from asyncwait.backends.journal import Journal, key_of, summary
from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.expected_failures.file import read_entries
from asyncwait.conformance.generation import generate
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import judge
from asyncwait.conformance.report import draw, read_lines, report_to_lines
from asyncwait.conformance.report._junit import to_junit
from asyncwait.conformance.running import Broken, checked
from asyncwait.conformance.running._speech import Program, told_from, trace_of
from asyncwait.reference import open_operator
from asyncwait.spec import AsyncWaitError, Record, Snapshot, Watermark, WatermarkStatus
from asyncwait.spec.scenario import (
    Request,
    Scenario,
    Trace,
    declaration_from_json,
    protocol_from_json,
    request_from_json,
    scenarios_from_json,
    scenarios_to_json,
    trace_from_json,
)
from asyncwait.spec.snapshots import decode_snapshot, encode_snapshot
from asyncwait.spec.vectors import shipped_vectors, vectors_from_json, vectors_to_json

MEMORY = 1 << 30  # bytes
SECONDS = 20  # of the real clock, for one input; a busy machine takes long for anything
LONGEST = 2_000  # characters of a message
ACCEPTED, REFUSED = "accepted", "refused"


class Kind(Struct, frozen=True):
    sound: Sequence[bytes]
    read: Callable[[bytes], object]
    mutate: Callable[[Random, bytes], bytes] = mutated


SCENARIOS: list[Scenario] = [
    *(example.scenario for example in EXAMPLES[::12]),
    *generate(30, seed=0),
]


def _traces() -> dict[bytes, Scenario]:
    return {msgspec.json.encode(play(open_operator, each)): each for each in SCENARIOS[::2]}


def _judge(scenario: Scenario, trace: Trace) -> Trace | Broken:
    """Judge a trace as the command does: whatever it says, no check may break."""
    run = checked(scenario, trace)
    if isinstance(run, Broken):
        return run
    assert_short(draw(scenario, run, None))
    judged = judge(scenario, run, CHECKS)
    broken = [f"{rule}: {each.error}" for rule, each in judged.by_rule.items() if each.error]
    assert not judged.error, judged.error
    assert not broken, broken
    assert_short(violation.text for _, violation in judged.violations())
    return run


def assert_short(lines: Iterable[str]) -> None:
    """What is shown to people must not be flooded by one value."""
    longest = max(lines, key=len, default="")
    assert len(longest) <= LONGEST, f"{len(longest)} characters: {longest[:300]}"


def _trace_kind(before: bytes, after: bytes, read: Callable[[Scenario, bytes], object]) -> Kind:
    """Traces with something round them; whoever reads one knows its scenario."""
    scenarios = {before + trace + after: each for trace, each in _traces().items()}
    seen: list[Scenario] = []

    def mutate(chance: Random, data: bytes) -> bytes:
        seen[:] = [scenarios[data]]
        return mutated(chance, data)

    return Kind(list(scenarios), lambda data: read(seen[0], data), mutate)


def _trace(scenario: Scenario, data: bytes) -> object:
    return _judge(scenario, trace_from_json(data))


def _reply(scenario: Scenario, data: bytes) -> object:
    program = Program("exec:test", ("test",))
    assert_short([program.astray(data, 7, 2)])
    return _judge(scenario, program.reply(data))


def _first_line(data: bytes) -> object:
    return protocol_from_json(data), declaration_from_json(data)


SNAPSHOT = Snapshot(
    7,
    (Record({"k": [1, None, "x"]}, 5, "key"), Watermark(3), WatermarkStatus(True), Record(1.5)),
    None,
    Snapshot(6, (Record("b"),), 2),
)


def _mutate_snapshot(chance: Random, data: bytes) -> bytes:
    if chance.random() < 0.3:
        return mutated(chance, data)
    payload = mutated(chance, data[14:])
    return struct.pack(">4sHII", b"AWSN", 1, len(payload), zlib.crc32(payload)) + payload


def _journal_files() -> list[bytes]:
    files = []
    for settings in ((), (("columns", "id bigint as a value"), ("zone", "UTC"))):
        with tempfile.TemporaryDirectory() as folder:
            journal = Journal(folder, "job", "1", settings=settings)
            journal.prepare()
            with journal.attempt("part") as attempt:
                for number in range(3):
                    attempt.add(key_of(number), b"%d" % number)
            files += [file.read_bytes() for file in Path(folder).iterdir()]
    return files


def _mutate_journal(chance: Random, data: bytes) -> bytes:
    if chance.random() < 0.3:
        return mutated(chance, data)
    end = 12 + int.from_bytes(data[8:12], "little")
    meta = mutated(chance, data[12:end])
    head = data[:8] + len(meta).to_bytes(4, "little") + meta
    return head + blake2b(head, digest_size=16).digest() + data[end + 16 :]


def _journal(data: bytes) -> object:
    """Read a file of a journal, whichever it is; of what is found, each payload is right."""
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(folder, "job", "1")
        journal.prepare()
        is_entries = data.startswith(b"AWJRNe")
        Path(folder, "part.loose" if is_entries else "journal.identity").write_bytes(data)
        shown = summary(folder)
        with journal.attempt("part") as attempt:
            found = attempt.find_all([key_of(number) for number in range(3)])
        assert all(each in {None, b"%d" % number} for number, each in enumerate(found)), found
        return shown


def _told(scenario: Scenario, data: bytes) -> object:
    return _judge(scenario, trace_of(told_from(data)))


EXPECTED_FAILURES = b"""
[[expected-failure]]
rule = "ORD-1"
reason = "a queue too many"
scenarios = ["the-last-finishes-first"]
until = 2027-01-31
strict = false

[[expected-failure]]
rule = "CAP-5"
reason = "comes with 2.0"
"""


def _expected_failures(data: bytes) -> object:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "known.toml")
        file.write_bytes(data)
        return read_entries(file)


def _report(data: bytes) -> object:
    """Read a report, and write it in another form; what is not whole is doubted, in a line."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "report.jsonl")
        file.write_bytes(data)
        read = read_lines(file)
    to_junit(read)
    if read.doubt:
        raise AsyncWaitError(read.doubt)
    return read


KINDS: dict[str, Callable[[], Kind]] = {
    "scenarios": lambda: Kind(
        [scenarios_to_json((each,)) for each in (FULL, BATCHED, CACHED, LIMITED, *SCENARIOS)],
        scenarios_from_json,
    ),
    "requests": lambda: Kind(
        [msgspec.json.encode(Request(each, 7)) for each in SCENARIOS], request_from_json
    ),
    "expected_failures": lambda: Kind([EXPECTED_FAILURES], _expected_failures),
    "vectors": lambda: Kind(
        [vectors_to_json(file) for file in shipped_vectors().values()][:3], vectors_from_json
    ),
    "reports": lambda: Kind(
        [report_to_lines(report(verdict("good"), verdict("bad", {"ORD-1": "fail"})))], _report
    ),
    "traces": lambda: _trace_kind(b"", b"", _trace),
    "replies": lambda: _trace_kind(b'{"trace":', b',"number":7}', _reply),
    "told": lambda: _trace_kind(b'{"trace":', b"}", _told),
    "first lines": lambda: Kind(
        [
            b'{"protocol": 2, "profiles": ["ordered", "timeouts"], "lacks": ["timed-input"]}',
            b'{"lacks": ["restore"]}',
            b"{}",
        ],
        _first_line,
    ),
    "journals": lambda: Kind(_journal_files(), _journal, _mutate_journal),
    "snapshots": lambda: Kind([encode_snapshot(SNAPSHOT)], decode_snapshot, _mutate_snapshot),
}


def outcome(kind: Kind, number: int) -> str:
    chance = Random(number)
    data = kind.mutate(chance, chance.choice(kind.sound))
    began = time.monotonic()
    signal.alarm(SECONDS)
    try:
        read = kind.read(data)
        if isinstance(read, Broken):
            assert_short([read.text])
            return REFUSED
    except AsyncWaitError as error:
        message = str(error)
        if "\n" in message or not 0 < len(message) <= LONGEST:
            return f"a message of {len(message)} characters: {message[:300]!r}"
        return REFUSED
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:300]} {time.monotonic() - began:.0f} s"
    finally:
        signal.alarm(0)
    return ACCEPTED


def _too_slow(*_: object) -> None:
    raise TimeoutError(f"it took more than {SECONDS} s")


def main(name: str, first: int, count: int) -> None:
    signal.signal(signal.SIGALRM, _too_slow)
    kind = KINDS[name]()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    found: Counter[str] = Counter()
    for number in range(first, first + count):
        said = outcome(kind, number)
        if said in {ACCEPTED, REFUSED}:
            found[said] += 1
        else:
            print(f"{name} {number}: {said}", flush=True)
    print(f"{ACCEPTED} {found[ACCEPTED]}, {REFUSED} {found[REFUSED]}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
