"""Reads training data (TFRecords, CSV, JSON lines, Arrow, Parquet, Avro) into Arrow batches and
tensors, and writes it back, without TensorFlow.

    import columnstone as cst

    src = cst.open("trips-*.tfrecord.gz", schema="schema.pbtxt", batch_size=1024, threads=2)
    for batch in src: ...              # cst.RecordBatch, for pyarrow, Polars, DuckDB, ...
    for tensors in src.tensors(): ...  # name -> Tensor, SparseTensor or RaggedTensor (cst.tensor)

The most common names are here. The others are in modules by task: cst.errors; cst.schema (features,
representations, message descriptors); cst.codec (decoders and encoders); cst.source (indexes,
splits, verification); cst.tensor; cst.struct (structured tensors); cst.query; cst.dataset;
cst.accumulate; cst.sketch (summaries of very many values); cst.stats (parts of statistics);
cst.lineage (the origin of data, views and models); cst.arrow; cst.avro (Avro schemas); cst.format
(custom formats); and by engine: cst.beam, cst.spark, cst.ray, cst.dask, cst.huggingface.

The examples of the docstrings read trips.tfrecord, tf.Examples with the features company, fare and
zones (a list of integers), trips.csv with the first two, trips.pbtxt, their schema, and shop.proto.

Importing the package loads only this file. Each part is loaded when it is first used, and numpy,
pyarrow and torch only by calls that need them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import accumulate as accumulate
    from . import arrow as arrow
    from . import avro as avro
    from . import beam as beam
    from . import codec as codec
    from . import dask as dask
    from . import dataset as dataset
    from . import errors as errors
    from . import format as format
    from . import huggingface as huggingface
    from . import lineage as lineage
    from . import query as query
    from . import ray as ray
    from . import schema as schema
    from . import sketch as sketch
    from . import source as source
    from . import spark as spark
    from . import stats as stats
    from . import struct as struct
    from . import tensor as tensor
    from ._api.codec import decoder, encoder
    from ._api.convert import convert
    from ._api.open import infer_schema, open
    from ._api.plan import plan
    from ._api.source import Source
    from ._arrow.table import array, concat, record_batch
    from ._base.errors import Error
    from ._core import RecordBatch, __version__
    from ._dataset.dataset import Dataset
    from ._dataset.mix import mix
    from ._query.query import Query
    from ._query.view import View
    from ._schema.schema import Schema
    from ._sink.writer import Writer, write
    from ._statistics.statistics import Statistics, statistics
    from ._struct.tensor import StructuredTensor

__all__ = [
    "Dataset",
    "Error",
    "Query",
    "RecordBatch",
    "Schema",
    "Source",
    "Statistics",
    "StructuredTensor",
    "View",
    "Writer",
    "__version__",
    "array",
    "concat",
    "convert",
    "decoder",
    "encoder",
    "infer_schema",
    "mix",
    "open",
    "plan",
    "record_batch",
    "statistics",
    "write",
]

_MODULES = (
    "accumulate",
    "arrow",
    "avro",
    "beam",
    "codec",
    "dask",
    "dataset",
    "errors",
    "format",
    "huggingface",
    "lineage",
    "query",
    "ray",
    "schema",
    "sketch",
    "source",
    "spark",
    "stats",
    "struct",
    "tensor",
    "tfxio",
)
_NAMES_OF = {
    "_api.codec": "decoder encoder",
    "_api.convert": "convert",
    "_api.open": "infer_schema open",
    "_api.plan": "plan",
    "_api.source": "Source",
    "_arrow.table": "array concat record_batch",
    "_base.errors": "Error",
    "_core": "RecordBatch __version__",
    "_dataset.dataset": "Dataset",
    "_dataset.mix": "mix",
    "_query.query": "Query",
    "_query.view": "View",
    "_schema.schema": "Schema",
    "_sink.writer": "Writer write",
    "_statistics.statistics": "Statistics statistics",
    "_struct.tensor": "StructuredTensor",
    # Classes of objects that methods return, and their pickled names. They are not in __all__:
    # nobody creates them by name, and `import *` must not load PyTorch.
    "_dataset.mixture": "Mixture",
    "_dataset.rows": "Rows",
    "_frameworks.torch": "TorchDataset TorchRows _Shared",
    "_frameworks.torch_batch": "TorchBatch",
    "_frameworks.torch_tensors": "StringTensor",
    "_source.stages": "Filtered Mapped",
    "_source.workers": "ReportPlace",
}
_MODULE_OF = {name: module for module, names in _NAMES_OF.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Imports the module that contains the name."""
    module = _MODULE_OF.get(name)
    if name in _MODULES:
        import importlib

        return importlib.import_module(f".{name}", __name__)
    if module is None:
        raise AttributeError(f"module 'columnstone' has no attribute {name!r}{_elsewhere(name)}")
    import importlib

    try:
        value: object = getattr(importlib.import_module(f".{module}", __name__), name)
    except ImportError as error:
        _name_package(error)
        raise
    globals()[name] = value
    return value


def _elsewhere(name: str) -> str:
    """A hint for a name that is not at the top."""
    import importlib

    if not name.startswith("_"):  # what tools probe for
        for module in _MODULES:
            found = importlib.import_module(f".{module}", __name__)
            if name in getattr(found, "__all__", ()):
                return f": it is columnstone.{module}.{name}"
    return ""


def _name_package(error: ImportError) -> None:
    """Names the package of a missing system library."""
    debian = {
        "libbz2": "libbz2-1.0",
        "libisal": "libisal2",
        "liblz4": "liblz4-1",
        "liblzma": "liblzma5",
        "libsqlite3": "libsqlite3-0",
        "libzstd": "libzstd1",
    }
    library = error.msg.partition(".so")[0]
    if library in debian and "cannot open shared object file" in error.msg:
        name = library.removeprefix("lib")
        install = f"install it: apt install {debian[library]} (Fedora: {name}-libs or lib{name})"
        error.msg = f"{error.msg} ({install})"


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
