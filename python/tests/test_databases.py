"""Databases through ADBC: a real PostgreSQL, SQLite and DuckDB."""

from __future__ import annotations

import datetime
import gc
import glob
import multiprocessing
import os
import pathlib
import pickle
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import adbc_driver_postgresql.dbapi
import adbc_driver_sqlite
import adbc_driver_sqlite.dbapi
import columnstone as cst
import pyarrow as pa
import pytest

PASSWORD = "a secret/word"
QUOTED = "a%20secret%2Fword"


def postgres_programs() -> str:
    """The folder of initdb and postgres, which Debian keeps off the PATH."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    program = found[-1] if found else shutil.which("initdb")
    if program is None:
        if shutil.which("apt-get") is None:
            pytest.skip("there is no PostgreSQL on this system")
        pytest.fail("PostgreSQL is missing: ./dev test python installs it (apt: postgresql)")
    return os.path.dirname(os.path.realpath(program))


def other_user() -> dict[str, Any]:
    """PostgreSQL refuses to run as root."""
    if os.getuid() != 0:
        return {}
    return {"user": "postgres", "group": "postgres", "extra_groups": []}


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    """The URI of a server of our own, with some tables."""
    programs = postgres_programs()
    # Where another user, whom the server runs as, can go.
    base = "/tmp" if other_user() else None
    folder = pathlib.Path(tempfile.mkdtemp(prefix="columnstone-postgres-", dir=base))
    folder.chmod(0o755)
    data = folder / "data"
    data.mkdir(mode=0o700)
    as_user = {"cwd": "/", **other_user()}
    if os.getuid() == 0:
        shutil.chown(data, "postgres", "postgres")
    initdb = [f"{programs}/initdb", "-D", str(data), "-U", "tester", "--auth=trust", "-N"]
    done = subprocess.run(
        [*initdb, "-E", "UTF8", "--locale=C"], capture_output=True, text=True, **as_user
    )
    assert done.returncode == 0, done.stderr
    port = free_port()
    listen = ["-h", "127.0.0.1", "-p", str(port), "-k", "", "-F"]
    with open(folder / "log", "w") as log:
        server = subprocess.Popen(
            [f"{programs}/postgres", "-D", str(data), *listen], stderr=log, **as_user
        )
    uri = f"postgresql://tester:{QUOTED}@127.0.0.1:{port}/postgres"
    try:
        fill(connected(uri, server, folder / "log"))
        yield uri
    finally:
        server.terminate()
        server.wait(60)
        shutil.rmtree(folder)


def connected(uri: str, server: subprocess.Popen[bytes], log: pathlib.Path) -> Any:
    while True:
        try:
            return adbc_driver_postgresql.dbapi.connect(uri)
        except Exception:
            assert server.poll() is None, log.read_text()
            time.sleep(0.05)


def fill(connection: Any) -> None:
    with connection, connection.cursor() as cursor:
        cursor.execute("create type item as (name text, price float8, tags text[])")
        cursor.execute("create type basket as (first item, rest item[])")
        cursor.execute("create table numbers as select generate_series(0, 9999) as i")
        cursor.execute(
            """
            create table types as
            select i::smallint as int2, (i - 1)::int as int4, 9223372036854775807 - i as int8,
              (i / 2.0)::real as float4, i / 3.0::float8 as float8, 'text ' || i as text,
              decode('00ff', 'hex') as bytea, i % 2 = 0 as bool, null::int as none,
              timestamp '2020-01-02 03:04:05.678901' as ts,
              timestamptz '2020-01-02 03:04:05+02' as tz, date '2020-02-29' as day,
              time '01:02:03' as clock, 12.340::numeric(10, 3) as numeric,
              array[i, null, 3] as ints,
              array['a', 'b' || i] as texts, '{}'::float8[] as empty,
              jsonb_build_object('a', array[array[1, 2], array[i, 4]]) as json
            from generate_series(0, 1) i
            """
        )
        connection.commit()


def test_postgres_types(postgres: str) -> None:
    source = cst.open(postgres, query="select * from types order by int2")
    table = pa.table(source)
    zone = datetime.UTC
    expected = {
        "int2": [0, 1],
        "int4": [-1, 0],
        "int8": [2**63 - 1, 2**63 - 2],
        "float4": [0.0, 0.5],
        "float8": [0.0, 1 / 3],
        "text": ["text 0", "text 1"],
        "bytea": [b"\x00\xff"] * 2,
        "bool": [True, False],
        "none": [None, None],
        "ts": [datetime.datetime(2020, 1, 2, 3, 4, 5, 678901)] * 2,
        "tz": [datetime.datetime(2020, 1, 2, 1, 4, 5, tzinfo=zone)] * 2,
        "day": [datetime.date(2020, 2, 29)] * 2,
        "clock": [datetime.time(1, 2, 3)] * 2,
        "numeric": ["12.340"] * 2,
        "ints": [[0, None, 3], [1, None, 3]],
        "texts": [["a", "b0"], ["a", "b1"]],
        "empty": [[], []],
        "json": ['{"a": [[1, 2], [0, 4]]}', '{"a": [[1, 2], [1, 4]]}'],
    }
    assert table.to_pydict() == expected
    assert table.schema.field("int2").type == pa.int16()
    assert table.schema.field("ints").type == pa.list_(pa.int32())


COMPOSITES = """
    select i as id, row('n' || i, i / 2.0, array['x', null])::item as best,
      row(row('f', null, '{}')::item, array(select row('r' || k, k, null)::item
        from generate_series(1, i) k))::basket as basket
    from generate_series(0, 2) i order by i
