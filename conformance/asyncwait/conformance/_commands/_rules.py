"""Subcommands that list: `rules`, or one rule in full, and `backends`."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from asyncwait.conformance._commands._group import (
    BOOKS,
    REFERENCE,
    any_case,
    asyncwait,
    console,
    usage_errors,
)
from asyncwait.conformance.areas import CHECKS, EXAMPLES, all_witnesses
from asyncwait.conformance.evidence import Example, describe_scenario
from asyncwait.conformance.judging import Violation, judge
from asyncwait.conformance.mailbox import (
    MAILBOX_EXAMPLES,
    MailboxExample,
    judge_mailbox,
    notation_of,
    trace_lines,
)
from asyncwait.conformance.report import excerpt, say
from asyncwait.conformance.running import (
    Broken,
    Fault,
    Lacking,
    Served,
    adapted,
    listed_backends,
    missing_text,
    open_backend,
    open_mailbox,
)
from asyncwait.conformance.timeline import draw
from asyncwait.spec import InvalidConfig
from asyncwait.spec.mailbox.program import MailboxPlan, Stage
from asyncwait.spec.rules import (
    Rule,
    areas,
    carry_rules,
    departures,
    hedge_rules,
    mailbox_rules,
    rules,
)
from asyncwait.spec.scenario import ALL_CAPABILITIES, Capability, Scenario, Trace, size_of
from asyncwait.spec.texts import name_of, nearest, printable


class Page:
    """Prints rules in full."""

    def __init__(self, out: Console, faults: Sequence[Fault]) -> None:
        self._out = out
        self._faults = faults

    def show(self, rule: Rule, played_on: Served) -> None:
        """Show a rule of the operator."""
        self.show_text(rule)
        self._list("Flink does otherwise (departures by their ids):", _departures(rule.id))
        examples = [example for example in EXAMPLES if rule.id in example.rules]
        self._say_examples(examples)
        self._draw(f"The smallest of them on {played_on.name}:", _run(rule, examples, played_on))
        for witness in all_witnesses():
            if witness.rule == rule.id:
                run = witness.violating
                violation = _violation(rule.id, run.scenario, run.trace)
                drawn = _drawn(run.scenario, run.trace, violation)
                self._draw("A run that breaks it, written by hand:", drawn)
        self._say_faults(rule.id, f"asyncwait verify NAME --rule {rule.id}")

    def show_of_mailbox(self, rule: Rule, folder: str) -> None:
        """Show a rule of the task mailbox."""
        self.show_text(rule)
        examples = [example for example in MAILBOX_EXAMPLES if rule.id in example.rules]
        self._say_examples(examples)
        runs = _runs_of_mailbox(rule, examples, REFERENCE_MAILBOX, folder)
        self._draw("The smallest of them on the reference's mailbox:", next(runs)[1])
        for fault in [each for each in self._faults if each.rule == rule.id][:1]:
            runs = _runs_of_mailbox(rule, examples, fault.name, folder)
            broken = next((lines for is_broken, lines in runs if is_broken), ())
            self._draw("On the first mailbox below:", broken)
        self._say_faults(rule.id, "asyncwait verify --mailbox NAME")

    def show_text(self, rule: Rule) -> None:
        """Show the text of a rule: all of it, in a book whose suite plays all small runs."""
        needs = ", ".join(rule.missing(frozenset())) or "nothing but the core"
        self._say(f"{rule.id} {rule.title}", f"{rule.level}, since {rule.since}", "")
        self._say(rule.sentence, "", f"Why: {rule.why}", "")
        if rule.hint:
            self._say(f"If it fails: {rule.hint}", "")
        self._say(f"Needs: {needs}", "", f"Source: {rule.source}", "")

    def _say_examples(self, examples: Sequence[Example | MailboxExample]) -> None:
        told = (f"{example.name}: {example.sentence}" for example in examples)
        self._list("Examples about it:", told)

    def _say_faults(self, rule: str, how: str) -> None:
        told = (f"{each.name}: {each.how}" for each in self._faults if each.rule == rule)
        self._list(f"Made to break it ({how}):", told)

    def _list(self, head: str, items: Iterable[str]) -> None:
        found = list(items)
        if found:
            self._say(head, *(f"- {item}" for item in found), "")

    def _draw(self, head: str, lines: Iterable[str]) -> None:
        self._say(head)
        for line in lines:
            say(f"  {line}".rstrip(), self._out)
        self._say("")

    def _say(self, *paragraphs: str) -> None:
        for paragraph in paragraphs:
            self._out.print(Text(printable(paragraph)))


def _departures(rule: str) -> Iterator[str]:
    named = re.compile(rf"\b{rule}\b")
    for each in departures():
        if named.search(f"{each.ours} {each.why}"):
            yield f"{each.flink}: there {each.theirs}; here {each.ours}. Why: {each.why}"


def _run(rule: Rule, examples: Iterable[Example], played_on: Served) -> Iterator[str]:
    if missing := rule.missing(played_on.capabilities):
        yield f"not applicable: it needs {', '.join(missing)}"
        return
    example = min(examples, key=lambda each: size_of(each.scenario))
    scenario = adapted(example.scenario, played_on.capabilities)
    (run,) = played_on.play([scenario])
    yield f"asyncwait play {played_on.name} {example.name} --trace"
    if isinstance(run, Broken):
        yield f"error: {run.text}"
    else:
        yield from _drawn(scenario, run, _violation(rule.id, scenario, run))


def _violation(rule: str, scenario: Scenario, trace: Trace) -> Violation | None:
    return dict(judge(scenario, trace, {rule: CHECKS[rule]}).violations()).get(rule)


def _drawn(scenario: Scenario, trace: Trace, violation: Violation | None) -> Iterator[str]:
    yield from excerpt(describe_scenario(scenario))
    yield from excerpt(draw(scenario, trace, violation))


def _runs_of_mailbox(
    rule: Rule, examples: Iterable[MailboxExample], name: str, folder: str
) -> Iterator[tuple[bool, list[str]]]:
    """Yield whether a mailbox breaks a rule in an example, and the run; small examples first."""
    with open_mailbox(name, folder=folder) as play:
        for example in sorted(examples, key=lambda each: len(each.program.all_steps)):
            stages: tuple[Stage, ...] = ("threads",)
            if not example.program.needs_threads:
                stages = ("asyncio", "threads")
            for plan in (MailboxPlan(stage, example.program) for stage in stages):
                (run,) = play([plan])
                lines = [f"{example.name}, {plan.stage}", *notation_of(plan.program)]
                if isinstance(run, Broken):
                    yield False, [*lines, f"error: {run.text}"]
                else:
                    violation = judge_mailbox(run).broken.get(rule.id)
                    yield violation is not None, [*lines, *trace_lines(run, violation)]


REFERENCE_MAILBOX = "asyncwait.reference:MailboxProcessor"
"""The mailbox whose runs are drawn."""


@asyncwait.command("rules")
@click.argument("wanted", nargs=-1, type=any_case, metavar="[AREA|ID]...")
@click.option(
    "--backend",
    metavar="NAME",
    help="Mark the rules that do not apply to this backend, with the reason, and draw its runs. "
    f"Without it, runs are those of {REFERENCE}.",
)
def rules_command(wanted: tuple[str, ...], backend: str | None) -> None:
    """List all rules, or those of an AREA such as RETRY; show the rule with an ID in full.

    In full: what holds and why, where Flink differs, its examples and a run of the smallest one, a
    run that breaks the rule, and the faulty operators that break it.

    The rules of the task mailbox are the area MBX, those of calls that are carried across
    micro-batches the area CARRY. They do not apply to operators.
    """
    by_area = {
        area: [rule for rule in _all_rules().values() if rule.area == area]
        for area in (*areas(), *BOOKS)
    }
    with usage_errors():
        in_full = _rules_named([id_ for id_ in wanted if id_ not in by_area])
        if not wanted:
            listed = rules() if backend else _all_rules()
            _list_rules(listed.values(), backend, with_sentences=False)
        for area in dict.fromkeys(id_ for id_ in wanted if id_ in by_area):
            _list_rules(by_area[area], backend, with_sentences=True)
            say("")
            say(f"one of them in full: asyncwait rules {by_area[area][0].id}")
        _show_in_full(in_full, backend or REFERENCE)


def _all_rules() -> Mapping[str, Rule]:
    return {id_: rule for book in (rules, *BOOKS.values()) for id_, rule in book().items()}


def _rules_named(ids: Sequence[str]) -> list[Rule]:
    known = _all_rules()
    for id_ in ids:
        if id_ not in known:
            wrong = InvalidConfig.of("rule", id_, "the id of a rule; see: asyncwait rules")
            raise InvalidConfig(f"{wrong}{nearest(id_, known)}")
    return [known[id_] for id_ in dict.fromkeys(ids)]


def _list_rules(listed: Iterable[Rule], backend: str | None, *, with_sentences: bool) -> None:
    can: frozenset[Capability] = ALL_CAPABILITIES
    lacking: Lacking = {}
    if backend is not None:
        with open_backend(backend, folder=str(Path.cwd())) as served:
            can, lacking = served.capabilities, served.lacking
    for rule in listed:
        sentence = f": {rule.sentence}" if with_sentences else ""
        apart = "" if backend is None else _apart(rule, can, lacking)
        say(f"{rule.id:8} {rule.level:6} {rule.title}{sentence}{apart}")


def _apart(rule: Rule, can: frozenset[Capability], lacking: Lacking) -> str:
    """Return why a rule does not apply to a backend; empty if it does."""
    if rule.area in BOOKS:
        return f" (not applicable: it is for {'mailboxes' if rule.area == 'MBX' else 'lanes'})"
    needs = missing_text(rule, can, lacking)
    return f" (not applicable: {needs})" if needs else ""


def _show_in_full(shown: Sequence[Rule], backend: str) -> None:
    if not shown:
        return
    folder = str(Path.cwd())
    page = Page(console(), listed_backends(folder).faults)
    if of_operators := [rule for rule in shown if rule.id in rules()]:
        with open_backend(backend, folder=folder) as served:
            for rule in of_operators:
                page.show(rule, served)
    for rule in shown:
        if rule.id in mailbox_rules():
            page.show_of_mailbox(rule, folder)
    for rule in shown:
        if rule.id in {**carry_rules(), **hedge_rules()}:
            page.show_text(rule)


@asyncwait.command("backends")
@click.option("--faulty", is_flag=True, help="Those that are made to break a rule, with the rule.")
def backends_command(*, faulty: bool) -> None:
    """List the backends that are installed."""
    with usage_errors():
        listed = listed_backends(str(Path.cwd()))
    rule_of = {fault.name: fault.rule for fault in listed.faults}
    for name in listed.names:
        if (name in rule_of) is faulty:
            say(f"{name_of(name)}  {rule_of[name]}" if faulty else name_of(name))
    for name, why in listed.broken.items():
        say(f"{name_of(name)}: can't be loaded: {why}", err=True)
