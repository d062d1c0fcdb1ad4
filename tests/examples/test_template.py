"""The template repository, as whoever copies it has it: an empty folder and two commands."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import sample

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = ROOT / "examples" / "template"
OURS = ("PYTHON", "TOX", "COVERAGE", "PYTEST", "VIRTUAL_ENV")
"""What the variables of the environment begin with that these tests themselves run with."""

pytestmark = pytest.mark.timeout(900)


def commands() -> list[str]:
    readme = (TEMPLATE / "README.md").read_text(encoding="utf-8")
    found = re.search(r"```console\n(.*?)```", readme, re.DOTALL)
    assert found is not None
    return [line.removeprefix("$ ") for line in found[1].splitlines()]


class Copied:
    def __init__(self, folder: Path, constraint: Path) -> None:
        self.folder = folder
        kept = {name: text for name, text in os.environ.items() if not name.startswith(OURS)}
        self._environment = kept | {"PIP_CONSTRAINT": str(constraint), "NO_COLOR": "1"}

    def give(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a command as a shell does; return how it ended, and what it printed."""
        return subprocess.run(  # noqa: S602 - it is from the README
            command,
            shell=True,
            cwd=self.folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Copied:
    """The template in an empty folder; the package comes from the wheel that is built here."""
    folder = tmp_path_factory.mktemp("template")
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), str(ROOT)]
    subprocess.run(build, check=True)
    (wheel,) = folder.glob("*.whl")
    constraint = folder / "constraint.txt"
    constraint.write_text(f"asyncwait @ {wheel.as_uri()}\n", encoding="utf-8")
    shutil.copytree(TEMPLATE, folder / "project")
    if sample.SEED != sample.WHOLE:
        project = folder / "project" / "pyproject.toml"
        by_day = project.read_text("utf-8").replace('spec = "0.1"\n', 'spec = "0.1"\ncount = 1\n')
        project.write_text(by_day, encoding="utf-8")
    return Copied(folder / "project", constraint)


@pytest.mark.sampled
def test_the_sound_operator_is_green_after_two_commands(copied: Copied) -> None:
    install, gate = commands()

    assert copied.give(install).returncode == 0
    done = copied.give(gate)

    assert done.returncode == 0, done.stdout
    assert re.search(r"mypkg.gate:backend: conformant: core, ordered \(\d+ rules pass", done.stdout)


@pytest.mark.sampled
def test_a_broken_operator_is_red_and_its_rule_is_named(copied: Copied) -> None:
    window = copied.folder / "src" / "mypkg" / "window.py"
    sound = window.read_text(encoding="utf-8")
    broken = sound.replace("(result, record.timestamp, ", "(result, None, ")
    window.write_text(broken, encoding="utf-8")

    done = copied.give(commands()[1])

    assert broken != sound
    assert done.returncode == 1, done.stdout
    assert "mypkg.gate:backend: ELEM-1 " in done.stdout
    assert "mypkg.gate:backend: not conformant: core, ordered (" in done.stdout
