"""URLs on the command line, which a program of the package opens."""

from __future__ import annotations

import gzip
import pathlib
from collections.abc import Iterator

import columnstone as cst
import pyarrow as pa
import pytest
from conftest import MakeFile
from program import needs_program, run
from servers import Behaviour, http_server

pytestmark = needs_program


@pytest.fixture
def server() -> Iterator[tuple[str, Behaviour]]:
    with http_server() as found:
        yield found


def test_records(
    make_file: MakeFile, tmp_path: pathlib.Path, server: tuple[str, Behaviour]
) -> None:
    url, behaviour = server
    plain = make_file("x.tfrecord", 5000).read_bytes()
    behaviour.files["x.tfrecord"] = plain
    behaviour.files["x.tfrecord.gz"] = gzip.compress(plain)
    behaviour.files["cut.tfrecord"] = plain[:-3]
    behaviour.files["x.csv"] = b"a,b\n1,x\n2,y\n"
    local = tmp_path / "x.tfrecord"
    assert run("head", f"{url}/x.tfrecord", "-n", "3") == run("head", local, "-n", "3")
    assert "10000" in run("count", f"{url}/x.tfrecord", f"{url}/x.tfrecord.gz")
    assert "no faults" in run("verify", f"{url}/x.tfrecord.gz")
    assert "cut.tfrecord: record 4999" in run("verify", f"{url}/cut.tfrecord", status=1)
    assert run("schema", "infer", f"{url}/x.tfrecord") == run("schema", "infer", local)
    run("convert", f"{url}/x.tfrecord.gz", tmp_path / "y.arrow")
    assert pa.table(cst.open(tmp_path / "y.arrow")).num_rows == 5000
    assert run("head", f"{url}/x.csv", "-n", "1") == '{"a": 1, "b": "x"}\n'


def test_parquet(tmp_path: pathlib.Path, server: tuple[str, Behaviour]) -> None:
    url, behaviour = server
    table = pa.table({"a": range(1000), "b": [f"text {i}" for i in range(1000)]})
    cst.write(table, tmp_path / "t.parquet")
    behaviour.files["t.parquet"] = (tmp_path / "t.parquet").read_bytes()
    run("convert", f"{url}/t.parquet?key=secret", tmp_path / "t.arrow", "-c", "b")
    assert pa.table(cst.open(tmp_path / "t.arrow")).equals(table.select(["b"]))
    assert "1000" in run("count", f"{url}/t.parquet")


def test_failures(make_file: MakeFile, server: tuple[str, Behaviour]) -> None:
    url, behaviour = server
    text = run("head", f"{url}/none.tfrecord?key=secret", status=2)
    assert "none.tfrecord: " in text and "no such file" in text and "secret" not in text
    assert "nothing://a/b.tfrecord" in run("head", "nothing://a/b.tfrecord", status=2)
    behaviour.files["x.tfrecord"] = make_file("x.tfrecord", 5000).read_bytes()
    assert "inputs only" in run("convert", f"{url}/x.tfrecord", f"{url}/y.arrow", status=2)
    behaviour.ends_early = True
    assert "x.tfrecord" in run("count", f"{url}/x.tfrecord", status=2)
    off = {"COLUMNSTONE_PLUGIN_PATH": "none"}
    assert "pip install" in run("head", f"{url}/x.tfrecord", status=2, **off)


def test_patterns(make_file: MakeFile, tmp_path: pathlib.Path) -> None:
    for name in ("b.tfrecord", "a.tfrecord"):
        make_file(name, 10)
    text = run("count", f"local://{tmp_path}/*.tfrecord")
    assert text.index("a.tfrecord") < text.index("b.tfrecord") and "20" in text
    assert "no file matches" in run("count", f"local://{tmp_path}/*.none", status=2)


def test_files(make_file: MakeFile, tmp_path: pathlib.Path) -> None:
    """Without any program."""
    (tmp_path / "a b").mkdir()
    local = make_file("a b/x.tfrecord", 10)
    off = {"COLUMNSTONE_PLUGIN_PATH": "none"}
    for url in (local.as_uri(), local.as_uri().replace("file://", "file://localhost")):
        assert run("head", url, **off) == run("head", local)
    assert "10" in run("count", (tmp_path / "a b").as_uri() + "/*.tfrecord", **off)
    assert "no such file" in run("head", local.as_uri() + "x", status=2, **off)


def test_secrets(server: tuple[str, Behaviour]) -> None:
    url, behaviour = server
    behaviour.files["t.csv"] = b"a\n1\n"
    for chain in ("", "simplecache::"):
        name = f"{chain}{url.replace('//', '//me:S3CRET@')}/%s?sig=S3CRET"
        said = run("head", name % "t.csv") + run("plan", name % "t.csv")
        said += run("info", name % "t.csv") + run("head", name % "none.csv", status=2)
        said += run("head", name % "t.csv", status=2, COLUMNSTONE_PLUGIN_PATH="none")
        said += run("head", name % "*.none", status=2)
        said += run("convert", name % "t.csv", name % "u.csv", status=2)
        assert "S3CRET" not in said
        assert "S3CRET" in run("plan", "--json", name % "t.csv")  # for whoever opens it
