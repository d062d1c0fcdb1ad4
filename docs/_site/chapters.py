"""Chapters of the rules with their evidence, and pages of examples, faulty operators and tables."""

import ast
import inspect
import re
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator
from importlib import import_module, resources
from typing import NamedTuple, TypeAlias

from where import ROOT, relative

from asyncwait import spec
from asyncwait.backends.faulty import FAULTY, Faulty
from asyncwait.backends.faulty.carry import FAULTY_CARRY, FaultyCarry
from asyncwait.backends.faulty.hedge import FAULTY_HEDGES, FaultyHedge
from asyncwait.backends.faulty.mailbox import FAULTY_MAILBOXES, FaultyMailbox
from asyncwait.conformance.areas import EXAMPLES, all_witnesses
from asyncwait.conformance.evidence import Example, describe_scenario
from asyncwait.conformance.harness import play
from asyncwait.conformance.mailbox import MAILBOX_EXAMPLES, MailboxExample, notation_of
from asyncwait.conformance.timeline import draw
from asyncwait.reference import open_operator
from asyncwait.spec.rules import Rule, areas, carry_rules, hedge_rules, mailbox_rules, rules
from asyncwait.spec.scenario import Capability, needs
from asyncwait.spec.texts import counted

AnyFaulty: TypeAlias = Faulty | FaultyMailbox | FaultyCarry | FaultyHedge

HEADING = re.compile(r"^## (?P<id>[A-Z]+-\d+) (?P<title>.*)$", re.MULTILINE)


EXAMPLE_PAGES: dict[str, tuple[str, tuple[Example, ...]]] = {
    f"spec/examples/{area.folder}.md": (
        area.title,
        import_module(f"asyncwait.conformance.areas.{area.folder}.examples").EXAMPLES,
    )
    for area in areas().values()
}
"""The pages of examples: what each is about, and its examples."""

