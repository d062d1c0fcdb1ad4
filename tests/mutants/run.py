"""Mutation testing of the operators by the quick suite.

    python tests/mutants/run.py operators      how many slips in operators the suite sees
    python tests/mutants/run.py threads        how many slips in the operator with threads it sees

Each mutant runs in a copy of the package, in as many processes as the machine has cores. The output
names each survivor with its place; `survivors.md` beside this file says of each why no scenario can
show it, or that an example should.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
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

MAILBOX = {"_mailbox.py", "_processor.py"}
"""Modules of the reference whose mutants the mailbox suite plays, too."""

OPERATORS = {
    "reference": "reference/asyncwait/reference",
    "pool": "backends/asyncwait/backends/pool",
    "emitter": "backends/asyncwait/backends/emitter",
    "threads": "backends/asyncwait/backends/threads",
}


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
    parser.add_argument("target", choices=["operators", *OPERATORS])
    parser.add_argument("--count", type=int, default=255, help="mutants, drawn by the seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    names = [*OPERATORS] if arguments.target == "operators" else [arguments.target]
    folders = [OPERATORS[name] for name in names]
    spots = drawn(folders, arguments.count, arguments.seed)
    survivors: list[str] = []
    for number, (spot, is_killed) in enumerate(tried(folders, spots, arguments.jobs), 1):
        print(f"{number}/{len(spots)} {'killed  ' if is_killed else 'SURVIVED'} {spot}", flush=True)
        survivors += [] if is_killed else [str(spot)]
    share = 100 * (1 - len(survivors) / len(spots))
    print(f"\n{len(spots) - len(survivors)} of {len(spots)} killed: {share:.1f} %\n")
    print("\n".join(sorted(survivors)))


def drawn(folders: list[str], count: int, seed: int) -> list[Spot]:
    """Return so many mutants of the modules, drawn by the seed and their keys alone.

    So a module that is renamed, moved or cut in two has the same mutants drawn as before.
    """

    def place(spot: Spot) -> bytes:
        return sha256(f"{seed} {spot.key}".encode()).digest()

    return sorted(every(folders), key=place)[:count]


def every(folders: list[str]) -> Iterator[Spot]:
    numbers: Counter[str] = Counter()
    for folder in folders:
        for file in sorted((ROOT / folder).rglob("*.py")):
            is_adapter = "conformance" in file.relative_to(ROOT / folder).parts
            if is_adapter or file.name in {"__init__.py", "conformance.py"}:
                continue
            for mutant in mutants(file.read_text(encoding="utf-8")):
                numbers[mutant.slip] += 1
                yield Spot(file.relative_to(ROOT), mutant, numbers[mutant.slip])


def tried(folders: list[str], spots: list[Spot], jobs: int) -> Iterator[tuple[Spot, bool]]:
    copies: SimpleQueue[Path] = SimpleQueue()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        for number in range(jobs):
            copies.put(_copy(Path(folder) / str(number)))
        sound = copies.get()
        for file in map(Path, folders):
            if _is_killed(sound, file):
                sys.exit(f"{file} is killed as it is, so nothing can be said of its mutants")
        copies.put(sound)

        def attempt(spot: Spot) -> tuple[Spot, bool]:
            copy = copies.get()
            file = copy.joinpath(*spot.file.parts[1:])  # without the name of the portion
            sound = file.read_text(encoding="utf-8")
            try:
                file.write_text(spot.mutant.source, encoding="utf-8")
                return spot, _is_killed(copy, spot.file)
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


def _is_killed(copy: Path, file: Path) -> bool:
    suites = [next(name for name in OPERATORS if name in file.parts)]
    suites += ["mailbox"] if file.name in MAILBOX else []
    return any(_fails(copy, suite) for suite in suites)


def _fails(copy: Path, suite: str) -> bool:
    """Play a suite on a copy of the package; return whether it failed, or took too long."""
    path = os.pathsep.join([str(copy), str(ROOT / "tests/support")])
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("kill.py")), suite],
        env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(LONGEST) != 0
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return True


if __name__ == "__main__":
    main()
