"""What all tests share: where the package comes from, derandomised generation, what is sampled."""

import gc
import signal
from collections.abc import Generator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import hypothesis
import hypothesis.strategies
import pytest
import sample

import asyncwait.spec

# The same examples on every machine and in every run: a failure in CI can be repeated at a desk.
hypothesis.settings.register_profile("tests", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("tests")


# What a shell or nohup runs in the background may ignore these, and so would all that tests start.
for number, usual in (
    (signal.SIGINT, signal.default_int_handler),
    (getattr(signal, "SIGHUP", None), signal.SIG_DFL),
):
    if number is not None and signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)


@pytest.fixture
def outside(tmp_path: Path) -> Any:
    from outside import Folder  # which some of the tests alone need, and their environments have

    return Folder(tmp_path)


@pytest.fixture
def no_collector() -> Generator[None]:
    """Nothing may wait for the collector of cycles: it comes late where little is allocated."""
    gc.disable()
    yield
    gc.enable()


def pytest_report_header() -> str:
    return (
        f"asyncwait {version('asyncwait')} from {asyncwait.spec.__file__}\n{sample.how_to_repeat()}"
    )


def pytest_configure(config: pytest.Config) -> None:
    line = (
        "sampled(one_in, of): one in so many cases of the test, or of all tests with the same `of`,"
        " is played, or as many as the test itself draws"
    )
    config.addinivalue_line("markers", line)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    cases: dict[tuple[str, int], list[pytest.Item]] = {}
    for item in items:
        marker = item.get_closest_marker("sampled")
        if marker is not None and marker.args:
            of = marker.kwargs.get("of") or item.nodeid.partition("[")[0]
            cases.setdefault((of, marker.args[0]), []).append(item)
    drawn = {item for (of, one_in), all_ in cases.items() for item in sample.some(all_, one_in, of)}
    left_out = [item for all_ in cases.values() for item in all_ if item not in drawn]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        gone = set(left_out)
        items[:] = [item for item in items if item not in gone]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed and item.get_closest_marker("sampled"):
        report.sections.append(("sample", sample.how_to_repeat()))
    return report


def pytest_collection_finish() -> None:
    """Have each collection of garbage pass over the tests themselves, which are many and stay.

    What is frozen refers to nothing that Python could tell; and Hypothesis asks who refers to what
    it registers, with its first test.
    """
    hypothesis.given(hypothesis.strategies.none())(_nothing)()
    _keep()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    done = yield
    if nextitem is not None and nextitem.path != item.path:
        _keep()
    return done


def _keep() -> None:
    gc.collect()
    gc.freeze()


def _nothing(_: None) -> None:
    """Be the first test of Hypothesis."""
