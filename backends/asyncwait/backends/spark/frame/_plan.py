"""The work of the driver: the columns, and the operator in the plan of Spark."""

import io
import pickle
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from importlib.metadata import packages_distributions
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any
from zipfile import BadZipFile, ZipFile

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace
from pyspark import SparkFiles
from pyspark.cloudpickle import cloudpickle
from pyspark.sql import DataFrame
from pyspark.sql import types as sql
from pyspark.sql.functions import col, lit

from asyncwait.backends.spark._session import master_of, require_workers
from asyncwait.backends.spark.frame._columns import (
    ERROR,
    Fold,
    all_types,
    arrow_schema,
    folding,
    require_different,
    require_keys,
    require_values,
    settings_of,
)
from asyncwait.backends.spark.frame._rows import Shape
from asyncwait.backends.spark.frame._task import Enrichment
from asyncwait.backends.spark.frame._twice import Evaluations, caller
from asyncwait.backends.spark.frame._work import Options
from asyncwait.spec import InvalidConfig
from asyncwait.spec.texts import one_line, shown


class FramePlan:
    """The plan of an operator: its columns and its work.

    Args:
        columns: of the argument, as the user names them; so `keep` and `key`.

    Raises:
        InvalidConfig: a column does not exist, or an output column exists already; or the function
            can't travel to the workers.
    """

    def __init__(
        self,
        df: Any,
        fn: Any,
        results: sql.StructType,
        options: Options,
        *,
        columns: Any,
        keep: Any,
        key: Any,
    ) -> None:
        require_frame(df)
        require_workers(df.sparkSession)
        self._df, self.fn, self._results = df, fn, results
        names: list[str] = df.columns
        self.fold = fold = folding(df.sparkSession)
        require_different(results.fieldNames(), "schema", fold)
        one = isinstance(columns, str)
        columns = [columns] if one else columns
        given = names_of("columns", columns, names, fold=fold)
        spelled = given if columns is None else tuple(columns)
        new = [*map(fold, results.fieldNames())]
        old = [name for name in names if fold(name) not in new]
        self._kept = old if keep is None else keep
        carried = names_of("keep", self._kept, names, fold=fold)
        require_different([*self._kept, *results.fieldNames()], "keep", fold)
        key = [key] if isinstance(key, str) else key
        keys = () if key is None else names_of("key", key, names, fold=fold)
        schema, apart = arrow_schema(results), None if spelled == given else spelled
        only = given[0] if one else given
        self._shape = Shape(only, carried, schema, keys, spelled=apart, fold=fold)
        if options.mode == "key-ordered" and not keys:
            raise InvalidConfig.of("key", None, "a column: rows of equal keys wait for each other")
        self.output = self._columns_out(options.error_column)
        """The output columns."""
        zone = df.sparkSession.conf.get("spark.sql.session.timeZone") or "UTC"
        fields = self._fields(given, spelled)
        require_values(fields)
        form = "value" if one else "Row"
        known = settings_of(fields, results, form, many=options.many, zone=zone)
        if (journal := options.journal) is not None:
            settings = (*journal.settings, *known)
            options = replace(options, journal=replace(journal, settings=settings))
        names_fn, identity = f"fn {shown(fn)}, or one of its handlers,", b""
        if (cache := options.cache) is not None:
            if cache.key is None:
                require_keys(fields)
            depends = (fn, known, zone, replace(options, endpoint=None))
            identity = identity_of(depends, names_fn)
        odd = odd_names(self._travels())
        self.work = Enrichment(fn, self._shape, zone, options, odd, identity)
        """The work of each task."""
        pickled(self.work, names_fn)
        warn_of_missing(df.sparkSession, self.work)

    def frame(self) -> DataFrame:
        work = self.work
        if work.options.journal is None and work.options.cache is None:
            session = self._df.sparkSession
            work = replace(work, evaluations=Evaluations.of(session, self.name))
        return mapped(self.input(), work, self.name, self.output)

    def input(self) -> DataFrame:
        df, travels = self._df, self._travels()
        return df if list(travels) == df.columns else df.select([col(quoted(n)) for n in travels])

    @property
    def name(self) -> str:
        """The name of the operator in the plan of Spark and on its pages."""
        return getattr(self.fn, "__name__", type(self.fn).__name__)

    def _travels(self) -> tuple[str, ...]:
        shape = self._shape
        given = {shape.given} if isinstance(shape.given, str) else {*shape.given}
        used = given | {*shape.carried, *shape.key}
        return tuple(name for name in self._df.columns if name in used)

    def _fields(self, names: Sequence[str], spelled: Sequence[str]) -> list[sql.StructField]:
        fields = {field.name: field for field in self._df.schema.fields}
        named = zip(spelled, (fields[name] for name in names), strict=True)
        return [sql.StructField(name, each.dataType, each.nullable) for name, each in named]

    def _columns_out(self, error_column: str | None) -> sql.StructType:
        carried = self._fields(self._shape.carried, self._kept)
        results = self._results.fields
        if error_column is None:
            return sql.StructType([*carried, *results])
        all_names = [field.name for field in (*carried, *results)]
        require_different([*all_names, error_column], "error_column", self.fold)
        nullable = [sql.StructField(each.name, each.dataType) for each in results]
        return sql.StructType([*carried, *nullable, sql.StructField(error_column, ERROR)])


