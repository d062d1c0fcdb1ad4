"""An area of rules is a chapter, a folder and a module of faults; nothing else is touched."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHAPTER = """\
# Good manners (MANNERS)

What one expects.

## MANNERS-1 The first comes first

MUST · since 0.1 · needs: ordered · source: this specification

In ordered mode the first result is one of the first record that has any.

Why: It shows that the build takes a new area as it finds it.

If it fails: look for whoever pushes in.
"""

CHECKS = '''\
"""MANNERS: what one expects."""

from collections.abc import Iterator

from asyncwait.conformance.judging import Finding, LegHistory, leg_check


@leg_check("MANNERS-1")
def the_first_comes_first(leg: LegHistory) -> Iterator[Finding]:
    """What comes out first is of the first record that has results."""
    belonging = (out.item for out in leg.outputs if out.item is not None)
    came = next((item for item in belonging if item.is_record), None)
    if not leg.ordered or came is None:
        return
    if any(item.pos < came.pos and item.results for item in leg.records):
        yield f"{came} came first", came.first_at
    else:
        yield None
'''

EXAMPLES = '''\
"""MANNERS: examples."""

from asyncwait.conformance.evidence import examples

EXAMPLES = examples("""
after-you: MANNERS-1
    The second is faster than the first, and lets it pass.
    0: a b; a: 80 gives a1; b: 40 gives b1
""")
'''

WITNESSES = '''\
"""MANNERS: witnesses."""

from asyncwait.conformance.evidence import witnesses

WITNESSES = witnesses("""
MANNERS-1: Record 'b' (input 1) came first
    plan: 0: a b; a: 80 gives a1; b: 40 gives b1
    breaks: 0: waits, takes 0 1, calls a b; 40: #1 gives b1; 80: #0 gives a1, out b1 a1
    keeps: 0: waits, takes 0 1, calls a b; 40: #1 gives b1; 80: #0 gives a1, out a1 b1
""")
'''

FAULTS = '''\
"""MANNERS: operators without any."""

from asyncwait.backends.faulty._gallery import breaks
from asyncwait.reference import Entry, OrderedQueue


@breaks("MANNERS-1")
class PushesForward(OrderedQueue):
    """Hands results out as they are decided, whoever else is waiting."""

    def peek_ready(self) -> Entry | None:
        return next((entry for entry in self.entries if entry.outputs is not None), None)
'''

NEW = {
    "spec/rules/11-manners.md": CHAPTER,
    "conformance/areas/manners/__init__.py": '"""The evidence for the chapter on manners."""\n',
    "conformance/areas/manners/checks.py": CHECKS,
    "conformance/areas/manners/examples.py": EXAMPLES,
    "conformance/areas/manners/witnesses.py": WITNESSES,
    "backends/faulty/_manners.py": FAULTS,
}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory, checkout: Path) -> dict[str, str]:
    """Variables with which Python finds a copy of the package that has one more area."""
    folder = tmp_path_factory.mktemp("copy")
    package = folder / "asyncwait"
    for portion in ("spec", "toolkit", "reference", "conformance", "backends"):
        shutil.copytree(checkout / portion / "asyncwait", package, dirs_exist_ok=True)
    shutil.copy(checkout / "spec/_root/__init__.py", package)
    for name, text in NEW.items():
        file = package / name
        assert not file.exists()
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return {**os.environ, "PYTHONPATH": str(folder)}


AT_ONCE = ("--count", "1", "--fail-fast", "--no-shrink", "--jobs", "1")


def test_its_rule_is_verified(environment: dict[str, str]) -> None:
    command = str(Path(sys.executable).with_name("asyncwait"))

    done = subprocess.run(
        [command, "verify", "faulty-pushes-forward", "--area", "MANNERS", *AT_ONCE],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1, done.stderr
    assert "Record 'b' (input 1) came first" in done.stdout


def test_the_tests_of_all_areas_know_it(environment: dict[str, str], checkout: Path) -> None:
    known = ("conformance/areas/test_all_areas.py", "faulty/test_gallery.py", "spec/test_rules.py")
    files = [checkout / "tests" / name for name in known]

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-k", "MANNERS or pushes or test_rules", *files],
        env=environment,
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout
