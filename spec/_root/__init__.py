"""The executable specification of the asynchronous stream operator, and operators that obey it.

This module holds no names on purpose: the parts are `asyncwait.spec`, `asyncwait.toolkit`,
`asyncwait.reference`, `asyncwait.conformance` and `asyncwait.backends`. The version is read from
the metadata: `importlib.metadata.version("asyncwait")`.
"""
