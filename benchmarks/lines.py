"""In which lines a flow of `in_process.py` spends its time, by a profiler that samples.

    python benchmarks/lines.py ["pool W1"] ["workers W1"] [--seconds 10] [--page FILE]

A line is named where it was the innermost one of Python: what C does for it is its own, so the line
of asyncio that runs a step of a task stands for the switch, too. Needs the dependency group
`benchmarks`, and to be allowed to watch processes of one's own.
"""

import argparse
import linecache
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from _flows import FLOWS
from _machine import machine
from _page import Rows, shown, write
from in_process import cost, run
from rich.console import Console

PAGE = """# Where the time of a record goes

By `python benchmarks/lines.py`, which samples the innermost line of Python a thousand times a
second; {machine}. What takes less than a hundredth is summed up.

A call that lets the loop turn once costs one step of a task, in the pool as in bare workers, and
what asyncio needs for it. Bare workers have a plain iterator for a source, and nobody takes their
results: no order, room, deadline, context or cancellation is seen to. That is what the pool does
beyond them, by some sixty lines a record, of which none takes a twentieth of the time.
"""
HEAD = "us a record", "share"


def main() -> None:
    """Profile, print, and write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("flow", nargs="*", default=["workers W1", "pool W1"], help="their names")
    parser.add_argument("--seconds", type=float, default=10, help="for each flow")
    parser.add_argument("--page", type=Path, help="a file for that in Markdown")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if unknown := set(arguments.flow) - set(FLOWS):
        parser.error(f"no flow is named {unknown.pop()!r}; there are {', '.join(FLOWS)}")
    if arguments.run:
        _busy(arguments.run, arguments.seconds)
        return
    console, tables = Console(), []
    for name in arguments.flow:
        whole = cost(FLOWS[name])
        samples = _samples(name, arguments.seconds)
        tables.append(((*HEAD, f"{name}: {whole:.2f} us a record"), [*_files(samples, whole)]))
        tables.append(((*HEAD, "line"), [*_lines(samples, whole)]))
        for table in tables[-2:]:
            console.print(shown(*table))
    if arguments.page:
        write(arguments.page, PAGE.format(machine=machine()), *tables)


def _busy(name: str, seconds: float) -> None:
    _warm_up(name)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        run(FLOWS[name], FLOWS[name].count)


def _warm_up(name: str) -> None:
    """Have a flow import what it needs, which is not looked at."""
    run(FLOWS[name], FLOWS[name].count)


def _samples(name: str, seconds: float) -> Counter[tuple[str, int]]:
    """Return how often a file and line of it was the innermost one."""
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder, "raw")
        spy = ["py-spy", "record", "--rate", "1000", "--format", "raw", "--full-filenames"]
        watched = [sys.executable, __file__, "--run", name, "--seconds", str(seconds)]
        subprocess.run([*spy, "--output", raw, "--", *watched], check=True, capture_output=True)
        return _read(raw.read_text())


def _read(raw: str) -> Counter[tuple[str, int]]:
    found: Counter[tuple[str, int]] = Counter()
    for line in raw.splitlines():
        stack, _, count = line.rpartition(" ")
        if ";run (" not in stack or ";_warm_up (" in stack:
            continue
        file, _, number = stack.rpartition("(")[2].rstrip(")").rpartition(":")
        if number.isdigit():  # else it is a frame that the interpreter enters by
            found[file, int(number)] += int(count)
    return found


def _files(samples: Counter[tuple[str, int]], whole: float) -> Rows:
    files: Counter[str] = Counter()
    for (file, _), count in samples.items():
        files[_named(file)] += count
    return _shares(files, whole)


def _lines(samples: Counter[tuple[str, int]], whole: float) -> Rows:
    lines: Counter[str] = Counter()
    for (file, number), count in samples.items():
        text = linecache.getline(file, number).partition("  #")[0].strip()
        lines[f"{_named(file)}:{number} `{text}`"] += count
    return _shares(lines, whole)


def _shares(counts: Counter[str], whole: float) -> Rows:
    total, rest = counts.total(), 1.0
    for name, count in counts.most_common():
        share = count / total
        if share < 0.01:
            break
        rest -= share
        yield f"{share * whole:.2f}", f"{share:.0%}", name
    yield f"{rest * whole:.2f}", f"{rest:.0%}", "all others"


def _named(file: str) -> str:
    """Return the end of a path that tells which file it is."""
    parts = Path(file).parts
    return "/".join(parts[-2:])


if __name__ == "__main__":
    main()
