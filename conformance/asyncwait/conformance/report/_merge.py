"""Several reports as one, and what changed between the runs of a backend."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import msgspec
from msgspec import Struct

from asyncwait.conformance.report._model import Header, Report, Run
from asyncwait.spec.rules import rules
from asyncwait.spec.texts import name_of, one_line

NOT_THERE = "not there"
"""In place of a status where a run knows nothing of a rule."""


class Changed(Struct, frozen=True):
    """What is another in a later run of a backend."""

    before: Run
    after: Run
    rules: tuple[tuple[str, str, str], ...] = ()

    @property
    def is_nothing(self) -> bool:
        """Whether neither a rule nor the verdict changed."""
        return not self.rules and self.before.claim == self.after.claim


def merged(reports: Sequence[Report], header: Header) -> Report:
    """Return several reports as one; a run that stands in two of them counts once."""
    doubts = dict.fromkeys(report.doubt for report in reports if report.doubt)
    texts = {rule.id: rule for report in _by_date(reports) for rule in report.rules}
    order = {rule: place for place, rule in enumerate(rules())}
    runs = tuple(_runs(reports))
    backends = tuple(dict.fromkeys(run.name for run in runs))
    return Report(
        msgspec.structs.replace(header, doubt="; ".join(doubts), backends=backends),
        tuple(sorted(texts.values(), key=lambda rule: order.get(rule.id, len(order)))),
        runs,
    )


def _by_date(reports: Iterable[Report]) -> list[Report]:
    return sorted(reports, key=lambda report: report.header.created)


def _runs(reports: Iterable[Report]) -> Iterator[Run]:
    """Yield the runs of each backend, the oldest first."""
    found: dict[str, list[Run]] = {}
    for report in reports:
        for run in report.runs:
            known = found.setdefault(run.name, [])
            if run not in known:
                known.append(run)
    for runs in found.values():
        yield from sorted(runs, key=lambda run: run.header.created)


def repeated(reports: Sequence[Report], names: Sequence[str]) -> Iterator[str]:
    """Yield a line for each run that stands in an earlier report, too."""
    known: list[tuple[Run, str]] = []
    for name, report in zip(names, reports, strict=True):
        again: dict[str, list[str]] = {}
        for run in report.runs:
            first = next((where for each, where in known if each == run), None)
            if first is None:
                known.append((run, name))
            else:
                again.setdefault(first, []).append(run.name)
        for where, backends in again.items():
            runs = "run" if len(backends) == 1 else f"{len(backends):,} runs"
            same = f"the same {runs} as {where} ({', '.join(backends)})"
            yield f"{name_of(name)}: {same}: counted once"


def count_of(report: Report, name: str) -> int:
    """Return how many runs of a backend there are."""
    return sum(run.name == name for run in report.runs)


def changes(report: Report) -> Iterator[Changed]:
    """Yield what changed from each run to the next of the same backend.

    Of a run that is not whole nothing is known to have changed.
    """
    for before, after in pairwise(report.runs):
        if before.name == after.name and not before.doubt and not after.doubt:
            told = [(rule, *_statuses(before, after, rule)) for rule in report.by_rule]
            yield Changed(before, after, tuple(each for each in told if each[1] != each[2]))


def _statuses(before: Run, after: Run, rule: str) -> tuple[str, str]:
    """Return the status of a rule in both runs; alike where one was not asked for it."""
    was, now = (run.by_rule[rule].status if rule in run.by_rule else "" for run in (before, after))
    if (not was and before.header.only) or (not now and after.header.only):
        return "", ""
    return was or NOT_THERE, now or NOT_THERE


def titles(report: Report) -> tuple[str, ...]:
    """Return what each run is called: its backend, and its date where that has several runs."""
    return tuple(
        f"{name_of(run.name)} {one_line(run.header.created)}"
        if count_of(report, run.name) > 1
        else name_of(run.name)
        for run in report.runs
    )
