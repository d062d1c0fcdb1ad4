"""What comes in from outside is read, or refused in a line: no traceback, no hang, no flood."""

import os
import re
import subprocess
import sys
from pathlib import Path
from random import Random

import mutated_input
import pytest
from mutations import mutated
from outside import Folder
from remains import linux, wait_until_gone

from asyncwait.conformance.areas import EXAMPLES
from asyncwait.spec.scenario import scenarios_to_json

pytestmark = pytest.mark.timeout(300)


@linux
@pytest.mark.sampled(12)
@pytest.mark.parametrize("kind", mutated_input.KINDS)
def test_mutated_input_is_read_or_refused_in_a_line(kind: str) -> None:
    count = 100 if kind == "vectors" else 1_000
    command = [sys.executable, mutated_input.__file__, kind, "0", str(count)]

    support = {**os.environ, "PYTHONPATH": str(Path(mutated_input.__file__).parent)}
    done = subprocess.run(command, env=support, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    said = re.fullmatch(r"accepted (\d+), refused (\d+)\n", done.stdout)
    assert said, done.stdout
    accepted, refused = map(int, said.groups())
    assert accepted + refused == count
    assert accepted > 0
    assert refused > count // 2


@linux
def test_a_mutated_scenario_leaves_no_process_behind(
    outside: Folder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TEST_MARK", str(tmp_path))
    sound = [scenarios_to_json((example.scenario,)) for example in EXAMPLES[:40]]
    codes = set()
    for number in range(4):
        chance = Random(number)
        outside.path.joinpath("it.json").write_bytes(mutated(chance, chance.choice(sound)))
        done = outside.here("play", "reference-asyncio", "it.json")
        codes.add(done.code)
        assert "Traceback" not in done.out + done.err
        wait_until_gone(f"TEST_MARK={tmp_path}")

    assert 2 in codes
    assert codes <= {0, 1, 2, 3}
