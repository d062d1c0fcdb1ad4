"""What an ordinary run plays of what takes long: a part, drawn by a seed; at night, all of it.

The variable SAMPLE is the seed, or `all`. Without it the seed is the commit, or else the day.
"""

import os
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import TypeVar

T = TypeVar("T")

VARIABLE = "SAMPLE"
WHOLE = "all"


def _commit_or_day() -> str:
    git = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    try:
        commit = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return datetime.now(UTC).date().isoformat()
    return commit


SEED = os.environ.get(VARIABLE) or _commit_or_day()


def some(things: Sequence[T], one_in: int, of: str) -> list[T]:
    """Return one in so many, at least one, in their order; or all, if all are to be played."""
    if SEED == WHOLE:
        return list(things)
    places = Random(f"{SEED} {of}").sample(range(len(things)), -(-len(things) // one_in))
    return [things[place] for place in sorted(places)]


def how_to_repeat() -> str:
    if SEED == WHOLE:
        return f"{VARIABLE}={WHOLE}: nothing is left out"
    return f"{VARIABLE}={SEED} draws the same sample again; {VARIABLE}={WHOLE} leaves nothing out"
