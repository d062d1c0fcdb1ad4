"""What comes in from outside is read, or refused in a line: no traceback, no hang, no flood."""

import os
import re
import subprocess
import sys
from pathlib import Path

import mutated_input
import pytest
from remains import linux

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
