"""Formats of examples and witnesses, which the texts of an area contain.

An example is a name with its rules, below it a sentence, and then the scenario:

    name-of-one: RULE-1, RULE-2
        A sentence, or several: the text after the last full stop is the scenario.
        capacity 2; 0: a b; a: 40 gives a1
    name-of-the-next: RULE-3 in both modes
        This entry makes an ordered example and an unordered one.
        0: a

Witnesses are hand-written runs that show what a check can see and what it must not. A witness is a
rule with the text of its violation, a scenario, and two runs of the scenario:

    RULE-1: what the check says
        plan: 0: a; a: 40 gives a1
        breaks: 0: waits, takes 0, calls a; 40: #0 gives a1, end
        # Why this is legal.
        keeps: 0: waits, takes 0, calls a; 40: #0 gives a1, out a1, end

A near miss has a single run, which `breaks` the rule, `keeps` it, or `escapes` it because the rule
does not apply. Its plan is the plan of the entry before, unless it has its own. `also` lists
further rules that the run breaks. `_scenarios` and `_notation` explain the words.
"""

import re
from collections.abc import Iterator
from textwrap import dedent
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.conformance.evidence._notation import leg_of
from asyncwait.conformance.evidence._scenarios import scenario_of
from asyncwait.spec.scenario import Scenario, Trace


def entries(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each line at the margin, with the lines below it.

    An indented line continues the line before it. A line at the margin that begins with `#` is a
    remark.
    """
    for entry in re.split(r"\n(?=\S)", dedent(text).strip()):
        head, *below = (" ".join(each.split()) for each in re.split(r"\n {4}(?=\S)", entry))
        if not head.startswith("#"):
            yield head, below


class Run(Struct, frozen=True):
    """A scenario, and a trace of the scenario."""

    scenario: Scenario
    trace: Trace


def run_of(scenario: Scenario, text: str) -> Run:
    """Return a run of `scenario` whose legs are in `text`; `then` separates two legs.

    All legs have its mode and capacity; the first restores its snapshot.

    Raises:
        ValueError: a leg is not in the notation of `_notation`.
    """
    legs = [
        replace(leg_of(told), mode=scenario.mode, capacity=scenario.capacity)
        for told in text.split("; then ")
    ]
    legs[0] = replace(legs[0], restored=scenario.restore)
    return Run(scenario, Trace(tuple(legs)))


_IN_BOTH = " in both modes"


class Example(Struct, frozen=True):
    """A hand-written scenario."""

    name: str
    rules: tuple[str, ...]
    sentence: str
    scenario: Scenario


def example(about: str, sentence: str, told: str = "", /, **fields: Any) -> Example:
    """Return an example of "name: RULE-1, RULE-2", a sentence, and the text of a scenario.

    Raises:
        ValueError: the scenario is not in its notation; the message names the example.
    """
    name, _, rules = about.partition(": ")
    try:
        return Example(name, tuple(rules.split(", ")), sentence, scenario_of(told, **fields))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def examples(text: str) -> tuple[Example, ...]:
    """Return the examples in `text`, in the format of this module's docstring.

    Raises:
        ValueError: `text` has no example, or an example has no sentence or no valid scenario.
    """
    return tuple(each for about, below in entries(text) for each in _examples(about, below))


def _examples(about: str, below: list[str]) -> tuple[Example, ...]:
    sentence, _, planned = " ".join(below).rpartition(". ")
    if not sentence:
        raise ValueError(f"{about}: no sentence stands below it")
    ordered = example(about.removesuffix(_IN_BOTH), f"{sentence}.", planned)
    if not about.endswith(_IN_BOTH):
        return (ordered,)
    unordered = replace(ordered.scenario, mode="unordered")
    return ordered, replace(ordered, name=f"{ordered.name}-unordered", scenario=unordered)


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
