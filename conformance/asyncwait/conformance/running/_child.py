"""The child process: plays one scenario per line of input, answers with one trace per line."""

import os
import sys
from collections.abc import Sequence
from typing import BinaryIO

import msgspec

from asyncwait.conformance.running._backend import Backend, load_backend
from asyncwait.spec import AsyncWaitError
from asyncwait.spec.scenario import READY, Reply, Request, Scenario


def main(reference: str, folders: Sequence[str] = ()) -> None:
    """Serve requests from standard input until it ends.

    Args:
        reference: names the backend.
        folders: where its modules may be found, besides where this process looks anyway.
    """
    replies = os.fdopen(os.dup(1), "wb")
    # What user code prints must not stand between the replies.
    os.dup2(2, 1)
    sys.path.extend(folder for folder in folders if folder not in sys.path)
    try:
        backend: Backend | str = load_backend(reference)
    except AsyncWaitError as error:
        backend = str(error)
    replies.write(READY)
    replies.flush()
    serve(backend, sys.stdin.buffer, replies)


def serve(backend: Backend | str, requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer each line of `requests`; with that text, if there is only a text for a backend."""
    for line in requests:
        scenario = msgspec.json.decode(line, type=Request).scenario
        reply = Reply(error=backend) if isinstance(backend, str) else _answer(backend, scenario)
        replies.write(_encoded(reply) + b"\n")
        replies.flush()


def _answer(backend: Backend, scenario: Scenario) -> Reply:
    try:
        traces = list(backend.run([scenario]))
    except Exception as error:  # told to the parent, who judges it
        return Reply(error=f"the backend raised {type(error).__name__}: {error}")
    if len(traces) != 1:
        return Reply(error=f"1 scenario was given, {len(traces)} traces came back")
    return Reply(trace=traces[0])


def _encoded(reply: Reply) -> bytes:
    try:
        return msgspec.json.encode(reply)
    except Exception as error:  # the operator gives out what no JSON can hold
        text = f"the trace can't be told: {type(error).__name__}: {error}"
        return msgspec.json.encode(Reply(error=text))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
