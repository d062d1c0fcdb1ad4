"""Witnesses: hand-written runs that show what a check can see and what it must not.

A witness is a rule with the text of its violation, a scenario, and two runs of the scenario:

    RULE-1: what the check says
        plan: 0: a; a: 40 gives a1
        breaks: 0: waits, takes 0, calls a; 40: #0 gives a1, end
        # Why this is legal.
        keeps: 0: waits, takes 0, calls a; 40: #0 gives a1, out a1, end

A near miss has a single run, which `breaks` the rule, `keeps` it, or `escapes` it because the rule
does not apply. Its plan is the plan of the entry before, unless it has its own. `also` lists
further rules that the run breaks. `_scenarios` and `_notation` explain the words.
"""

from collections.abc import Iterator

from msgspec import Struct

from asyncwait.conformance.evidence._entries import entries
from asyncwait.conformance.evidence._runs import Run, run_of
from asyncwait.conformance.evidence._scenarios import scenario_of

_KINDS = {"breaks", "keeps", "escapes"}


class Witness(Struct, frozen=True):
    """Evidence for one check.

    Args:
        rule: id of the rule.
        violating: a minimal run that breaks it.
        legal: a run as close to it as possible that keeps it, and in which the rule applies.
        text: the whole text of the check's violation on the violating run.
    """

    rule: str
    violating: Run
    legal: Run
    text: str


class NearMiss(Struct, frozen=True):
    """A further run at the border of a check, on either side.

    Args:
        rule: id of the rule.
        run: its scenario and trace.
        text: the whole text of the check's violation; empty where the rule is not broken.
        applies: whether the rule applies in a run that does not break it.
        also: ids of the other rules that it breaks, separated by blanks.
    """

    rule: str
    run: Run
    text: str = ""
    applies: bool = True
    also: str = ""


def witnesses(text: str) -> tuple[Witness, ...]:
    """Return the witnesses in `text`, in the format of this module's docstring.

    Raises:
        ValueError: `text` has another format.
    """
    found = []
    for rule, said, runs, _ in _read(text):
        if {"breaks", "keeps"} - runs.keys():
            raise ValueError(f"{rule}: it needs a run that breaks it, and a run that keeps it")
        found.append(Witness(rule, runs["breaks"], runs["keeps"], said))
    return tuple(found)


def near_misses(text: str) -> tuple[NearMiss, ...]:
    """Return the near misses in `text`, in the format of this module's docstring.

    Raises:
        ValueError: `text` has another format.
    """
    return tuple(
        NearMiss(rule, run, said, kind != "escapes", also)
        for rule, said, runs, also in _read(text)
        for kind, run in runs.items()
    )


def _read(text: str) -> Iterator[tuple[str, str, dict[str, Run], str]]:
    planned = scenario_of()
    for about, below in entries(text):
        rule, _, said = about.partition(": ")
        runs: dict[str, Run] = {}
        also = ""
        for kind, _, words in (section.partition(": ") for section in below):
            try:
                if kind == "plan":
                    planned = scenario_of(words)
                elif kind in _KINDS - runs.keys():
                    runs[kind] = run_of(planned, words)
                elif kind == "also":
                    also = words
                elif not kind.startswith("#"):
                    raise ValueError(f"{kind!r} says nothing of a run, or does so twice")
            except ValueError as error:
                raise ValueError(f"{rule}: {error}") from error
        yield rule, said, runs, also