def require_frame(df: Any) -> None:
    if type(df).__module__.startswith("pandas."):
        way = f"got a pandas {type(df).__name__}; give spark.createDataFrame(df)"
        raise InvalidConfig(f"df must be a DataFrame of Spark, {way}")
    if not isinstance(df, DataFrame):
        raise InvalidConfig.of("df", df, "a DataFrame of Spark")


def names_of(
    what: str, given: Any, names: Sequence[str], where: str = "df", *, fold: Fold
) -> tuple[str, ...]:
    """Return columns by their names in the DataFrame, or another owner of columns.

    Raises:
        InvalidConfig: the owner has no such column, or several; `where` describes the owner.
    """
    given = names if given is None else given
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InvalidConfig.of(what, given, "names of columns, in a list")
    known: dict[str, list[str]] = {}
    for name in names:
        known.setdefault(fold(name), []).append(name)
    found = []
    for name in given:
        if not isinstance(name, str) or (same := known.get(fold(name))) is None:
            raise InvalidConfig.of(what, name, f"a column of {where}, which has {', '.join(names)}")
        if len(same) > 1:
            raise InvalidConfig(f"{where} has two columns named {name!r}; rename one of them")
        found += same
    return tuple(found)


def odd_names(names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the names if `mapInArrow` would treat one of them as a path; else None."""
    return names if any("." in name or "`" in name for name in names) else None


def quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def mapped(df: DataFrame, work: Any, name: str, columns: sql.StructType) -> DataFrame:
    """Return the result of `work`, which has a `run` and maybe `names`, on the partitions of `df`.

    Args:
        df: its columns are the input of `work`, in that order.
        work: travels to the workers.
        name: shown in the plan of Spark and on its pages.
        columns: of the result.
    """
    carried: Any = AsPickled(pickled(work, name))

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return carried.run(batches)  # type: ignore[no-any-return]

    run.__name__ = run.__qualname__ = name
    if work.names is not None:
        df = df.toDF(*(f"_{number}" for number in range(len(work.names))))
    if not df.columns:  # Batches without columns lose their rows.
        df = df.select(lit(0))
    if not any(map(_is_odd, df.schema.fields)):
        return df.mapInArrow(run, columns)
    return _cast(_cast(df, _as_text(df.schema)).mapInArrow(run, _as_text(columns)), columns)


def _cast(df: DataFrame, schema: sql.StructType) -> DataFrame:
    """Cast the odd columns alone: Spark casts no TIME."""
    columns = []
    for before, after in zip(df.schema.fields, schema.fields, strict=True):
        column = col(quoted(after.name))
        if _is_odd(before) or _is_odd(after):
            column = column.cast(_loose(after.dataType)).alias(after.name)
        columns.append(column)
    return df.select(columns)


def _as_text(schema: sql.StructType) -> sql.StructType:
    text = sql.StringType()
    odd = {f.name: sql.StructField(f.name, _loose(f.dataType, text)) for f in schema if _is_odd(f)}
    return sql.StructType([odd.get(field.name, field) for field in schema.fields])


def _is_odd(field: sql.StructField) -> bool:
    return any(isinstance(kind, _ODD) for kind in all_types(field.dataType))


_ODD = (sql.YearMonthIntervalType, sql.CalendarIntervalType, sql.NullType)
"""Types for which Arrow has no Python values, so that text travels; or only nulls."""


def _loose(kind: Any, text: sql.DataType | None = None) -> Any:
    """Return a type with nulls everywhere, as a cast may bring, and with text in odd places."""
    match kind:
        case sql.StructType():
            fields = [sql.StructField(f.name, _loose(f.dataType, text)) for f in kind.fields]
            return sql.StructType(fields)
        case sql.ArrayType():
            return sql.ArrayType(_loose(kind.elementType, text))
        case sql.MapType():
            return sql.MapType(_loose(kind.keyType, text), _loose(kind.valueType, text))
    return text if text is not None and isinstance(kind, _ODD[:2]) else kind


class AsPickled(Struct):
    """An object frozen at pickling time: later changes do not travel.

    A session of Connect would otherwise pickle it anew for each action, with its changes.
    """

    pickled: bytes

    def __reduce__(self) -> tuple[Any, ...]:
        return pickle.loads, (self.pickled,)


def pickled(work: Any, what: str) -> bytes:
    """Return the pickle of an object for the workers; refuse other objects before a job fails.

    Raises:
        InvalidConfig: it can't be pickled; `what` describes it.
    """
    try:
        return cloudpickle.dumps(work)  # type: ignore[no-any-return]
    except Exception as error:
        text = (
            f"{what} can't travel to the workers: {one_line(error)}; "
            "a client belongs into `open()` of an object, which runs there"
        )
        raise InvalidConfig(text) from error


def identity_of(things: Any, what: str) -> bytes:
    """Return a digest of the pickle of an object; see `pickled`.

    The cache of a table or a function is found by this digest: another object has other bytes.
    """
    return blake2b(pickled(things, what), digest_size=16).digest()


def missing_modules(fn: Any) -> set[str]:
    """Return the modules to which `fn` refers, and which belong to no installation."""
    referring = _Referring(io.BytesIO())
    referring.dump(fn)
    return {name for name in referring.names if not _is_installed(name)}


class _Referring(cloudpickle.Pickler):  # type: ignore[misc]
    """A pickler that collects the modules which a worker will import."""

    def __init__(self, file: Any) -> None:
        super().__init__(file)
        self.names: set[str] = set()

    def persistent_id(self, thing: Any) -> None:
        refers = cloudpickle._should_pickle_by_reference  # noqa: SLF001 - cloudpickle's own rule
        if isinstance(thing, ModuleType | FunctionType | type) and refers(thing):
            name = thing.__name__ if isinstance(thing, ModuleType) else thing.__module__
            self.names.add(name.partition(".")[0])


def _is_installed(name: str) -> bool:
    if name in {*sys.stdlib_module_names, "__main__", "asyncwait", "pyspark"}:
        return True
    module = sys.modules[name]
    paths = (getattr(module, "__file__", None), *getattr(module, "__path__", ()))
    parts = {part for path in paths if path for part in Path(path).parts}
    in_place = not parts or parts & {"site-packages", "dist-packages"}
    return bool(in_place) or name in packages_distributions()


def warn_of_missing(session: Any, work: Any) -> None:
    """Warn of modules that `work` needs, unless the workers are on this machine or have them."""
    if (master_of(session) or "").startswith("local"):
        return
    context = getattr(session, "sparkContext", None)
    how = "spark.addArtifacts(path, pyfile=True)"
    missing = missing_modules(work)
    if context is not None:
        missing, how = missing - _added(context), "addPyFile(path)"
    if missing and (context is None or not context.listArchives):
        names = one_line(", ".join(sorted(missing)))
        text = f"workers on other machines may lack modules of fn: {names}; send each by {how}"
        warnings.warn_explicit(text, RuntimeWarning, *caller())


def _added(context: Any) -> set[str]:
    names: set[str] = set()
    for file in (each.rpartition("/")[2] for each in context.listFiles):
        names.add(file.removesuffix(".py"))
        if file.endswith((".zip", ".egg")):
            with suppress(OSError, BadZipFile), ZipFile(SparkFiles.get(file)) as zipped:
                names |= {each.partition("/")[0].removesuffix(".py") for each in zipped.namelist()}
    return names
