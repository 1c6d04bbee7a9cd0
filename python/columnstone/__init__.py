"""Training data (TFRecords, CSV, JSON lines, Arrow, Parquet, Avro) to Arrow and to tensors, and
back, without TensorFlow.

    import columnstone as cst

    src = cst.open("trips-*.tfrecord.gz", schema="schema.pbtxt", batch_size=1024, threads=2)
    for batch in src: ...              # cst.RecordBatch, for pyarrow, Polars, DuckDB, ...
    for tensors in src.tensors(): ...  # name -> Tensor, SparseTensor or RaggedTensor (cst.tensor)

What everyone uses is here. The rest lies in modules by task: cst.errors; cst.schema (features,
representations, descriptors of messages); cst.codec (what decoder and encoder make); cst.source
(indexes, splits, what verifying finds); cst.tensor; cst.struct (structured tensors); cst.query;
cst.dataset; cst.accumulate; cst.sketch (what is kept of very many values); cst.stats (what
statistics consist of); cst.lineage (which data, views and models came from what); cst.arrow;
cst.avro (schemas of Avro); cst.format (formats of your own); and by engine: cst.beam, cst.spark,
cst.ray, cst.dask, cst.huggingface.

The examples of the docstrings read trips.tfrecord, tf.Examples with the features company, fare and
zones (a list of integers), trips.csv with the first two, trips.pbtxt, their schema, and shop.proto.

Importing the package loads nothing but this file; each part is loaded when it is first used, and
numpy, pyarrow and torch only by calls that need them.
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
    # What methods make, and what it pickles as. In no __all__: nobody makes one by its name, and
    # `import *` does not load PyTorch.
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
    """Loads the part that a name lives in."""
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
    """Where a name is that does not stand at the top."""
    import importlib

    if not name.startswith("_"):  # what tools probe for
        for module in _MODULES:
            found = importlib.import_module(f".{module}", __name__)
            if name in getattr(found, "__all__", ()):
                return f": it is columnstone.{module}.{name}"
    return ""


def _name_package(error: ImportError) -> None:
    """Says which package has a library of the system that is not there."""
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
