"""Pages that tell what the package defines: its rules, its capabilities, its contract."""

import ast
from collections.abc import Iterable, Iterator
from importlib import resources

from chapters import RELATED, folder_of, rule_link, rule_links

from asyncwait import spec
from asyncwait.conformance.areas import EXAMPLES
from asyncwait.spec.rules import Rule, areas, carry_rules, hedge_rules, mailbox_rules, rules
from asyncwait.spec.scenario import Capability, needs

CONTRACT = (
    *("OpenOperator", "OperatorResults", "SnapshotOnDemand", "Statistics"),
    *("OperatorConfig", "Retry", "CallbackFunction", "ResultFuture"),
    *("Record", "Watermark", "WatermarkStatus", "LatencyMarker", "Barrier", "Snapshot"),
)
"""Names that an author of an operator meets, in reading order."""


def rules_page(uri: str) -> str:
    """Return the list of all rules."""
    return "".join(_rules_page(uri))


def _rules_page(uri: str) -> Iterator[str]:
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


def capabilities_page(uri: str) -> str:
    """Return the page on what an operator may do without."""
    return "".join(_capabilities_page(uri))


def _capabilities_page(uri: str) -> Iterator[str]:
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
declared capability that does not hold is a failure; the verdict names a capability that holds
undeclared.
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


def contract_page() -> str:
    """Return the page that shows the contract as it stands in the code."""
    return "".join(_contract_page())


def _contract_page() -> Iterator[str]:
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
