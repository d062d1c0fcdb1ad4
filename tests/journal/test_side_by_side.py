"""Threads that share an attempt, and attempts that write while files are merged."""

import threading

from journals import entries, found, prepared

from asyncwait.backends.journal import Journal, compact


def test_many_threads_use_one_attempt(journal: Journal) -> None:
    parts = [entries(*range(begin, begin + 200)) for begin in range(0, 1600, 200)]
    everything = {key: payload for part in parts for key, payload in part.items()}
    wrong: list[object] = []
    barrier = threading.Barrier(len(parts))
    attempt = journal.attempt("part")

    def work(part: dict[bytes, bytes]) -> None:
        barrier.wait()
        for key, payload in part.items():
            attempt.add(key, payload)
            if attempt.find(key) != payload:
                wrong.append(key)

    threads = [threading.Thread(target=work, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    attempt.close()

    assert wrong == []
    assert (attempt.added, attempt.found) == (1600, 1600)
    assert found(journal, everything) == everything


def test_many_attempts_write_while_files_are_merged(path: str) -> None:
    journal = prepared(path, flush_rows=10)
    parts = [entries(*range(begin, begin + 150)) for begin in range(0, 600, 150)]
    everything = {key: payload for part in parts for key, payload in part.items()}
    trouble: list[object] = []
    writing = threading.Barrier(len(parts) + 1)
    left = threading.Semaphore(0)

    def work(part: dict[bytes, bytes]) -> None:
        writing.wait()
        try:
            for at in range(0, 150, 30):
                with journal.attempt("part") as attempt:
                    for key, payload in list(part.items())[at : at + 30]:
                        attempt.add(key, payload)
                    trouble.extend(key for key in list(part)[: at + 30] if not attempt.find(key))
        except BaseException as error:
            trouble.append(error)
        left.release()

    threads = [threading.Thread(target=work, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    writing.wait()
    while not all(left.acquire(blocking=False) for _ in parts):
        compact(path)
        if not any(thread.is_alive() for thread in threads):
            break
    for thread in threads:
        thread.join()

    assert trouble == []
    assert found(journal, everything) == everything
