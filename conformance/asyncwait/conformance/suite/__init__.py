"""The suite as pytest items."""

if __name__ != "asyncwait.conformance.suite":
    msg = (
        f"the suite was imported as {__name__!r}: run it as "
        "`pytest --pyargs asyncwait.conformance --asyncwait-backend NAME`, not by its path"
    )
    raise ImportError(msg)

__all__: list[str] = []
