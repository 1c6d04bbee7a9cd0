"""The package as a whole: what importing costs, what is public, and that it is typed."""

from __future__ import annotations

import importlib.metadata
import inspect
import json
import os
import pathlib
import subprocess
import sys

import columnstone as cst
import pytest
from conftest import public_modules

HEAVY = ["numpy", "pyarrow", "torch", "tensorflow", "pandas", "polars", "duckdb", "typing", "re"]


def modules_after(code: str) -> set[str]:
    # -S: without the site module, whose .pth files may import what they like
    path = str(pathlib.Path(cst.__file__).parents[1])
    script = f"import sys; sys.path.insert(0, {path!r}); {code}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-S", "-c", script], capture_output=True, check=True)
    return set(done.stdout.decode().split())


def test_import_loads_nothing_heavy() -> None:
    loaded = modules_after("import columnstone")
    assert not loaded & set(HEAVY)
    assert not any(name.startswith("columnstone.") for name in loaded)


# Of the standard library, what took most of the time of the first use; dataclasses import inspect.
SLOW = ["ast", "asyncio", "csv", "ctypes", "dataclasses", "email", "glob", "hashlib", "inspect"]
SLOW += ["importlib.metadata", "ipaddress", "json", "logging", "multiprocessing", "pickle"]
SLOW += ["random", "shutil", "socket", "ssl", "struct", "subprocess", "tempfile", "urllib"]


@pytest.mark.parametrize(
    "use", ["s", "[t for t in s.tensors()]", "[b for b in s]", "s[0]", "s.num_rows", "s.files"]
)
def test_reading_a_local_file_loads_only_what_it_needs(file: pathlib.Path, use: str) -> None:
    loaded = modules_after(f"import columnstone as c; s = c.open({str(file)!r}); {use}")
    assert not loaded & set(SLOW)
    assert {name for name in loaded if name.startswith("columnstone._io.")} == {
        "columnstone._io.urls"
    }


def test_text_and_schemas_load_only_what_they_need(tmp_path: pathlib.Path) -> None:
    text, schema = tmp_path / "a.csv", tmp_path / "a.pbtxt"
    text.write_text("x,y\n1,a\n")
    schema.write_text('feature { name: "x" type: INT }')
    code = (
        f"import columnstone as c; c.open({str(text)!r}, schema={str(schema)!r}).num_rows; "
        f"c.open([{str(text)!r}], batch_size=3, columns=['y'], delimiter=',').arrow_schema"
    )
    assert not modules_after(code) & set(SLOW)


def test_use_loads_no_numpy_or_pyarrow(file: pathlib.Path) -> None:
    code = f"import columnstone as c; [t for t in c.open({str(file)!r}).tensors()]"
    loaded = modules_after(code)
    assert "columnstone._core" in loaded
    assert not loaded & {"numpy", "pyarrow", "torch", "tensorflow"}


def test_everything_public_is_there_and_documented() -> None:
    for module in public_modules():
        for name in module.__all__:
            value = getattr(module, name)
            if name != "__version__":
                assert inspect.getdoc(value), name
    assert set(cst.__all__) <= set(dir(cst))


@pytest.mark.parametrize(
    "cls",
    [
        cst.RecordBatch,
        cst.arrow.Array,
        cst.tensor.Tensor,
        cst.arrow.ArrowSchema,
        cst.Source,
        cst.Schema,
    ],
)
def test_members_are_documented(cls: type) -> None:
    for name, member in vars(cls).items():
        if not name.startswith("_") and (callable(member) or inspect.isdatadescriptor(member)):
            assert inspect.getdoc(member), name


def test_the_package_has_the_licenses_of_what_is_inside() -> None:
    files = importlib.metadata.files("columnstone")
    texts = {f.name: f.read_text() for f in files or [] if f.parent.name == "licenses"}
    assert texts.keys() == {"LICENSE", "THIRD_PARTY_NOTICES"}
    for owner in ("The Apache Software Foundation", "Mikkel F. Jørgensen", "YaoYuan"):
        assert owner in texts["THIRD_PARTY_NOTICES"]


def test_a_program_is_linked_as_with_the_installed_library(tmp_path: pathlib.Path) -> None:
    folder = pathlib.Path(cst.__file__).parent
    source = tmp_path / "program.c"
    source.write_text(
        "#include <columnstone/status.h>\n#include <stdio.h>\n"
        "int main(void) { return puts(cst_version()) < 0; }\n"
    )
    made = tmp_path / "program"
    flags = [f"-I{folder / 'include'}", f"-L{folder / 'lib'}", "-lcolumnstone"]
    subprocess.run(["cc", source, *flags, "-o", made], check=True)
    needed = subprocess.run(["readelf", "-d", made], capture_output=True, text=True, check=True)
    assert "[libcolumnstone.so.0]" in needed.stdout  # the SONAME, as tests/install/run has it
    environment = {**os.environ, "LD_LIBRARY_PATH": str(folder / "lib")}
    said = subprocess.run([made], capture_output=True, text=True, check=True, env=environment)
    assert said.stdout.strip() == cst.__version__


def test_the_wheel_is_hardened() -> None:
    folder = pathlib.Path(cst.__file__).parent
    files = [*folder.glob("*.so"), *(folder / "lib").glob("*.so.*"), folder / "bin" / "columnstone"]
    assert len(files) == 3
    top = pathlib.Path(__file__).parents[2]
    built = top / "build/wheel/meson-info/intro-buildoptions.json"
    options = (
        {o["name"]: o["value"] for o in json.loads(built.read_text())} if built.exists() else {}
    )
    quick = ["--unoptimized"] if options.get("optimization") == "0" else []  # a developer's own
    command = [sys.executable, top / "tools/check_hardening", *quick, *files]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_unknown_attribute() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        cst.nonsense  # noqa: B018


def test_a_missing_system_library_names_its_package() -> None:
    script = """
import importlib.abc, sys
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "columnstone._core":
            raise ImportError("libisal.so.2: cannot open shared object file: No such file")
sys.meta_path.insert(0, Finder())
import columnstone
columnstone.open
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: libisal.so.2: ")
    assert "apt install libisal2" in last


def test_typed() -> None:
    folder = pathlib.Path(cst.__file__).parent
    assert (folder / "py.typed").exists()
    assert (folder / "_core.pyi").exists()


@pytest.mark.parametrize(
    "cls", [cst.RecordBatch, cst.arrow.Array, cst.tensor.Tensor, cst.arrow.ArrowSchema]
)
def test_values_are_final_and_made_by_the_library(cls: type) -> None:
    with pytest.raises(TypeError):
        cls()
    with pytest.raises(TypeError):
        type("Sub", (cls,), {})
