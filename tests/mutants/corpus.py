"""Runs of the gallery, played once: what the judge has to say of them, whoever judges.

    python tests/mutants/corpus.py write FILE     play, with the sound package, and keep the traces
    python tests/mutants/corpus.py judge FILE     end with 1 if a verdict on them has changed

For a mutant of the judge this asks what `tests/faulty/test_gallery.py` asks, in a tenth of the
time: each faulty operator is convicted by its rule, and no sound one by any.
"""

import os
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.judging import judge

CONVICTIONS = 3
"""How many convicting runs of a faulty operator are kept; one of them has to convict it."""

GENERATED = 100
"""How many generated scenarios sound operators are judged by, besides all examples."""


def write(file: Path) -> None:
    sys.path.append(str(Path(__file__).parents[1] / "support"))
    from odd import ODD

    from asyncwait.backends.faulty import FAULTY

    faulty = [(f.rule, list(_convicting(f))) for f in FAULTY if not f.blocks]
    sound = [(None, list(_played(odd, GENERATED))) for odd in ODD]
    file.write_bytes(pickle.dumps([*faulty, *sound]))


def _convicting(faulty: Any) -> Iterator[tuple[Any, Any]]:
    found = 0
    for scenario, trace in _played(faulty, 0, about=faulty.rule):
        if faulty.rule in dict(judge(scenario, trace, CHECKS).violations()):
            yield scenario, trace
            found += 1
            if found == CONVICTIONS:
                return


def _played(variation: Any, generated: int, about: str | None = None) -> Iterator[tuple[Any, Any]]:
    from asyncwait.conformance.areas import EXAMPLES
    from asyncwait.conformance.generation import generate
    from asyncwait.conformance.harness import play
    from asyncwait.conformance.running import adapted

    operator, can = variation.open_operator, variation.backend().capabilities
    examples = sorted(EXAMPLES, key=lambda example: about not in example.rules)
    for planned in (*(example.scenario for example in examples), *generate(generated, seed=0)):
        scenario = adapted(planned, can)
        yield scenario, play(operator, scenario, variation.loop)


def changed(file: Path) -> bool:
    kept = pickle.loads(file.read_bytes())  # noqa: S301 - our own, written a moment ago
    return any(_is_changed(rule, runs) for rule, runs in kept)


def _is_changed(rule: str | None, runs: list[tuple[Any, Any]]) -> bool:
    verdicts = (judge(scenario, trace, CHECKS) for scenario, trace in runs)
    if rule is not None:
        return bool(runs) and not any(rule in dict(verdict.violations()) for verdict in verdicts)
    return any(verdict.error or any(verdict.violations()) for verdict in verdicts)


if __name__ == "__main__":
    told, path = sys.argv[1], Path(sys.argv[2])
    if told == "write":
        write(path)
    else:
        os._exit(changed(path))
