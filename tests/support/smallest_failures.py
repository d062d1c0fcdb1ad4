"""Failures as pages show them: the smallest scenario that is found, drawn, and how to play it."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from asyncwait.conformance.evidence import describe_scenario
from asyncwait.conformance.report import excerpt
from asyncwait.conformance.timeline import draw
from asyncwait.conformance.verdict import Failure
from asyncwait.conformance.verifying import Search
from asyncwait.spec.scenario import Scenario, scenarios_to_json

LONGEST = 100
"""Lines; of what is longer there is as much as a person reads."""


def search(
    play: Callable[[Scenario], Mapping[str, Failure]], is_over: Callable[[], bool]
) -> Search:
    def try_out(candidates: Sequence[Scenario]) -> Iterator[Mapping[str, Failure]]:
        return map(play, candidates)

    return Search(try_out, is_over)


def drawn(failure: Failure) -> list[str]:
    scenario = failure.case.scenario
    timeline = draw(scenario, failure.trace, failure.violation)
    lines = [line.rstrip() for line in (*describe_scenario(scenario), *timeline)]
    return lines if len(lines) <= LONGEST else list(excerpt(lines))


def evidence(backend: str, failure: Failure) -> Iterator[str]:
    yield "```text"
    yield from drawn(failure)
    yield "```"
    yield ""
    yield "```"
    yield f"asyncwait play {backend} '{scenarios_to_json((failure.case.planned,)).decode()}'"
    yield "```"
    yield ""


EVIDENCE = r"^```text\n(?P<drawn>.*?)\n```.*?^asyncwait play (?P<name>\S+) '(?P<json>.*?)'$"
"""What `evidence` writes, for a test that reads a page; multi-line, and the dot takes all."""
