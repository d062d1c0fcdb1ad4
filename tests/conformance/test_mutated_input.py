"""What comes in from outside is read, or refused in a line: no traceback, no hang, no flood."""

import os
import re
import subprocess
import sys
from pathlib import Path
from random import Random

import msgspec
import mutated_input
import pytest
from mutations import mutated
from outside import Folder
from remains import carrying, linux, wait_until_gone

from asyncwait.conformance.areas import EXAMPLES
from asyncwait.conformance.harness import play
from asyncwait.conformance.running._crew import Crew
from asyncwait.conformance.running._speech import Program
from asyncwait.reference import open_operator
from asyncwait.spec.scenario import Reply, scenarios_to_json

COUNTS = {
    "first lines": 1_200,
    "requests": 1_200,
    "replies": 1_500,
    "told": 800,
    "scenarios": 2_000,
    "traces": 2_000,
    "snapshots": 1_300,
    "journals": 600,
    "reports": 600,
    "vectors": 100,
    "expected_failures": 600,
    "played": 150,
    "judged": 150,
}

# It answers each scenario with a sound reply, or with what may become of one on its way. It comes
# with a helper that would outlive it.
PROGRAM = """
import subprocess, sys
from random import Random
from mutations import mutated
subprocess.Popen(["sleep", "600"])
out, sound = sys.stdout.buffer, sys.argv[1].encode()
print("{}", flush=True)
for number, line in enumerate(sys.stdin.buffer):
    chance = Random(line + str(number).encode())
    said = mutated(chance, sound) if chance.random() < 0.5 else sound
    out.write(said + b"\\n")
    out.flush()
"""

pytestmark = pytest.mark.timeout(300)


def test_every_kind_of_input_is_mutated() -> None:
    assert COUNTS.keys() == mutated_input.KINDS.keys()
    assert sum(COUNTS.values()) - COUNTS["played"] - COUNTS["judged"] >= 10_000


@linux
@pytest.mark.sampled(12)
@pytest.mark.parametrize("kind", COUNTS)
def test_mutated_input_is_read_or_refused_in_a_line(kind: str) -> None:
    command = [sys.executable, mutated_input.__file__, kind, "0", str(COUNTS[kind])]

    support = {**os.environ, "PYTHONPATH": str(Path(mutated_input.__file__).parent)}
    done = subprocess.run(command, env=support, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    said = re.fullmatch(r"accepted (\d+), refused (\d+)\n", done.stdout)
    assert said, done.stdout
    accepted, refused = map(int, said.groups())
    assert accepted + refused == COUNTS[kind]
    assert accepted > 0
    assert refused > COUNTS[kind] // 2


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


@linux
def test_mutated_replies_of_a_real_program_leave_no_process_behind(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TEST_MARK", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(Path(mutated_input.__file__).parent))
    scenario = EXAMPLES[0].scenario
    sound = msgspec.json.encode(Reply(play(open_operator, scenario))).decode()
    program = Program("exec:test", (sys.executable, "-c", PROGRAM, sound))

    with Crew(program, 10.0, 2) as children:
        runs = list(children.play([scenario] * 400))
        assert carrying(f"TEST_MARK={tmp_path}")

    wait_until_gone(f"TEST_MARK={tmp_path}")
    in_error = [run for run in runs if run.legs[-1].ending.how == "error"]
    assert len(runs) == 400
    assert 50 < len(in_error) < 350
    assert all(run.legs[-1].ending.detail for run in in_error)
