"""Public names: what everyone uses is columnstone.NAME, all others are columnstone.TASK.NAME:
this is what users see in tracebacks, in help() and in pickles, wherever the code lies."""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import pathlib
import pickle
import pydoc
import traceback
from collections.abc import Callable
from typing import Any

import columnstone as cst
import pyarrow as pa
import pytest
from columnstone import _MODULE_OF  # type: ignore[attr-defined]
from conftest import SCHEMA, MakeFile, public_modules, records

TABLE = pa.table({"a": [[1], None, [2, 3]]})
MODULES = public_modules()
NAMES = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in MODULES
    for name in module.__all__
    if name != "__version__"
}
ERRORS = [name for name in NAMES if name.endswith(("Error", "Warning"))]


@pytest.mark.parametrize("name", NAMES)
def test_names(name: str) -> None:
    value = NAMES[name]
    assert f"{value.__module__}.{value.__qualname__}" == name
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(value, protocol)) is value
    if value.__doc__:
        title = pydoc.render_doc(value).splitlines()[0]
        assert title.endswith(f"in module {value.__module__}")


def test_each_name_is_in_one_place() -> None:
    """But for what tensors and structured tensors have both, such as `concat`, and what opens a
    store of lineage."""
    places: dict[str, list[str]] = {}
    for module in MODULES:
        assert len(set(module.__all__)) == len(module.__all__)
        for name in module.__all__:
            places.setdefault(name, []).append(module.__name__)
    assert {name for name, where in places.items() if len(where) > 1} == {"concat", "open"}
    assert len(cst.__all__) < 25


def test_all_is_what_the_table_offers_users() -> None:
    """The others are the classes of what methods make, which pickles name."""
    others = set(_MODULE_OF) - set(cst.__all__)
    torch = {"StringTensor", "TorchBatch", "TorchDataset", "TorchRows"}
    public = {name for name in others if not name.startswith("_")}
    assert public == {*torch, "Rows", "Filtered", "Mapped", "Mixture", "ReportPlace"}
    assert not set(cst.__all__) - set(_MODULE_OF)


def test_sources_of_functions_and_methods_are_found() -> None:
    found = 0
    for name in NAMES:
        value = NAMES[name]
        members = vars(value).values() if inspect.isclass(value) else [value]
        for member in members:
            if inspect.isfunction(member) and member.__module__.startswith("columnstone"):
                with contextlib.suppress(OSError):  # of what dataclasses and named tuples generate
                    found += f"def {member.__name__}" in inspect.getsource(member)
    assert found > 100


@pytest.mark.parametrize("name", ERRORS)
def test_tracebacks(name: str) -> None:
    error = NAMES[name]("text")
    assert traceback.format_exception_only(error) == [f"{name}: text\n"]
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (type(error), "text")


# What pickles name


