"""Looking values up in a table: cached, each key asked for once, many keys in one request."""

from asyncwait.backends.lookup._chunks import LookupResults
from asyncwait.backends.lookup._databases import DbApiTable, SqliteTable
from asyncwait.backends.lookup._lookup import lookup, open_table
from asyncwait.backends.lookup._redis import RedisTable
from asyncwait.backends.lookup._table import (
    FunctionTable,
    LookupStatistics,
    OpenTable,
    Table,
    WholeTable,
)
from asyncwait.backends.lookup._whole import Full
from asyncwait.spec.exports import claim_exports

__all__ = [
    "DbApiTable",
    "Full",
    "FunctionTable",
    "LookupResults",
    "LookupStatistics",
    "OpenTable",
    "RedisTable",
    "SqliteTable",
    "Table",
    "WholeTable",
    "lookup",
    "open_table",
]

claim_exports(__name__)