EVERY_FAULT: tuple[AnyFaulty, ...] = (
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
    shown_by, broken_by = counted(len(examples), "example"), counted(len(faults), "faulty operator")
    yield f'??? example "{shown_by}, {broken_by}"'
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


BUG = re.compile(r"^\| (?P<bug>[^|]*) \| (?P<what>[^|]*) \| [A-Z]+-\d+ \| `(?P<name>.+)` \|$")
"""A row of the page on bugs; an empty cell repeats the row above."""


def example_pages() -> Iterator[tuple[str, str]]:
    """Yield the pages of examples, each after its place on the site."""
    for uri, (title, examples) in EXAMPLE_PAGES.items():
        yield uri, f"# Examples: {title}\n\n{_INTRODUCTION}{''.join(_examples(examples, uri))}"
    mailboxes = "".join(_examples(MAILBOX_EXAMPLES, MAILBOX_PAGE))
    yield MAILBOX_PAGE, f"# Examples: the task mailbox\n\n{_OF_MAILBOXES}{mailboxes}"


_INTRODUCTION = """\
The reference plays each on a virtual clock, and the build of this site draws the run.
`asyncwait play BACKEND NAME` plays it on your operator.

"""
_OF_MAILBOXES = "`asyncwait verify --mailbox MODULE:CALLABLE` plays them on a mailbox of yours.\n\n"


def _examples(examples: Iterable[Example | MailboxExample], uri: str) -> Iterator[str]:
    for example in examples:
        yield f"## {example.name} {{ #{example.name} }}\n\n{example.sentence}\n\n"
        yield f"About {rule_links(example.rules, uri)}.\n\n"
        if isinstance(example, MailboxExample):
            yield _folded("The program", "text", "\n".join(notation_of(example.program)))
            continue
        trace = play(open_operator, example.scenario, "asyncio")
        drawn = [*describe_scenario(example.scenario), *draw(example.scenario, trace)]
        yield _folded("What happens", "text", "\n".join(drawn))


def fault_pages() -> Iterator[tuple[str, str]]:
    """Yield the pages of the gallery, each after its place on the site."""
    yield "faults/index.md", "".join(_gallery("faults/index.md"))
    for area in areas().values():
        uri = f"faults/{area.folder}.md"
        of_area = [faulty for faulty in FAULTY if folder_of(faulty.rule) == area.folder]
        yield uri, f"# Faulty operators: {area.title}\n\n{''.join(_faults(of_area, uri))}"
    books: dict[str, tuple[str, Iterable[AnyFaulty]]] = {
        "mailbox": ("mailboxes", FAULTY_MAILBOXES),
        "carry": ("lanes and hosts", FAULTY_CARRY),
        "hedge": ("functions with fallbacks", FAULTY_HEDGES),
    }
    for name, (title, faults) in books.items():
        uri = f"faults/{name}.md"
        yield uri, f"# Faulty {title}\n\n{''.join(_faults(faults, uri))}"


def _gallery(uri: str) -> Iterator[str]:
    yield f"# The gallery\n\n{counted(len(FAULTY), 'operator')} break one rule each, by one small "
    yield f"change to a sound one, and {len(FAULTY_MAILBOXES)} mailboxes do, and "
    yield f"{len(FAULTY_CARRY)} lanes and hosts. The suite convicts each of them by that rule. "
    yield "`asyncwait verify faulty-NAME` shows the verdict on an operator.\n\n"
    yield "| operator | breaks | what it does | bug that had it |\n|---|---|---|---|\n"
    bugs = bugs_by_operator()
    for faulty in EVERY_FAULT:
        link = f"[{faulty.name}]({folder_of(faulty.rule)}.md#{faulty.name})"
        bug, sentence = bugs.get(faulty.name, ("",))[0], faulty.sentence.replace("|", "\\|")
        yield f"| {link} | {rule_link(faulty.rule, uri)} | {sentence} | {bug} |\n"


def _faults(faults: Iterable[AnyFaulty], uri: str) -> Iterator[str]:
    bugs = bugs_by_operator()
    for faulty in faults:
        yield f"## {faulty.name} {{ #{faulty.name} }}\n\n{faulty.sentence}\n\n"
        yield f"Breaks {rule_link(faulty.rule, uri)}.\n\n"
        if faulty.name in bugs:
            number, what = bugs[faulty.name]
            yield f"A known bug{f', {number}' if number else ''}: {what}\n\n"
        changes = (faulty.change, *getattr(faulty, "also", ()))
        code = "\n\n\n".join(inspect.getsource(change).rstrip() for change in changes)
        yield _folded("The change", "python", code)


def bugs_by_operator() -> dict[str, tuple[str, str]]:
    """Return number and text of the bug that each operator re-creates, from the page on bugs."""
    found: dict[str, tuple[str, str]] = {}
    bug = what = ""
    for line in (ROOT / "docs" / "bugs.md").read_text(encoding="utf-8").splitlines():
        if row := BUG.match(line):
            if row["what"].strip():
                bug, what = row["bug"].strip(), row["what"].strip()
            found[row["name"]] = bug, what
    return found


def _folded(title: str, language: str, text: str) -> str:
    block = f"```{language}\n{text.rstrip()}\n```"
    return f'??? quote "{title}"\n\n{textwrap.indent(block, "    ")}\n\n'


CONTRACT = (
    *("OpenOperator", "OperatorResults", "SnapshotOnDemand", "Statistics"),
    *("OperatorConfig", "Retry", "CallbackFunction", "ResultFuture"),
    *("Record", "Watermark", "WatermarkStatus", "LatencyMarker", "Barrier", "Snapshot"),
)
"""Names that an author of an operator meets, in reading order."""


def rules_page(uri: str) -> Iterator[str]:
    """Yield the parts of the list of all rules."""
    yield f"# All rules\n\n{len(rules())} hold operators, {len(mailbox_rules())} mailboxes, "
    yield f"{len(carry_rules())} lanes and hosts, {len(hedge_rules())} functions with stand-ins. "
    yield "`asyncwait rules` prints the list, `asyncwait rules ID` a rule.\n"
    for area in areas().values():
        of_area = [rule for rule in rules().values() if rule.area == area.id]
        yield f"\n## {area.title}\n\n{''.join(_rules(of_area, uri))}"
    yield f"\n## The task mailbox\n\n{''.join(_rules(mailbox_rules().values(), uri))}"
    yield f"\n## Carried calls\n\n{''.join(_rules(carry_rules().values(), uri))}"
    yield f"\n## Stand-ins\n\n{''.join(_rules(hedge_rules().values(), uri))}"


def _rules(of_area: Iterable[Rule], uri: str) -> Iterator[str]:
    yield "| rule | | what holds | needs | examples | faulty operators |\n"
    yield "|---|---|---|---|---|---|\n"
    for rule in of_area:
        examples, faults = RELATED[rule.id]
        needed = ", ".join(rule.missing(frozenset()))
        broken = f"[{len(faults)}](../faults/{folder_of(rule.id)}.md#{faults[0]})"
        yield f"| {rule_link(rule.id, uri)} | {rule.level} | {rule.title} | {needed} "
        yield f"| {len(examples)} | {broken} |\n"


def capabilities_page(uri: str) -> Iterator[str]:
    """Yield the parts of the page on what an operator may do without."""
    yield """\
# Capabilities

An operator declares its capabilities. The suite holds it to the rules that need these and to no
others:

```
stream_backend(open_operator, profiles=["ordered", "timeouts"])
stream_backend(open_operator, lacks=["snapshots", "restore"])
```

The large ones are *profiles*. The core and one mode make an operator. `profiles` names the profiles
that it has; without it, it has all of them. `lacks` takes any capability away, the finer ones too.
The suite adapts its scenarios, and a rule that needs a missing capability is not applicable. A
declared capability that does not hold is a failure.
"""
    fine = [each for each in Capability if not each.is_profile]
    profiles = [each for each in Capability if each.is_profile]
    yield f"\n## Profiles\n\n{''.join(_capabilities(profiles, uri))}"
    yield f"\n## Finer capabilities\n\n{''.join(_capabilities(fine, uri))}"


def _capabilities(kinds: Iterable[Capability], uri: str) -> Iterator[str]:
    yield "| name | brings | part of | examples | rules that need it |\n|---|---|---|---|---|\n"
    for kind in kinds:
        played = sum(kind in needs(example.scenario) for example in EXAMPLES)
        held = [rule.id for rule in rules().values() if any(kind in of for of in rule.needs)]
        told = rule_links(held, uri) or "-"
        yield f"| `{kind.value}` | {kind.brings} | {kind.part_of or ''} | {played} | {told} |\n"


def contract_page() -> Iterator[str]:
    """Yield the parts of the page that shows the contract as it stands in the code."""
    yield """\
# The contract

What an operator receives, what it gives, and what it promises: the docstrings of `asyncwait.spec`,
as they stand in the code. [Sentence by sentence](spec/contract.md) lists the rules behind each.
"""
    told = {}
    for file in resources.files(spec).iterdir():
        if file.name.endswith(".py"):
            source = file.read_text(encoding="utf-8")
            classes = (each for each in ast.parse(source).body if isinstance(each, ast.ClassDef))
            told |= {
                each.name: ast.get_source_segment(source, each, padded=True) for each in classes
            }
    for name in CONTRACT:
        yield f"\n## {name}\n\n```python\n{told[name]}\n```\n"
