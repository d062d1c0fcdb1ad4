"""A folder outside the repository, as the author of a backend has one, and commands run in it."""

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from click.testing import CliRunner, Result

from asyncwait.conformance._commands import asyncwait

SOUND = """
from asyncwait.conformance import stream_backend
from asyncwait.reference import open_operator


def backend():
    return stream_backend(open_operator)
"""

CHANGED = """
from contextlib import asynccontextmanager

from msgspec.structs import replace

from asyncwait.conformance import stream_backend
from asyncwait.reference import open_operator as sound


@asynccontextmanager
async def open_operator(config, fn, elements, restore=None):
    {before}
    async with sound(config, fn, elements, restore) as results:
        yield results


def backend():
    return stream_backend(open_operator{more})
"""
"""The sound operator, before which something is done; `more` is declared of it."""

UNORDERED = "if config.capacity == 6: config = replace(config, mode='unordered')"
"""None of the few examples has this capacity; the first of four scenarios of seed 39 does."""

# Blocking trio must not break hypothesis, which loads what installed distributions register.
_ENVIRONMENT = {"NO_COLOR": "1", "HYPOTHESIS_NO_PLUGINS": "1"}


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(asyncwait, [str(argument) for argument in arguments])


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Folder:
    """A folder of its own, in which commands run; modules in it, or in `search`, are importable."""

    path: Path
    search: Path | None = None

    def write(self, name: str, text: str) -> Path:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text), encoding="utf-8")
        return file

    def block(self, *modules: str) -> None:
        self.write(
            "sitecustomize.py",
            f"""
            import sys


            class Missing:
                def find_spec(self, name, path=None, target=None):
                    if name.partition(".")[0] in {modules!r}:
                        raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
                    return None


            sys.meta_path.insert(0, Missing())
            """,
        )

    def asyncwait(
        self, *arguments: str, stdin: str = "", env: Mapping[str, str] | None = None
    ) -> Done:
        command = str(Path(sys.executable).with_name("asyncwait"))
        return self._run(command, *arguments, stdin=stdin, env=env)

    def here(self, *arguments: str) -> Done:
        known, folder = set(sys.modules), str(self.search or self.path)
        sys.path.insert(0, folder)
        try:
            with chdir(self.path):
                done = CliRunner(env=self._environment).invoke(asyncwait, arguments)
        finally:
            sys.path.remove(folder)
            for name in set(sys.modules) - known:
                if folder in str(getattr(sys.modules[name], "__file__", "")):
                    del sys.modules[name]
        return Done(done.exit_code, done.stdout, done.stderr)

    def pytest(self, *arguments: str) -> Done:
        namespace = ("-o", "consider_namespace_packages=true")
        return self._run(sys.executable, "-P", "-m", "pytest", "-q", *namespace, *arguments)

    def python(self, *arguments: str) -> Done:
        return self._run(sys.executable, *arguments)

    @property
    def _environment(self) -> dict[str, str]:
        return {**os.environ, **_ENVIRONMENT, "PYTHONPATH": str(self.search or self.path)}

    def run(self, *command: str) -> Done:
        return self._run(*command)

    def _run(self, *command: str, stdin: str = "", env: Mapping[str, str] | None = None) -> Done:
        done = subprocess.run(
            command,
            input=stdin,
            cwd=self.path,
            env={**self._environment, **(env or {})},
            capture_output=True,
            text=True,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)