class Watch(pickle.Unpickler):
    """Unpickles, and keeps the modules that were named."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self.modules: set[str] = set()

    def find_class(self, module: str, name: str) -> Any:
        self.modules.add(module)
        return super().find_class(module, name)


def modules_of(value: object, protocol: int = pickle.HIGHEST_PROTOCOL) -> set[str]:
    """The modules that the pickle of a value names which no user knows."""
    watch = Watch(pickle.dumps(value, protocol))
    assert type(watch.load()) is type(value)
    public = {module.__name__ for module in MODULES}
    return {name for name in watch.modules if name.split(".")[0] == "columnstone"} - public


def batch() -> cst.RecordBatch:
    return next(iter(cst.open(TABLE)))


def same(value: object) -> object:
    return value


def every_row(batch: Any) -> list[bool]:
    return [True] * int(batch.num_rows)


FIXED = [cst.schema.TensorRepresentation("a", "dense", "int64", ("a",))]
ROWS = """feature { name: "a" type: INT presence { min_fraction: 1 } }"""
VALUES: dict[str, Callable[[], object]] = {
    "an error": lambda: cst.errors.NotFoundError("text", file="a"),
    "a schema": lambda: cst.Schema.from_text(SCHEMA),
    "a change of a schema": lambda: cst.Schema.from_text(ROWS).diff(cst.Schema.from_text(""))[0],
    "an Arrow schema": lambda: batch().schema,
    "a batch": batch,
    "an array": lambda: batch()["a"],
    "a tensor": lambda: next(iter(cst.open(pa.table({"a": [1]})).tensors()))["a"],
    "a ragged tensor": lambda: cst.tensor.RaggedTensor([1, 2], [[0, 2]]),
    "a sparse tensor": lambda: cst.tensor.SparseTensor([[0]], [1], [1]),
    "an adapter": lambda: cst.tensor.TensorAdapter(pa.table({"a": [1]}).schema, FIXED),
    "a tensor encoder": lambda: cst.tensor.TensorEncoder(FIXED),
    "a decoder": lambda: cst.decoder("example", SCHEMA, ["id"], offsets=32),
    "a decoder of sequences": lambda: cst.decoder("sequence_example", sequence_column="s"),
    "an encoder": lambda: cst.encoder("example", lossy=True),
    "an encoder of sequences": lambda: cst.encoder("sequence_example", lossy=True),
    "a decoder of a format": lambda: cst.decoder("csv", delimiter=";"),
    "an encoder of a format": lambda: cst.encoder("json", SCHEMA),
    "representations": lambda: FIXED,
    "padding": lambda: cst.tensor.Pad(3),
    "a position": lambda: cst.dataset.Position(0, 1, 2, 3),
    "a batch of a dataset": lambda: cst.dataset.Batch({"a": 1}, cst.dataset.Position(0, 1, 2, 3)),
}


@pytest.mark.parametrize("name", VALUES)
def test_pickles_of_values_name_the_package_only(name: str) -> None:
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert modules_of(VALUES[name](), protocol) == set()
    assert type(copy.copy(VALUES[name]())) is type(VALUES[name]())


def test_pickles_of_sources_name_the_package_only(make_file: MakeFile) -> None:
    file = make_file("a.tfrecord", records(8))
    source = cst.open(file, schema=SCHEMA, on_error="skip")
    for value in (
        source,
        source.split(0, 2).select(["id"]),
        source.dataset(2, shuffle=True),
        cst.mix([source.dataset(2), source.dataset(2)]),
        source.grain(),
        source.map(same).filter(every_row),
        source.validate(),
        source.verify(),
        source.count(),
        cst.source.Index.build(file)[0],
    ):
        assert modules_of(value) == set()


def test_pickles_of_lineage_name_the_package_only(
    make_file: MakeFile, tmp_path: pathlib.Path
) -> None:
    store = cst.lineage.open(tmp_path / "lineage.db", create=True)
    examples = store.examples(make_file("a.tfrecord", records(8)), "a")
    context = store.context("run", "1")
    with store.execution("x", [examples]) as run:
        pass
    for value in (store, examples, context, run.execution, cst.open(examples), store.info()):
        assert modules_of(value) == set()


def test_pickles_of_other_inputs_name_the_package_only() -> None:
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open("memory://names.csv", "w") as out:
        out.write("a\n1\n")
    assert modules_of(cst.open("memory://names.csv")) == set()
    pytest.importorskip("adbc_driver_sqlite")
    assert modules_of(cst.open("sqlite://:memory:", query="select 1 as a")) == set()


def test_pickles_for_pytorch_name_the_package_only(make_file: MakeFile) -> None:
    pytest.importorskip("torch")
    source = cst.open(make_file("a.tfrecord", records(8)), schema=SCHEMA)
    data = source.dataset(4).torch()
    for value in (data, source.torch_map(), next(iter(data))):
        assert modules_of(value) == set()


def test_names_of_modules_are_found_from_the_top() -> None:
    assert {"errors", "codec", "beam", "open"} <= set(dir(cst))
    with pytest.raises(AttributeError, match=r"it is columnstone\.errors\.CorruptError"):
        cst.CorruptError  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match=r"it is columnstone\.beam\.Accumulate$"):
        cst.Accumulate  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'nothing'$"):
        cst.nothing  # type: ignore[attr-defined]  # noqa: B018
