"""Spark as a backend of the suite: how scenarios become jobs, and what comes back of them."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from asyncwait.backends.spark import EmbeddedSpark
from asyncwait.backends.spark.conformance import _backend, _jobs, backend
from asyncwait.backends.spark.conformance._backend import SparkBackend
from asyncwait.backends.spark.conformance._failing import as_told, failing
from asyncwait.backends.spark.conformance._jobs import JobResult, play_legs
from asyncwait.backends.spark.conformance._loop_side import GRID
from asyncwait.backends.spark.conformance._real_time import OF_THE_DATA_PATH, short
from asyncwait.backends.spark.conformance._task import LegReport
from asyncwait.conformance._verify import Plan, verify
from asyncwait.conformance.checks import CHECKS
from asyncwait.conformance.examples import EXAMPLES
from asyncwait.conformance.generation import generate
from asyncwait.conformance.harness import LegPlan, next_leg, play_leg
from asyncwait.conformance.judging import History
from asyncwait.conformance.running import Broken, adapted, checked
from asyncwait.backends.pool import open_operator
from asyncwait.spec import Barrier, MissingExtra, Record, Watermark
from asyncwait.spec.scenario import (
    ALL_CAPABILITIES,
    Capability,
    Crash,
    Ending,
    Leg,
    Plan as Planned,
    Scenario,
    SinkStep,
    Step,
    Timed,
    Trace,
)
