"""The pytest plug-in: one item for each rule. Does nothing unless a backend is requested.

pytest --pyargs asyncwait.conformance --asyncwait-backend NAME|module:callable
pytest --pyargs asyncwait.conformance --asyncwait  # the backend in [tool.asyncwait]
"""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from asyncwait.conformance.running import importing_the_suite
from asyncwait.spec import AsyncWaitError, InvalidConfig
from asyncwait.spec.texts import joined

if TYPE_CHECKING:
    from asyncwait.conformance.running import Served
    from asyncwait.conformance.verdict import Verdict
    from asyncwait.conformance.verifying import Coverage, Gate

_REPORT = "--asyncwait-report"
_SUITE = "test_rules_of_the_specification.py"
_PLAN: "pytest.StashKey[Coverage]" = pytest.StashKey()
_GATE: "pytest.StashKey[Gate]" = pytest.StashKey()
_BACKEND: "pytest.StashKey[Served]" = pytest.StashKey()
_VERDICT: "pytest.StashKey[Verdict]" = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("asyncwait", "conformance of asynchronous stream operators")
    group.addoption(
        "--asyncwait", action="store_true", help="hold the backend of [tool.asyncwait] to the suite"
    )
    group.addoption("--asyncwait-backend", metavar="NAME", help="hold this backend to the suite")
    group.addoption("--asyncwait-full", action="store_true", help="ten times as many scenarios")
    group.addoption("--asyncwait-count", type=int, metavar="N", help="exactly so many scenarios")
    group.addoption("--asyncwait-seed", type=int, metavar="N", help="of the generated scenarios")
    group.addoption(
        "--asyncwait-expected-failures", metavar="FILE", help="rules that are known to be broken"
    )
    group.addoption(_REPORT, metavar="DIR", help="write the verdict with all evidence here")


def pytest_configure(config: pytest.Config) -> None:
    """Start the backend; report errors of loading it before anything is collected."""
    if not _is_asked(config):
        return
    with _usage_errors():
        with importing_the_suite():
            from asyncwait.conformance.report import clear_folder
            from asyncwait.conformance.running import open_backend
            from asyncwait.conformance.verifying import settle

        gate = config.stash[_GATE] = _gate(config)
        (name,) = gate.names
        config.stash[_PLAN] = _plan(config, gate)
        if folder := _report_folder(config):
            clear_folder(_REPORT, folder)
        # The backend may be a module of the present folder, as for the command.
        opened = open_backend(name, folder=gate.folder(name))
        leaving = ExitStack()
        served = config.stash[_BACKEND] = leaving.enter_context(opened)
        config.add_cleanup(leaving.close)
        settle(gate.terms(name), served, {})  # Errors show at once.


def _is_asked(config: pytest.Config) -> bool:
    return bool(config.getoption("--asyncwait") or config.getoption("--asyncwait-backend"))


def _gate(config: pytest.Config) -> "Gate":
    """Return the terms of the verification of one backend."""
    from asyncwait.conformance.verifying import gate_of

    name, file = (
        config.getoption("--asyncwait-backend"),
        config.getoption("--asyncwait-expected-failures"),
    )
    present = config.invocation_params.dir
    expected_failures = present / str(file) if file else None
    gate = gate_of([str(name)] if name else [], present, expected_failures)
    if len(gate.names) != 1:
        raise InvalidConfig.of(
            "--asyncwait",
            ", ".join(gate.names) or None,
            "with one backend in [tool.asyncwait] of pyproject.toml; else name it with "
            "--asyncwait-backend",
        )
    return gate


def _plan(config: pytest.Config, gate: "Gate") -> "Coverage":
    from asyncwait.conformance.generation import FULL, QUICK
    from asyncwait.conformance.verifying import Coverage

    count, seed = config.getoption("--asyncwait-count"), config.getoption("--asyncwait-seed")
    if count is None:
        count = FULL if config.getoption("--asyncwait-full") else gate.count or QUICK
    return Coverage(int(count), int((gate.seed or 0) if seed is None else seed))


def _report_folder(config: pytest.Config) -> Path | None:
    folder = config.getoption(_REPORT)
    return Path(config.invocation_params.dir, str(folder)) if folder else None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the suite out of every run that names no backend."""
    if collection_path.name == _SUITE and not _is_asked(config):
        return True
    return None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one item of each rule that applies to the backend's capabilities."""
    if "asyncwait_rule" in metafunc.fixturenames:
        from asyncwait.spec.rules import rules_for

        can = metafunc.config.stash[_BACKEND].capabilities
        metafunc.parametrize("asyncwait_rule", list(rules_for(can)))


@pytest.fixture(scope="session")
def asyncwait_verdict(request: pytest.FixtureRequest) -> "Verdict":
    """The verdict on the named backend; the scenarios are played once, for all selected items."""
    config = request.config
    if _VERDICT not in config.stash:
        with _usage_errors():
            config.stash[_VERDICT] = _verdict(config, _selected(request.session))
    return config.stash[_VERDICT]


def _selected(session: pytest.Session) -> tuple[str, ...]:
    """Return the rules whose items run; empty for all, or if an item is about the verdict."""
    from asyncwait.spec.rules import rules_for

    asked = [getattr(item, "callspec", None) for item in session.items if _is_ours(item)]
    rules = tuple(str(each.params["asyncwait_rule"]) for each in asked if each is not None)
    every = rules_for(session.config.stash[_BACKEND].capabilities)
    return () if None in asked or len(rules) == len(list(every)) else rules


def _is_ours(item: pytest.Item) -> bool:
    return "asyncwait_verdict" in getattr(item, "fixturenames", ())


def _verdict(config: pytest.Config, rules: tuple[str, ...]) -> "Verdict":
    from msgspec.structs import replace

    from asyncwait.conformance.report import now, report_of, write_report
    from asyncwait.conformance.verifying import FOLDER, keep, verify_to_tell

    gate, backend = config.stash[_GATE], config.stash[_BACKEND]
    terms = gate.terms(backend.name)
    plan = replace(config.stash[_PLAN], rules=rules)
    verdict = verify_to_tell(backend, plan, terms=terms).verdict
    failed = [case.planned for case in verdict.told if case.generated]
    keep(failed, Path(config.invocation_params.dir) / FOLDER)
    if report := _report_folder(config):
        write_report(report_of((verdict,), now()), _REPORT, report)
    return verdict


def pytest_terminal_summary(
    terminalreporter: "pytest.TerminalReporter", config: pytest.Config
) -> None:
    """Close with a line for each unexplained broken rule, and the verdict."""
    verdict = config.stash.get(_VERDICT, None)
    if verdict is not None:
        from asyncwait.conformance.report import FORMS, entry_lines

        for line in entry_lines(verdict):
            terminalreporter.write_line(joined([line]))
        if taken := config.stash[_GATE].taken():
            terminalreporter.write_line(joined([taken]))
        terminalreporter.write_line(joined([verdict.line]))
        if folder := _report_folder(config):
            terminalreporter.write_line(joined([f"written into {folder}: {', '.join(FORMS)}"]))


@contextmanager
def _usage_errors() -> Generator[None]:
    """Turn errors that a user can fix into pytest's own usage error: one line, no traceback."""
    try:
        yield
    except AsyncWaitError as error:
        raise pytest.UsageError(joined([str(error)])) from error


__all__ = [
    "asyncwait_verdict",
    "pytest_addoption",
    "pytest_configure",
    "pytest_generate_tests",
    "pytest_ignore_collect",
    "pytest_terminal_summary",
]
