"""Hours of work for every operator, with crashes; go on where it was ended; a page.

    python benchmarks/soak.py STATE [PART ...] [--records 10000000] [--every 100000] [--seeds 100]
        [--jobs 50] [--minutes M] [--page docs/soak.md]

Each operator, in each mode, has retries, timeouts and results of `on_error`, and is left at a
snapshot every so often, with calls in flight, and restored. Nothing may be lost, come twice, out of
order or wrong; and at each crash it is read what is left over: tasks, threads, descriptors, memory.
Then Spark jobs with a journal are killed, and `asyncwait verify --full` judges by seed after seed.

The parts run one after the other, each in a process that is new; STATE, of JSON lines, has whatever
they came to, so the command may be killed, and goes on from the last crash, job or seed. A log
beside it has a line a minute. Exits with 1 if anything was broken, 3 if something is not finished.
"""

import argparse
import datetime as dt
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn, get_args

from _page import machine, shown, write
from _soak_records import UNDER, Checker, Soaked, flat
from rich.console import Console

from asyncwait.spec import Mode

SPARK = "spark-journal"

ON_LOOPS = "pool", "pool-plain", "reference", "reference-plain", "emitter"

VERDICTS = "verify --full"

JUDGED = *(f"{name}-{loop}" for name in ON_LOOPS for loop in ("asyncio", "trio")), "threads"
"""Each seed judges one of them, in turn."""

PARTS = (
    *(f"{name} {mode}" for name in UNDER for mode in get_args(Mode)),
    SPARK,
    VERDICTS,
)

PAGE = """# Soak

By `python benchmarks/soak.py`, on {run}; asyncwait {version}, {machine}.

Each operator has a plan that fails one call in fifty once and one record in 97 for good, lets one
in a thousand run into its deadline (with threads, on the real clock, one in 200,000), and is left
at a snapshot every {every:,} records, with calls in flight, and restored. What came out behind that
snapshot does not count. A checker knows which records were read and are not out, and compares each
snapshot with them. Left over is the most that any reading at a crash found beyond those before the
start: tasks, threads, descriptors. Memory is what is resident then: the median of the first quarter
of readings and of the last one, without the first tenth; it is flat if it grew by no more than 5 %,
or by 5 MB if that is more. All readings are of one process, the one that has most of them. Minutes
are those of the clock, whatever else the machine did.

`spark-journal` is a DataFrame job of 20,000 rows with a journal; all its processes are killed by
SIGKILL three times at a random moment. Wrong includes calls that were made again though they were
not in flight. What `verify --full` counts are seeds, each of which judges one of the {judged}
backends in this process, in turn; wrong are those whose verdict is not conformant.

{finished} of {parts} parts are finished; what was begun has {hours:.1f} h to go at its pace.{rest}
{found}"""

HEAD = (
    "part", "done", "of", "crashes", *Checker.COUNTS, "left over", "memory", "minutes", "verdict",
)  # fmt: skip


