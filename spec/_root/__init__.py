"""The executable specification of the asynchronous stream operator, and operators that obey it.

This module exports no names on purpose: the parts are `asyncwait.spec`, `asyncwait.toolkit`,
`asyncwait.reference`, `asyncwait.conformance` and `asyncwait.backends`. The metadata hold the
version: `importlib.metadata.version("asyncwait")`.
"""
