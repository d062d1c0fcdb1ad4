"""The keys of a chunk of rows: each once, as Python has it, and for each row where its key stands.

Nothing here makes an object for each row.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from pyarrow import types

from asyncwait.backends.spark.frame._errors import UnreadableRow
from asyncwait.spec.texts import shown


class Keys(Struct, frozen=True):
    """The keys of the rows of a chunk.

    Args:
        distinct: each of them once; tuples where they are of several columns. The last may be None:
            it stands for all that are null, in a part or in whole.
        times: how many rows have each.
        places: the place of its key in `distinct`, for each row.
    """

    distinct: list[Any]
    times: list[int]
    places: pa.Array


def keys_of(batch: pa.RecordBatch, names: Sequence[str]) -> Keys:
    """Return the keys that some columns are.

    Raises:
        UnreadableRow: one holds a text that is not UTF-8.
    """
    first, *others = names
    distinct: list[Any]
    distinct, places = _encoded(batch, first)
    if others:
        distinct = [(value,) for value in distinct]
    for name in others:
        values, more = _encoded(batch, name)
        codes = pc.add(pc.multiply(places.cast(pa.int64()), len(values)), more)
        pairs = codes.dictionary_encode()
        distinct = [
            (*distinct[code // len(values)], values[code % len(values)])
            for code in pairs.dictionary.to_pylist()
        ]
        places = pairs.indices
    if places.null_count:
        places = pc.fill_null(places, len(distinct))
        distinct = [*distinct, None]
    counts = pc.value_counts(places)
    times = dict(zip(*(each.to_pylist() for each in counts.flatten()), strict=True))
    return Keys(distinct, [times[place] for place in range(len(distinct))], places)


def _encoded(batch: pa.RecordBatch, name: str) -> tuple[list[Any], pa.Array]:
    column = batch.column(name)
    if types.is_timestamp(column.type) and column.type.tz is not None:
        # In a zone where clocks are set back, Python takes two instants an hour apart for equal.
        column = column.cast(pa.timestamp("us", "UTC"))
    encoded = column.dictionary_encode()
    try:
        return encoded.dictionary.to_pylist(), encoded.indices
    except UnicodeDecodeError as error:
        raise UnreadableRow(
            f"column {name}: expected text in UTF-8, got {shown(error)}; use make_valid_utf8"
        ) from None
    except (OverflowError, ValueError) as error:
        raise UnreadableRow(
            f"column {name}: expected dates from year 1 to 9999, got one beyond ({shown(error)})"
        ) from None