class State:
    """What all parts came to, in a file of JSON lines; a line that was torn off is taken away."""

    def __init__(self, path: Path) -> None:
        self.path = path
        text = path.read_bytes() if path.exists() else b""
        whole = text[: text.rfind(b"\n") + 1]
        if whole != text:
            path.write_bytes(whole)
        self.lines: list[dict[str, Any]] = [json.loads(line) for line in whole.splitlines()]

    def add(self, line: Mapping[str, Any]) -> None:
        """Add a line, and have it on disk."""
        self.lines.append({**line})
        with self.path.open("ab") as file:
            file.write(json.dumps(line).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def of(self, part: str) -> list[dict[str, Any]]:
        """Return all lines of a part."""
        return [line for line in self.lines if line.get("part") == part]

    def last(self, part: str) -> dict[str, Any]:
        """Return what a part came to, without the errors that ended it."""
        return next((line for line in reversed(self.of(part)) if "done" in line), {})

    @property
    def run(self) -> dict[str, Any]:
        """What the command was last started with."""
        return next(line for line in reversed(self.lines) if "run" in line)


class Work:
    """One part at work: it notes what it comes to, and tells how far it is.

    Args:
        state: where that is noted.
        part: its name.
        minutes: after which it has to stop; None for never.
    """

    def __init__(self, state: State, part: str, minutes: float | None) -> None:
        self.so_far = state.last(part)
        self._state, self._part = state, part
        self._began = self._told = time.monotonic()
        self._most = float("inf") if minutes is None else 60 * minutes
        self._process = f"{os.getpid()} {time.time():.0f}"
        self._console = Console(stderr=True)

    def note(self, reading: Mapping[str, Any]) -> bool:
        """Note what has come of it so far; return whether it has to stop."""
        taken = time.monotonic() - self._began
        seconds = round(taken + self.so_far.get("seconds", 0), 1)
        told = {"part": self._part, **reading, "seconds": seconds, "process": self._process}
        self._state.add(told)
        self.tick(reading["done"], reading["of"])
        return taken > self._most

    def tick(self, done: int, of: int) -> None:
        """Tell the terminal how far it is, and the log once a minute."""
        text = f"{self._part}: {done:,} of {of:,}"
        if self._console.is_terminal:
            self._console.print(f"{text}, {done / of:.1%}".ljust(72), end="\r", highlight=False)
        if time.monotonic() >= self._told:
            self._told = time.monotonic() + 60
            now = dt.datetime.now().astimezone()
            with self._state.path.with_suffix(".log").open("a", encoding="utf-8") as log:
                log.write(f"{now:%Y-%m-%d %H:%M:%S} {text}\n")


def do(part: str, work: Work, arguments: argparse.Namespace) -> None:
    """Go on with a part until it is finished, or its time is over."""
    if part == SPARK:
        _in_spark(work, arguments.jobs, arguments.state.with_suffix(".spark").absolute())
    elif part == VERDICTS:
        _judged(work, arguments.seeds)
    else:
        it = Soaked(part, work.so_far, arguments.records, arguments.every)
        it.run(work.note, lambda done: work.tick(done, arguments.records))


def _in_spark(work: Work, jobs: int, folder: Path) -> None:
    import _soak_spark as spark  # Spark is needed for nothing else.

    so_far = work.so_far
    for number in range(so_far.get("done", 0), jobs):
        work.tick(number, jobs)
        counts = spark.killed(folder, number)
        sums = {name: count + so_far.get(name, 0) for name, count in counts.items()}
        so_far = {"done": number + 1, "of": jobs, "crashes": spark.KILLS * (number + 1), **sums}
        is_over = work.note(so_far)
        spark.sweep(folder)
        if is_over:
            return


def _judged(work: Work, seeds: int) -> None:
    wrong = work.so_far.get("wrong", 0)
    for seed in range(work.so_far.get("done", 0), seeds):
        work.tick(seed, seeds)
        backend = JUDGED[seed % len(JUDGED)]
        command = ["-m", "asyncwait", "verify", backend, "--full", "--jobs", "1"]
        done = subprocess.run(
            [sys.executable, *command, "--seed", str(seed)],
            capture_output=True,
            text=True,
            check=False,
        )
        wrong += bool(done.returncode)
        told = {"told": (done.stdout + done.stderr)[-4_000:]} if done.returncode else {}
        if work.note({"done": seed + 1, "of": seeds, "wrong": wrong, **told}):
            return


def row(lines: list[dict[str, Any]]) -> list[str]:
    """Return what a part came to, in words."""
    notes = [line for line in lines if "done" in line]
    last = notes[-1]
    counts = [last.get(name) for name in Checker.COUNTS]
    over = [max(each) for each in zip(*(line["left"] for line in notes if "left" in line))]  # noqa: B905
    memory = _memory(notes)
    is_bad = any(counts) or any(each > 0 for each in over) or memory.endswith("grows")
    is_whole = last["done"] == last["of"]
    error = lines[-1].get("error")
    verdict = "broken" if is_bad else "held" if is_whole else "held so far"
    return [
        last["part"],
        f"{last['done']:,}",
        f"{last['of']:,}",
        f"{last.get('crashes', '')}",
        *("" if count is None else f"{count}" for count in counts),
        ", ".join(map(str, over)),
        memory,
        f"{last['seconds'] / 60:.1f}",
        verdict if error is None else f"{verdict}; ended by {error}",
    ]


def _memory(notes: list[dict[str, Any]]) -> str:
    """Judge the process that has most readings: another one begins with less."""
    by_process: dict[str, list[float]] = {}
    for line in notes:
        if "memory" in line:
            by_process.setdefault(line["process"], []).append(line["memory"])
    return flat(max(by_process.values(), key=len)) if by_process else ""


def _ahead(last: Mapping[str, Any]) -> float:
    """Return how many seconds a part needs yet, at the pace that it had."""
    return float(last["seconds"] / last["done"] * (last["of"] - last["done"]))


def report(state: State, page: Path | None, names: list[str]) -> int:
    """Print the table, write the page, and return the exit code."""
    begun = [name for name in names if state.last(name) or state.of(name)]
    rows = [row(state.of(name)) for name in begun if state.last(name)]
    Console().print(shown(HEAD, rows))
    finished = sum(each[1] == each[2] for each in rows)
    if page:
        missing = ", ".join(f"`{name}`" for name in names if not state.last(name))
        hours = sum(_ahead(state.last(each[0])) for each in rows) / 3600
        told = {
            **state.run,
            "finished": finished,
            "parts": len(names),
            "judged": len(JUDGED),
            "hours": hours,
            "rest": f" Not begun are {missing}." if missing else "",
            # Somebody has written that down, once it was mended and run again.
            "found": "".join(f"\n{line['found']}\n" for line in state.lines if "found" in line),
        }
        write(page, PAGE.format(**told), (HEAD, rows))
    if any("broken" in each[-1] for each in rows):
        return 1
    return 0 if finished == len(names) and not any("ended by" in each[-1] for each in rows) else 3


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("state", type=Path, help="a file, which is made or continued")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--records", type=int, default=10_000_000, help="for each operator")
    parser.add_argument("--every", type=int, default=100_000, help="records between two crashes")
    parser.add_argument("--seeds", type=int, default=100, help="of verdicts")
    parser.add_argument("--jobs", type=int, default=50, help="of Spark, each killed three times")
    parser.add_argument("--minutes", type=float, help="for each part, for now; 0: only report")
    parser.add_argument("--page", type=Path, help="a file for what came of it, in Markdown")
    parser.add_argument("--next", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> NoReturn:
    """Do the next part, and begin anew with the one behind it."""
    arguments = _arguments()
    state, names = State(arguments.state), arguments.parts or [*PARTS]
    number = arguments.next or 0
    if arguments.next is None and arguments.minutes != 0:
        state.add(
            {
                "run": f"{dt.datetime.now().astimezone():%Y-%m-%d}",
                "machine": machine(),
                "version": version("asyncwait"),
                "every": arguments.every,
            }
        )
    if number == len(names) or arguments.minutes == 0:
        sys.exit(report(state, arguments.page, names))
    work = Work(state, names[number], arguments.minutes)
    try:
        do(names[number], work, arguments)
    except Exception as error:
        state.add({"part": names[number], "error": f"{type(error).__name__}: {error}"[:500]})
    # The same process with a new memory: so whoever kills the command kills the part.
    command = [each for each in sys.argv if not each.startswith("--next")]
    os.execv(sys.executable, [sys.executable, *command, f"--next={number + 1}"])  # noqa: S606 - no shell is needed


if __name__ == "__main__":
    main()
