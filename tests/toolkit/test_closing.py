"""Of several errors the first is raised, and it names the others."""

import anyio
import pytest

from asyncwait.toolkit import close_source, join_errors


def test_an_interruption_of_the_program_passes() -> None:
    class Ending:
        async def aclose(self) -> None:
            raise SystemExit

    with pytest.raises(SystemExit):
        anyio.run(close_source, Ending())


def test_the_first_of_several_errors_is_told_of_the_others() -> None:
    first, second, third = LookupError("1"), OSError("2"), OSError("3")

    assert join_errors(None, first, None, second, first, third) is first
    assert first.__notes__ == [
        "Closing the operator raised, too: OSError('2')",
        "Closing the operator raised, too: OSError('3')",
    ]
    assert join_errors(None, None) is None