"""


def test_postgres_composites_are_structs(postgres: str) -> None:
    st = next(cst.open(postgres, query=COMPOSITES).structured())
    assert st.field_names() == ("id", "best", "basket")
    assert st["best"].to_py()[1] == {"name": "n1", "price": 0.5, "tags": ["x", None]}
    assert st["basket", "first", "tags"].to_py() == [[]] * 3
    assert st["basket", "rest"].shape == (3, None)
    assert st["basket", "rest", "name"].to_py() == [[], ["r1"], ["r1", "r2"]]
    assert st["basket", "rest", "tags"].to_py() == [[], [None], [None, None]]
    nulls = "select null::item as c, null::item[] as l union all select null, '{}'"
    st = next(cst.open(postgres, query=nulls).structured())
    assert st.to_py() == [{"c": None, "l": None}, {"c": None, "l": []}]
    assert st["c", "price"].to_py() == [None, None]


def test_postgres_types_in_arrays(postgres: str) -> None:
    query = """
      select array[timestamp '2020-01-01', null] as ts, array[true, false] as bool,
        array['a'::bytea] as bytes, array[1.5::numeric] as numeric, array[1.5::real] as real,
        array[date '2020-01-01'] as day, array['a'::varchar] as text, null::int[] as none
    """
    (row,) = pa.table(cst.open(postgres, query=query)).to_pylist()
    assert row == {
        "ts": [datetime.datetime(2020, 1, 1), None],
        "bool": [True, False],
        "bytes": [b"a"],
        "numeric": ["1.5"],
        "real": [1.5],
        "day": [datetime.date(2020, 1, 1)],
        "text": ["a"],
        "none": None,
    }


def test_what_the_postgres_driver_garbles_is_refused(postgres: str) -> None:
    """adbc-driver-postgresql 1.13 marks the wrong composites as null when some are: either the rows
    are right, or the pass raises."""
    for query, expected in (
        ("select * from (values (null), (row('a', 1, null)::item)) v(c)", [None, "a"]),
        (
            "select unnest(array[row('a', 1, null)::item, null, row('b', 2, null)::item]) as c",
            ["a", None, "b"],
        ),
    ):
        try:
            st = next(cst.open(postgres, query=f"select w.c from ({query}) w").structured())
        except (cst.errors.CorruptError, cst.errors.FileError):
            continue
        assert st["c", "name"].to_py() == expected


def test_passes_batches_columns(postgres: str) -> None:
    query = "select i, i * 2 as twice from numbers order by i"
    source = cst.open(postgres, query=query, batch_size=3001, columns=["twice"])
    for _ in range(2):
        batches = list(source)
        assert [b.num_rows for b in batches] == [3001, 3001, 3001, 997]
        assert batches[0].column_names == ["twice"]
    assert source.num_rows == 10000
    assert PASSWORD not in repr(source) and "secret" not in repr(source)
    assert next(iter(source))["twice"].to_pylist()[:3] == [0, 2, 4]  # and stops early
    with pytest.raises(cst.errors.NotFoundError, match="did you mean 'twice'"):
        cst.open(postgres, query=query, columns=["twce"])


def test_no_rows(postgres: str) -> None:
    source = cst.open(postgres, query="select i from numbers where false")
    assert list(source) == []
    assert source.column_names == ["i"]


def test_new_rows_appear(postgres: str) -> None:
    connection = adbc_driver_postgresql.dbapi.connect(postgres)
    with connection, connection.cursor() as cursor:
        cursor.execute("create table growing (a int)")
        connection.commit()
        source = cst.open(postgres, query="select * from growing")
        assert pa.table(source).num_rows == 0
        cursor.execute("insert into growing values (1), (2)")
        connection.commit()
        assert pa.table(source).num_rows == 2


def rows_of(source: cst.Source) -> int:
    return source.num_rows


def test_pickles(postgres: str) -> None:
    source = cst.open(postgres, query="select i from numbers", columns=["i"])
    assert pickle.loads(pickle.dumps(source)).num_rows == 10000
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(rows_of, (source,)) == 10000


def check_failure(error: cst.errors.FileError) -> None:
    """No form of the password is seen, not even in a traceback."""
    import traceback

    text = "".join(traceback.format_exception(error)) + repr(error) + str(error.file)
    assert "secret" not in text.replace(__file__, "")
    assert str(error.file).startswith("postgresql://tester@127.0.0.1")


def test_failures(postgres: str) -> None:
    for query, what in (
        ("select nothing from numbers", "nothing"),
        ("selec", "selec"),
        ("select 1 / (i - 9000) from numbers", "division by zero"),
    ):
        with pytest.raises(cst.errors.FileError, match=what) as caught:
            list(cst.open(postgres, query=query))
        check_failure(caught.value)


def test_no_server() -> None:
    for uri in (
        f"postgresql://tester:{QUOTED}@127.0.0.1:{free_port()}/postgres",
        f"postgresql://tester:{QUOTED}@127.0.0.1:port/postgres",
        f"postgresql://tester@127.0.0.1:{free_port()}/postgres?password={QUOTED}",
        f"postgresql://tester@127.0.0.1:{free_port()}/postgres?passwordx={QUOTED}",
    ):
        with pytest.raises(cst.errors.FileError) as caught:
            list(cst.open(uri, query="select 1"))
        check_failure(caught.value)


@pytest.fixture
def sqlite(tmp_path: pathlib.Path) -> pathlib.Path:
    import sqlite3

    path = tmp_path / "data.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table t (i integer, r real, s text, b blob)")
        connection.executemany(
            "insert into t values (?, ?, ?, ?)",
            [(2**63 - 1, 0.5, "ü", b"\x00"), (None, None, None, None), (-1, 1e300, "", b"")],
        )
    connection.close()
    return path


ROWS = {
    "i": [2**63 - 1, None, -1],
    "r": [0.5, None, 1e300],
    "s": ["ü", None, ""],
    "b": [b"\x00", None, b""],
}


def test_sqlite(sqlite: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = cst.open(f"sqlite://{sqlite}", query="select * from t")
    assert pa.table(source).to_pydict() == ROWS
    assert pa.table(source).to_pydict() == ROWS
    monkeypatch.chdir(sqlite.parent)
    source = cst.open("sqlite://data.db", query="select i from t", batch_size=2)
    assert [b.num_rows for b in source] == [2, 1]
    with pytest.raises(cst.errors.NotFoundError, match="no such file"):
        cst.open("sqlite://none.db", query="select 1")
    assert not pathlib.Path("none.db").exists()
    with pytest.raises(cst.errors.FileError, match="no such table"):
        list(cst.open("sqlite://data.db", query="select * from u"))
    schema = cst.infer_schema("sqlite://data.db", query="select i, s from t")
    assert [feature.name for feature in schema.features] == ["i", "s"]


def test_connections_are_closed(sqlite: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also that which was asked for the columns only."""
    dbapi = adbc_driver_sqlite.dbapi

    made = []
    connect = dbapi.connect

    def counted(*args: object, **kwargs: object) -> object:
        made.append(connect(*args, **kwargs))
        return made[-1]

    monkeypatch.setattr(dbapi, "connect", counted)
    source = cst.open(f"sqlite://{sqlite}", query="select * from t")
    assert source.arrow_schema.names == list(ROWS)
    list(source)
    next(iter(source))
    source.close()
    del source
    gc.collect()
    assert len(made) >= 2
    for connection in made:
        with pytest.raises(connection.ProgrammingError, match="INVALID_STATE"):
            connection.cursor()


