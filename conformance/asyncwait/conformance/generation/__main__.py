"""Writes generated scenarios as JSON, a line for each as soon as it is there, then an empty line.

python -m asyncwait.conformance.generation COUNT SEED
"""

import sys

from asyncwait.conformance.generation import generate
from asyncwait.spec.scenario import Scenario, key_of


def main(count: int, seed: int) -> None:
    """Write the `count` scenarios of `seed`."""
    lines = sys.stdout.buffer

    def write(scenario: Scenario) -> None:
        lines.write(key_of(scenario) + b"\n")
        lines.flush()

    generate(count, seed, write)
    lines.write(b"\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
