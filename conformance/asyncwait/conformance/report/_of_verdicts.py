"""Conversion of verdicts to a report: the findings, and as much evidence as fits."""

import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from types import MappingProxyType

import msgspec

from asyncwait.conformance.report._json_lines import readable, size_of
from asyncwait.conformance.report._model import (
    FORMAT,
    Evidence,
    Header,
    Played,
    Report,
    Result,
    RuleText,
    Run,
    RunFooter,
    RunHeader,
)
from asyncwait.conformance.report._text import again_anywhere, again_here, run_lines
from asyncwait.conformance.verdict import EXIT_CODES, Failure, RuleResult, Status, Verdict
from asyncwait.spec.rules import Rule, areas, rules, spec_version
from asyncwait.spec.scenario import profiles_of
from asyncwait.spec.texts import counted, shortened

MOST_OF_ONE = 60_000
"""Longest scenario with its trace, in bytes; a longer one is drawn in words."""

MOST_OF_ALL = 900_000
"""Bytes of scenarios and traces in one report: a page that shows them has to open quickly."""

ERRORS = 20
"""Texts of errors shown for each backend."""

LONGEST = 2_000
"""Longest text of an error, in characters."""


def report_of(
    verdicts: Sequence[Verdict], created: str, left_out: Mapping[str, str] | None = None
) -> Report:
    """Return the report on some backends."""
    told = {result.rule.id: result.rule for v in verdicts for result in v.results}
    evidence = _Collected(verdicts)
    return readable(
        Report(
            header_of(created, left_out or {}, [verdict.backend for verdict in verdicts]),
            tuple(map(_text_of, told.values())),
            tuple(_run_of(verdict, created, evidence) for verdict in verdicts),
        )
    )


def header_of(
    created: str, left_out: Mapping[str, str] = MappingProxyType({}), backends: Iterable[str] = ()
) -> Header:
    """Return the header of a report that this machine writes."""
    own, machine = version("asyncwait"), platform.platform()
    doubt = "; ".join(f"{name}: not verified: {why}" for name, why in left_out.items())
    python = platform.python_version()
    named = tuple(backends)
    return Header(FORMAT, own, spec_version(), created, python, machine, doubt, named)


def _text_of(rule: Rule) -> RuleText:
    same = set(RuleText.__struct_fields__) - {"chapter"}
    return RuleText(
        chapter=areas()[rule.area].title, **{name: getattr(rule, name) for name in same}
    )


class _Collected:
    """The evidence of a report: the first piece for each rule, then others while they fit."""

    def __init__(self, verdicts: Sequence[Verdict]) -> None:
        self.played: dict[str, list[Played]] = {verdict.backend: [] for verdict in verdicts}
        self.pieces: dict[tuple[str, str], list[Evidence]] = {}
        self._places: dict[tuple[str, str, str], int] = {}
        self._left = MOST_OF_ALL
        most = max((len(r.failures) for v in verdicts for r in v.results), default=0)
        for piece in range(most):
            for verdict in verdicts:
                for rule, failure in _failures(verdict, piece):
                    self._add(verdict.backend, rule, failure)

    def _add(self, backend: str, rule: str, failure: Failure) -> None:
        place = self._place(backend, failure)
        if place is not None:
            found = failure.violation
            piece = Evidence(place, found.text, found.at, found.leg)
            self.pieces.setdefault((backend, rule), []).append(piece)

    def _place(self, backend: str, failure: Failure) -> int | None:
        """Return the place of a failure's scenario in the report; None if it does not fit."""
        key = backend, failure.case.name, failure.case.id
        if key not in self._places:
            played = _played(backend, failure)
            size = size_of(played)
            if size > self._left:
                return None
            self._left -= size
            self._places[key] = place = len(self.played[backend])
            self.played[backend].append(msgspec.structs.replace(played, number=place))
        return self._places[key]


def _failures(verdict: Verdict, piece: int) -> Iterator[tuple[str, Failure]]:
    others = [r for r in verdict.results if r.status == "expected-fail"]
    for result in (*verdict.failed, *others):
        for failure in result.failures[piece : piece + 1]:
            yield result.rule.id, failure


def _played(backend: str, failure: Failure) -> Played:
    case = failure.case
    played = Played(
        case.name,
        case.id,
        case.generated,
        case.planned,
        None if case.scenario == case.planned else case.scenario,
        failure.trace,
        replay=again_here(backend, case),
        anywhere=again_anywhere(backend, case),
    )
    size = size_of(played)
    return played if size <= MOST_OF_ONE else _in_words(played, failure, size)


def _in_words(played: Played, failure: Failure, size: int) -> Played:
    events = sum(len(leg.events) for leg in failure.trace.legs)
    return msgspec.structs.replace(
        played,
        planned=None,
        scenario=None,
        trace=None,
        anywhere="",
        drawn=tuple(
            run_lines(failure.case.scenario, failure.trace, failure.violation, is_adapted=False)
        ),
        left_out=f"scenario and trace: {counted(events, 'event')}, {counted(size, 'byte')}",
    )


def _run_of(verdict: Verdict, created: str, evidence: _Collected) -> Run:
    only = tuple(result.rule.id for result in verdict.results)
    header = RunHeader(
        verdict.backend,
        tuple(sorted(verdict.capabilities)),
        tuple(map(str, profiles_of(verdict.capabilities))),
        verdict.seed,
        verdict.planned,
        created,
        version("asyncwait"),
        {result.rule.id: result.note for result in verdict.results if _is_expected(result)},
        only if len(only) < len(rules()) else (),
        spec=verdict.spec,
    )
    footer = RunFooter(
        verdict.backend,
        verdict.word,
        verdict.claim,
        verdict.line,
        EXIT_CODES[verdict.word],
        dict(Counter(result.status for result in verdict.results)),
        verdict.scenarios,
        round(verdict.seconds, 3),
        tuple(shortened(error, LONGEST) for error in verdict.errors[:ERRORS]),
        max(len(verdict.errors) - ERRORS, 0),
        verdict.stopped,
        verdict.self_reported,
        verdict.known,
        dict(verdict.stale),
        {rule: str(day) for rule, day in verdict.expired.items()},
        tuple(result.rule.id for result in verdict.newer),
    )
    played = tuple(evidence.played[verdict.backend])
    return Run(header, played, tuple(_results(verdict, evidence)), footer)


def _is_expected(result: RuleResult) -> bool:
    """Whether its note is the reason of an expected failure."""
    judged: set[Status] = {"pass", "fail", "expected-fail", "unexpected-pass"}
    return bool(result.note) and result.status in judged


def _results(verdict: Verdict, evidence: _Collected) -> Iterator[Result]:
    explains = {cause.rule: cause.explains for cause in verdict.causes}
    causes = {rule: cause for cause, others in explains.items() for rule in others}
    places = {rule: place for place, rule in enumerate(explains, 1)}
    for result in verdict.results:
        rule = result.rule.id
        pieces = evidence.pieces.get((verdict.backend, rule), ())
        yield Result(
            rule,
            result.status,
            result.applied,
            result.broken,
            result.note,
            result.is_forgiven,
            explains.get(rule, ()),
            causes.get(rule, ""),
            tuple(pieces),
            max(len(result.failures) - len(pieces), 0),
            places.get(rule, 0),
        )