def test_duckdb(tmp_path: pathlib.Path) -> None:
    import duckdb

    path = tmp_path / "data.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "create table t as select range a, [a, null] b, {'c': [[a]]} d from range(3)"
        )
    source = cst.open(f"duckdb://{path}", query="select * from t order by a")
    assert pa.table(source).to_pydict() == {
        "a": [0, 1, 2],
        "b": [[0, None], [1, None], [2, None]],
        "d": [{"c": [[a]]} for a in range(3)],
    }
    assert source.num_rows == 3


def test_duckdb_nested_types() -> None:
    import duckdb

    query = """
      select [{'x': 1, 'tags': ['a']}, null, {'x': null, 'tags': []}] as structs,
        map(['k', 'l'], [[1], [2, 3]]) as map, [1, 2, 3]::int[3] as three,
        [[[1], null], null]::int[][][] as deep, 'b'::enum('a', 'b') as choice
      union all select null, map([], []), null, [], null
    """
    with duckdb.connect() as connection:
        for made in (
            next(cst.open(connection.sql(query)).structured()),
            next(cst.open("duckdb://:memory:", query=query).structured()),
        ):
            assert made["structs"].to_py() == [
                [{"x": 1, "tags": ["a"]}, None, {"x": None, "tags": []}],
                None,
            ]
            assert made["structs", "tags"].to_py() == [[["a"], None, []], None]
            assert made["three"].to_py() == [[1, 2, 3], None]
            assert made["deep"].to_py() == [[[[1], None], None], []]
            assert made["choice"].to_py() == ["b", None]
            assert made["map"].rank == 2
            assert made["map", "key"].to_py() == [["k", "l"], []]
            assert made["map", "value"].to_py() == [[[1], [2, 3]], []]
        with pytest.raises(cst.errors.UnsupportedError, match="sparse_union"):
            next(cst.open(connection.sql("select union_value(n := 1) as u")).structured())


