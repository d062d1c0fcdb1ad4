"""The chapters of the rules, each rule with what shows it and what breaks it."""

import re
import textwrap
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from importlib import import_module
from typing import NamedTuple

from links import relative

from asyncwait.backends.faulty import FAULTY, Faulty
from asyncwait.backends.faulty.carry import FAULTY_CARRY, FaultyCarry
from asyncwait.backends.faulty.hedge import FAULTY_HEDGES, FaultyHedge
from asyncwait.backends.faulty.mailbox import FAULTY_MAILBOXES, FaultyMailbox
from asyncwait.conformance.areas import all_witnesses
from asyncwait.conformance.evidence import Example, describe_scenario
from asyncwait.conformance.mailbox import MAILBOX_EXAMPLES, MailboxExample
from asyncwait.conformance.timeline import draw
from asyncwait.spec.rules import areas

HEADING = re.compile(r"^## (?P<id>[A-Z]+-\d+) (?P<title>.*)$", re.MULTILINE)


EXAMPLE_PAGES: dict[str, tuple[str, tuple[Example, ...]]] = {
    f"spec/examples/{area.folder}.md": (
        area.title,
        import_module(f"asyncwait.conformance.areas.{area.folder}.examples").EXAMPLES,
    )
    for area in areas().values()
}
"""The pages of examples: what each is about, and its examples."""

EVERY_FAULT: tuple[Faulty | FaultyMailbox | FaultyCarry | FaultyHedge, ...] = (
    *FAULTY,
    *FAULTY_MAILBOXES,
    *FAULTY_CARRY,
    *FAULTY_HEDGES,
)
APART = {"MBX": "mailbox", "CARRY": "carry", "HEDGE": "hedge"}
"""The books of rules that hold no operator: what each is called, by its area."""
MAILBOX_PAGE = "spec/examples/mailbox.md"


class Related(NamedTuple):
    """Examples of a rule, each behind its page, and operators that break the rule."""

    examples: list[tuple[str, str]]
    faults: list[str]


def related() -> dict[str, Related]:
    """Return what belongs to each rule, of operators and of mailboxes."""
    found = defaultdict[str, Related](lambda: Related([], []))
    everything: dict[str, Iterable[Example | MailboxExample]] = {
        **{page: examples for page, (_, examples) in EXAMPLE_PAGES.items()},
        MAILBOX_PAGE: MAILBOX_EXAMPLES,
    }
    for page, examples in everything.items():
        for example in examples:
            for rule in example.rules:
                found[rule].examples.append((page, example.name))
    for faulty in EVERY_FAULT:
        found[faulty.rule].faults.append(faulty.name)
    return dict(found)


def folder_of(rule: str) -> str:
    """Return how the pages of a rule's area are called."""
    area = rule.rpartition("-")[0]
    return APART.get(area) or areas()[area].folder


RELATED = related()
EVIDENCE = {
    **{name: page for each in RELATED.values() for page, name in each.examples},
    **{
        name: f"faults/{folder_of(rule)}.md"
        for rule, each in RELATED.items()
        for name in each.faults
    },
}
"""The page on which an example or a faulty operator stands, by its name."""

WITNESSES_OF = {witness.rule: witness for witness in all_witnesses()}


def chapter_of(rule: str) -> str:
    """Return the page of the chapter in which a rule stands."""
    area, folder = rule.rpartition("-")[0], folder_of(rule)
    if area in APART:
        return f"spec/{folder}/01-{folder}.md"
    return f"spec/{list(areas()).index(area) + 1:02}-{folder}.md"


def rule_link(rule: str, uri: str) -> str:
    """Return a link to a rule from the page `uri`."""
    return f"[{rule}]({relative(chapter_of(rule), uri)}#{rule.lower()})"


def rule_links(names: Iterable[str], uri: str) -> str:
    """Return links to rules from the page `uri`."""
    return ", ".join(rule_link(name, uri) for name in names)


def decorated(text: str, uri: str) -> str:
    """Return a chapter with anchors, and with what belongs to each rule behind it."""
    sections = HEADING.split(text)
    parts = [sections[0]]
    for name, title, body in zip(sections[1::3], sections[2::3], sections[3::3], strict=True):
        parts += [f"## {name} {title} {{ #{name.lower()} }}", body.rstrip(), "\n\n"]
        parts += [f"{line}\n" for line in (*_belonging(name, uri), *_witnessed(name))] + ["\n"]
    return "".join(parts)


def _belonging(rule: str, uri: str) -> Iterator[str]:
    examples, faults = RELATED[rule]
    page_of_faults = relative(f"faults/{folder_of(rule)}.md", uri)
    shown = (f"[{name}]({relative(page, uri)}#{name})" for page, name in examples)
    broken = (f"[{name}]({page_of_faults}#{name})" for name in faults)
    yield f'??? example "{counted(examples, "example")}, {counted(faults, "faulty operator")}"'
    yield ""
    if examples:  # The suite of carrying has none: it plays all small runs.
        yield f"    Shown by {', '.join(shown)}."
        yield ""
    yield f"    Broken by {', '.join(broken)}."


def _witnessed(rule: str) -> Iterator[str]:
    """The smallest trace that breaks a rule of operators, and a trace that only looks like it."""
    witness = WITNESSES_OF.get(rule)
    if witness is None:
        return
    yield ""
    yield '??? failure "What breaks it, and what only looks like it"'
    for told, run in ((f"Broken: {witness.text}.", witness.violating), ("Legal:", witness.legal)):
        drawn = [*describe_scenario(run.scenario), *draw(run.scenario, run.trace)]
        block = "\n".join(("```text", *drawn, "```"))
        yield f"\n    {told}\n\n{textwrap.indent(block, '    ')}"


def counted(things: Collection[object], name: str) -> str:
    """Return how many there are, in words."""
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"
