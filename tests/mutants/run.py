"""Mutation testing: of the operators by the quick suite, of the judge by its tests.

    python tests/mutants/run.py operators      how many slips in operators the suite sees
    python tests/mutants/run.py judge          how many slips in checks and judging its tests see
    python tests/mutants/run.py threads        or any other of them alone
    ... --again FILE                           those alone that survived in an earlier output
    ... --tests PATH [--tests PATH]            and which of these tests kill what survives

A test that kills nothing that survives repeats, as far as the sample goes, what the suite proves.

Each mutant runs in a copy of the package, in as many processes as there are cores. What survives is
printed with its place; `survivors.md` beside this file says of each why nobody can see it, or that
somebody should.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from queue import SimpleQueue

from mutate import Mutant, mutants

ROOT = Path(__file__).resolve().parents[2]
PORTIONS = ("spec", "toolkit", "reference", "conformance", "backends")
LONGEST = 240
"""Seconds after which a mutant counts as killed: it hangs."""

LONGEST_TESTS = 1_200
"""Seconds for the tests that are asked about a survivor."""

LONGEST_PLAY = 3_600
"""Seconds for playing the corpus, which is done once."""

MAILBOX = {"_executor.py", "_mailbox.py", "_processor.py"}
"""Modules of the reference whose mutants are asked what the mailbox suite asks, too."""

SPARED = {"__init__.py", "conformance.py", "examples.py", "witnesses.py"}

CORPUS = Path(__file__).with_name("corpus.py")

OPERATORS = {
    "reference": "reference/asyncwait/reference",
    "pool": "backends/asyncwait/backends/pool",
    "emitter": "backends/asyncwait/backends/emitter",
    "threads": "backends/asyncwait/backends/threads",
    "watching": "backends/asyncwait/backends/watching",
}
TARGETS: dict[str, tuple[str, ...]] = {
    "operators": tuple(OPERATORS.values()),
    **{name: (folder,) for name, folder in OPERATORS.items()},
    "judge": (
        "conformance/asyncwait/conformance/judging",
        "conformance/asyncwait/conformance/areas",
    ),
}
TESTS = (
    "tests/conformance/areas",
    "tests/conformance/judging",
    "tests/conformance/test_evidence.py",
)
"""What may kill a mutant of the judge; what survives is asked for its verdicts on the gallery."""


@dataclass(frozen=True)
class Spot:
    file: Path
    mutant: Mutant
    number: int

    @property
    def key(self) -> str:
        return f"{self.mutant.slip} #{self.number}"

    def __str__(self) -> str:
        return f"{self.file}:{self.mutant.line}: {self.mutant.slip}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--count", type=int, default=255, help="mutants, drawn by the seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--again", type=Path, help="try what survived in this output")
    parser.add_argument("--tests", action="append", default=[], help="to be asked about survivors")
    arguments = parser.parse_args()
    if arguments.again is None:
        spots = drawn(arguments.target, arguments.count, arguments.seed)
    else:
        spots = survived(arguments.target, arguments.again.read_text(encoding="utf-8"))
    survivors: list[Spot] = []
    needed: Counter[str] = Counter()
    runs = tried(arguments.target, spots, arguments.jobs, arguments.tests)
    for number, (spot, killed, failed) in enumerate(runs, 1):
        print(f"{number}/{len(spots)} {'killed  ' if killed else 'SURVIVED'} {spot}", flush=True)
        for test in failed:
            print(f"    killed by {test}", flush=True)
        survivors += [] if killed else [spot]
        needed.update(failed)
    share = 100 * (1 - len(survivors) / len(spots))
    print(f"\n{len(spots) - len(survivors)} of {len(spots)} killed: {share:.1f} %\n")
    print("\n".join(sorted(map(str, survivors))))
    print("\n".join(f"{times} {test}" for test, times in sorted(needed.items())))


def drawn(target: str, count: int, seed: int) -> list[Spot]:
    """Return so many mutants of the target's modules, drawn by the seed and their keys alone.

    So a module that is renamed, moved or cut in two has the same ones drawn as before.
    """

    def place(spot: Spot) -> bytes:
        return sha256(f"{seed} {spot.key}".encode()).digest()

    return sorted(every(target), key=place)[:count]


def survived(target: str, output: str) -> list[Spot]:
    told = re.findall(r"SURVIVED (\S+):\d+: (.*)", output)
    return [spot for spot in every(target) if (str(spot.file), spot.mutant.slip) in told]


def every(target: str) -> list[Spot]:
    numbers: Counter[str] = Counter()
    found = []
    for folder in TARGETS[target]:
        for file in sorted((ROOT / folder).rglob("*.py")):
            if (
                "conformance" not in file.relative_to(ROOT / folder).parts
                and file.name not in SPARED
            ):
                for mutant in mutants(file.read_text(encoding="utf-8")):
                    numbers[mutant.slip] += 1
                    found.append(Spot(file.relative_to(ROOT), mutant, numbers[mutant.slip]))
    return found


def tried(
    target: str, spots: Iterable[Spot], jobs: int, tests: Sequence[str] = ()
) -> Iterator[tuple[Spot, bool, list[str]]]:
    copies: SimpleQueue[Path] = SimpleQueue()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        for number in range(jobs):
            copies.put(_copy(Path(folder) / str(number)))
        sound = copies.get()
        if target == "judge":
            _run(sound, [str(CORPUS), "write", str(sound.parent / "corpus")], LONGEST_PLAY)
        for file in map(Path, TARGETS[target]):
            if _is_killed(target, sound, file):
                sys.exit(f"{file} is killed as it is, so nothing can be said of its mutants")
        if tests and (failed := _failed(sound, tests)):
            sys.exit(f"{failed} fail as it is, so nothing can be said of them")
        copies.put(sound)

        def attempt(spot: Spot) -> tuple[Spot, bool, list[str]]:
            copy = copies.get()
            file = copy.joinpath(*spot.file.parts[1:])  # without the name of the portion
            sound = file.read_text(encoding="utf-8")
            try:
                file.write_text(spot.mutant.source, encoding="utf-8")
                killed = _is_killed(target, copy, spot.file)
                return spot, killed, [] if killed or not tests else _failed(copy, tests)
            finally:
                file.write_text(sound, encoding="utf-8")
                copies.put(copy)

        yield from pool.map(attempt, spots)


def _copy(folder: Path) -> Path:
    """Join the portions, as the wheel does: a package without `__init__` gives way to one with."""
    for portion in PORTIONS:
        shutil.copytree(ROOT / portion / "asyncwait", folder / "asyncwait", dirs_exist_ok=True)
    shutil.copy(ROOT / "spec/_root/__init__.py", folder / "asyncwait")
    return folder


def _is_killed(target: str, copy: Path, file: Path) -> bool:
    if target != "judge":
        killer = str(Path(__file__).with_name("kill.py"))
        suites = [next(name for name in OPERATORS if name in file.parts)]
        suites += ["mailbox"] if file.name in MAILBOX else []
        return any(_run(copy, [killer, suite]) for suite in suites)
    tests = [str(ROOT / test) for test in TESTS]
    return _run(copy, ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]) or _run(
        copy, [str(CORPUS), "judge", str(copy.parent / "corpus")]
    )


def _failed(copy: Path, tests: Sequence[str]) -> list[str]:
    """Return which tests fail, without their parameters; those that hang, by their paths."""
    pytest = ["-m", "pytest", "-q", "-rfE", "--tb=no", "-p", "no:cacheprovider"]
    with tempfile.TemporaryFile("w+") as output:
        if not _run(copy, [*pytest, "-o", "timeout=30", *tests], LONGEST_TESTS, output.fileno()):
            return []
        output.seek(0)
        told = re.findall(r"^(?:FAILED|ERROR) ([^\s\[]+)", output.read(), re.MULTILINE)
    return sorted(set(told)) or [f"{', '.join(tests)} (no end)"]


def _run(
    copy: Path, arguments: list[str], longest: float = LONGEST, output: int = subprocess.DEVNULL
) -> bool:
    """Run Python on a copy of the package; say whether it failed, or took too long."""
    path = os.pathsep.join([str(copy), str(ROOT / "tests/support")])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(
        [sys.executable, *arguments],
        env=environment,
        cwd=ROOT,
        stdout=output,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(longest) != 0
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return True


if __name__ == "__main__":
    main()
