"""What all tests share: where the package under test comes from, and derandomised generation."""

import gc
import signal
from importlib.metadata import version

import hypothesis
import hypothesis.strategies

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


def pytest_report_header() -> str:
    """Say which installation is under test: a wheel in tox, the checkout in a development one."""
    return f"asyncwait {version('asyncwait')} from {asyncwait.spec.__file__}"


def pytest_collection_finish() -> None:
    """Have each collection of garbage pass over the tests themselves, which are many and stay.

    What is frozen refers to nothing that Python could tell; and Hypothesis asks who refers to what
    it registers, with its first test.
    """
    hypothesis.given(hypothesis.strategies.none())(_nothing)()
    gc.collect()
    gc.freeze()


def _nothing(_: None) -> None:
    """Be the first test of Hypothesis."""
