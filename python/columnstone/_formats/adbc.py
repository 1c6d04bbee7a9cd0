"""Databases as inputs: the result of a query, read as an Arrow stream with the ADBC driver of the
database."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from .._base.errors import Error, FileError, NotFoundError, UnsupportedError, argument_error
from .._base.optional import need
from .._base.text import name_of_url
from .._io.urls import is_database, scheme_of
from .reader import Reader

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa


class Driver(NamedTuple):
    """The driver of a kind of database."""

    module: str  # has dbapi
    extra: str  # of this package, which installs it
    of_file: bool = False  # the driver takes the path after the scheme; else the whole URI
    has_options: bool = True


_DRIVERS = {
    "postgresql": Driver("adbc_driver_postgresql", "postgresql"),
    "postgres": Driver("adbc_driver_postgresql", "postgresql"),
    "sqlite": Driver("adbc_driver_sqlite", "sqlite", True, has_options=False),
    "duckdb": Driver("adbc_driver_duckdb", "duckdb", True, has_options=False),
    "snowflake": Driver("adbc_driver_snowflake", "snowflake"),
    "bigquery": Driver("adbc_driver_bigquery", "bigquery"),
    "grpc": Driver("adbc_driver_flightsql", "flightsql"),
    "grpc+tls": Driver("adbc_driver_flightsql", "flightsql"),
}


_SECRET = ("password", "token", "secret", "key", "credential")  # in names of parameters


class Query(NamedTuple):
    """A query and its database. It pickles, so that each process opens its own connection."""

    uri: str
    query: str
    driver: str | None
    options: tuple[tuple[str, str], ...]

    def __repr__(self) -> str:
        return f"<query of {name_of_url(self.uri)}>"

    def open(self, columns: list[str] | None, batch_size: int, threads: int) -> Reader:
        """Connects, runs the query, and returns its result as a stream that owns the connection."""
        connection = _connect(self)
        try:
            cursor = connection.cursor()
            cursor.execute(self.query)
            reader = cursor.fetch_record_batch()
        except BaseException as error:
            connection.close()
            raise _failure(self, error) from None
        batches = _batches(self, connection, cursor, reader)
        next(batches)
        return Reader(reader.schema, batches)


def _batches(query: Query, connection: Any, cursor: Any, reader: Any) -> Iterator[pa.RecordBatch]:
    """The rows of the result. The connection is closed with it. The first value is None, because a
    generator that was never started runs no `finally`, and a caller that only needs the columns
    reads no row."""
    try:
        yield None
        yield from reader
    except GeneratorExit:
        raise
    except BaseException as error:
        raise _failure(query, error) from None
    finally:
        reader.close()
        cursor.close()
        connection.close()


def _secrets(query: Query) -> list[str]:
    """The secrets that no error may show."""
    from urllib.parse import parse_qsl, unquote

    address, _, parameters = query.uri.partition("?")
    password = address.partition("://")[2].rpartition("@")[0].partition(":")[2]
    found = [password, unquote(password)]
    for name, value in (*parse_qsl(parameters), *query.options):
        if any(word in name.lower() for word in _SECRET):
            found.append(value)
    return sorted((text for text in found if text), key=len, reverse=True)


def _failure(query: Query, error: BaseException) -> BaseException:
    """The exception of a driver as a FileError that names the database, without its password."""
    if not isinstance(error, Exception) or isinstance(error, MemoryError | Error):
        return error
    text = " ".join(str(error).split())
    for secret in _secrets(query):
        text = text.replace(secret, "***")
    name = name_of_url(query.uri)
    return FileError(f"{name}: {type(error).__name__}: {text[:300]}", file=name)


def _connect(query: Query) -> Any:
    if query.driver is not None:
        return _connect_by_name(query)
    driver = _DRIVERS[str(scheme_of(query.uri))]
    target = _path_of(query.uri) if driver.of_file else query.uri
    who = f"a query of {scheme_of(query.uri)}"
    need("pyarrow", who, driver.extra)
    dbapi = need(f"{driver.module}.dbapi", who, driver.extra)
    options = dict(query.options)
    try:
        return dbapi.connect(target, db_kwargs=options) if options else dbapi.connect(target)
    except Exception as error:
        raise _failure(query, error) from None


def _connect_by_name(query: Query) -> Any:
    """Any other driver, named by its shared library or manifest."""
    who = "a query with driver="
    need("pyarrow", who, "databases")
    dbapi = need("adbc_driver_manager.dbapi", who)
    options = {"uri": query.uri, **dict(query.options)}
    try:
        return dbapi.connect(driver=query.driver, db_kwargs=options)
    except Exception as error:
        if "[Driver Manager] Could not load" not in str(error):
            raise _failure(query, error) from None
        hint = "install that driver, or give the path of its shared library"
        raise UnsupportedError(
            f"the ADBC driver {query.driver!r} is not installed ({hint})", hint=hint
        ) from error


def _path_of(uri: str) -> str:
    return uri.split("://", 1)[1]


def _check_file(uri: str) -> None:
    """Some drivers would create a database if the file does not exist."""
    path = _path_of(uri)
    if path not in ("", ":memory:") and not path.startswith("file:") and not os.path.exists(path):
        hint = "check the path"
        raise NotFoundError(f"{uri}: there is no such file ({hint})", file=path, hint=hint)


def query_of(
    path: object, query: str | None, driver: str | None, options: dict[str, str] | None
) -> Query:
    """The query that the arguments of open describe. Does not connect yet."""
    if not isinstance(path, str):
        raise TypeError(f"the URI of a database must be a str, not {type(path).__name__}")
    if query is None:
        raise argument_error(
            f"{name_of_url(path)} is a database: query is missing", 'query="select ..."'
        )
    if not isinstance(query, str):
        raise TypeError(f"query must be a str, not {type(query).__name__}")
    if driver is None and not is_database(path):
        known = ", ".join(sorted(_DRIVERS))
        raise argument_error(
            f"unknown database scheme {scheme_of(path)!r}",
            f"one of {known}; or name its ADBC driver: driver=...",
        )
    if driver is None:
        known_driver = _DRIVERS[str(scheme_of(path))]
        if options and not known_driver.has_options:
            raise argument_error(
                f"{name_of_url(path)}: this driver does not take database_options", "leave it out"
            )
        if known_driver.of_file:
            _check_file(path)
    return Query(path, query, driver, tuple(sorted((options or {}).items())))


def stream_of(query: Query) -> tuple[Any, bytes]:
    """A function that opens the stream of the query, and the name for errors."""
    return functools.partial(Query.open, query), name_of_url(query.uri).encode("utf-8", "replace")