def test_driver_by_name(sqlite: pathlib.Path) -> None:
    source = cst.open(
        f"file:{sqlite}", query="select * from t", driver=adbc_driver_sqlite._driver_path()
    )
    assert pa.table(source).to_pydict() == ROWS
    assert pickle.loads(pickle.dumps(source)).num_rows == 3
    with pytest.raises(cst.errors.UnsupportedError, match="'spanner' is not installed"):
        cst.open("spanner://project", query="select 1", driver="spanner")
    with pytest.raises(cst.errors.FileError, match="no such table"):
        cst.open(
            f"file:{sqlite}", query="select * from u", driver=adbc_driver_sqlite._driver_path()
        )


def test_arguments(sqlite: pathlib.Path) -> None:
    uri = f"sqlite://{sqlite}"
    with pytest.raises(cst.errors.ArgumentError, match="query"):
        cst.open(uri)
    with pytest.raises(cst.errors.ArgumentError, match="scheme 'oracle'"):
        cst.open("oracle://x", query="select 1")
    with pytest.raises(cst.errors.ArgumentError):
        cst.open(sqlite, database_options={"a": "b"})
    wrong: Any = ["sqlite://a", "sqlite://b"]
    with pytest.raises(TypeError):
        cst.open(wrong, query="select 1")
    wrong = 1
    with pytest.raises(TypeError):
        cst.open(uri, query=wrong)
    with pytest.raises(cst.errors.ArgumentError, match="does not take database_options"):
        cst.open(uri, query="select 1", database_options={"no.such.option": "1"})
    with pytest.raises(cst.errors.ArgumentError, match="does not take database_options"):
        cst.open("duckdb://", query="select 1", database_options={"no.such.option": "1"})


@pytest.mark.parametrize(
    ("uri", "extra"),
    [
        ("postgresql://h/d", "postgresql"),
        ("sqlite://:memory:", "sqlite"),
        ("duckdb://:memory:", "duckdb"),
        ("snowflake://u:p@a/d", "snowflake"),
    ],
)
def test_missing_driver(monkeypatch: pytest.MonkeyPatch, uri: str, extra: str) -> None:
    for kind in ("postgresql", "sqlite", "duckdb", "snowflake"):
        monkeypatch.setitem(sys.modules, f"adbc_driver_{kind}", None)
        monkeypatch.setitem(sys.modules, f"adbc_driver_{kind}.dbapi", None)
    with pytest.raises(cst.errors.UnsupportedError, match=rf"'columnstone\[{extra}\]'"):
        list(cst.open(uri, query="select 1"))
    monkeypatch.setitem(sys.modules, "adbc_driver_manager.dbapi", None)
    with pytest.raises(cst.errors.UnsupportedError, match=r"'columnstone\[databases\]'"):
        list(cst.open("x://y", query="select 1", driver="spanner"))


def test_written_on(postgres: str, tmp_path: pathlib.Path) -> None:
    """A query's result goes wherever batches go."""
    source = cst.open(postgres, query="select i, array[i, i + 1] as pair from numbers order by i")
    path = tmp_path / "numbers.tfrecord"
    assert cst.write(source, path) == 10000
    read = pa.table(cst.open(path))
    assert read["pair"].to_pylist()[:2] == [[0, 1], [1, 2]]
