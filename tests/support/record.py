"""Writes down what the suite can do, as data; and compares two such records.

    python tests/support/record.py write FOLDER [--only PART,...] [--key TEXT] [--go-on] [--jobs N]
    python tests/support/record.py diff BEFORE AFTER

Made before a change that takes away, and after it: what differs is what the change has cost. Each
part is a file of JSON, made of ids, codes and numbers, so that neither another wording nor a
module in another place shows in it; `recorded.py` beside this makes them.
"""

import argparse
import gc
import json
import logging
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from recorded import MUTANTS, PARTS

Key = tuple[str, ...]

QUICK = [part for part in PARTS if part != "mutants"]
"""What is written if nothing else is said: the rest takes hours."""

TELL_EVERY = 3.0
"""Seconds between two lines of progress."""


def main() -> None:
    """Write a record, or compare two; exit with 1 if they differ."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(required=True, dest="command")
    writing = commands.add_parser("write", help="write the parts of a record into a folder")
    writing.add_argument("folder", type=Path)
    writing.add_argument(
        "--only",
        default=",".join(QUICK),
        metavar="PART,...",
        help=f"of {', '.join(PARTS)}; all but mutants if it is not said",
    )
    writing.add_argument("--key", default="", metavar="TEXT", help="only keys with this in them")
    writing.add_argument("--go-on", action="store_true", help="only keys that are not there yet")
    writing.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    writing.add_argument("--mutants", type=int, default=35, help="of each operator, by each seed")
    comparing = commands.add_parser("diff", help="compare two records")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    options = parser.parse_args()
    if options.command == "diff":
        found = list(differences(options.before, options.after))
        print("\n".join([*found, f"{len(found)} differences"]))
        sys.exit(bool(found))
    parts = options.only.split(",")
    if unknown := set(parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    os.environ[MUTANTS] = str(options.mutants)
    if os.environ.get("PYTHONHASHSEED") != "0":  # An operator may go through a set.
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)  # noqa: S606 - this very command
    for part in parts:
        write(options.folder, part, options.jobs, options.key, goes_on=options.go_on)


def write(folder: Path, part: str, jobs: int, only: str = "", *, goes_on: bool = False) -> None:
    """Write a part of the record; every few seconds what is there so far.

    Args:
        folder: where; it is made if it is not there.
        part: one of `PARTS`.
        jobs: processes that make it.
        only: what the keys have in them that are written; what the file has of others stays.
        goes_on: whether keys that the file has stay as they are, too.

    Raises:
        SystemExit: something broke; it says with which key.
    """
    began = told_at = time.monotonic()
    file = folder / f"{part}.json"
    found = (_read(file) or {}) if only or goes_on else {}
    wanted = {key: tell for key, tell in PARTS[part]().items() if only in key}
    if goes_on:
        wanted = {key: tell for key, tell in wanted.items() if key not in found}
    folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), gc.freeze) as pool:
        told = {pool.submit(_quietly, tell): key for key, tell in wanted.items()}
        for number, future in enumerate(as_completed(told), 1):
            key = told[future]
            if (error := future.exception()) is not None:
                pool.shutdown(cancel_futures=True)
                raise SystemExit(f"{part}: {key}: {type(error).__name__}: {error}") from error
            found[key] = future.result()
            now = time.monotonic()
            if now - told_at > TELL_EVERY or number == len(told):
                told_at = now
                file.write_text(
                    f"{json.dumps(found, indent=1, sort_keys=True)}\n", encoding="utf-8"
                )
                line = f"{part}: {number} of {len(told)} after {now - began:.0f} s: {key}"
                print(line, file=sys.stderr, flush=True)


def _quietly(tell: Callable[[], Any]) -> Any:
    logging.disable(logging.CRITICAL)
    return tell()


def differences(before: Path, after: Path) -> Iterator[str]:
    """Yield what differs between two records: part, key, what it was, and what it is.

    Raises:
        SystemExit: one of the two has no part at all.
    """
    parts = sorted({file.stem for folder in (before, after) for file in folder.glob("*.json")})
    for folder in (before, after):
        if not any(folder.glob("*.json")):
            raise SystemExit(f"{folder}: no record there")
    for part in parts:
        was, now = (_read(folder / f"{part}.json") for folder in (before, after))
        for key, one, other in _different((), was, now):
            yield f"{part}: {': '.join(key) or 'the whole part'}: {_text(one)} -> {_text(other)}"


def _read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None


def _different(key: Key, was: Any, now: Any) -> Iterator[tuple[Key, Any, Any]]:
    if isinstance(was, dict) and isinstance(now, dict):
        for name in sorted({*was, *now}):
            yield from _different((*key, name), was.get(name), now.get(name))
    elif was != now:
        yield key, was, now


def _text(value: Any) -> str:
    if value is None:
        return "nothing"
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= 200 else f"{text[:200]} ... ({len(value)} entries)"


if __name__ == "__main__":
    main()
