"""Training data (TFRecords, CSV, JSON lines, Arrow, Parquet) to Arrow and to tensors, and back,
without TensorFlow.

    import columnstone as cst

    src = cst.open("trips-*.tfrecord.gz", schema="schema.pbtxt", batch_size=1024, threads=2)
    for batch in src: ...              # cst.RecordBatch, for pyarrow, Polars, DuckDB, ...
    for tensors in src.tensors(): ...  # name -> cst.Tensor | cst.SparseTensor | cst.RaggedTensor

Importing the package loads nothing but this file; each part is loaded when it is first used, and
numpy, pyarrow and torch only by calls that need them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import beam as beam
    from . import dask as dask
    from . import huggingface as huggingface
    from . import ray as ray
    from . import spark as spark
    from . import struct as struct
    from ._api.convert import convert
    from ._api.memory import (
        ArrowDecoder,
        ArrowEncoder,
        CsvDecoder,
        CsvEncoder,
        JsonDecoder,
        JsonEncoder,
        ParquetDecoder,
        ParquetEncoder,
        RawDecoder,
        RawEncoder,
    )
    from ._api.open import infer_schema, open
    from ._api.plan import plan
    from ._api.source import Source
    from ._arrow.split import train_test_split
    from ._arrow.table import Groups, array, concat, record_batch
    from ._base.errors import (
        ArgumentError,
        CorruptError,
        DataWarning,
        DeadlineError,
        Error,
        FieldNotFoundError,
        FileError,
        FormatError,
        IndexingError,
        LimitError,
        NotFoundError,
        SchemaError,
        StateError,
        UnsupportedError,
    )
    from ._core import Array, ArrowSchema, NestedTensor, Pass, RecordBatch, Tensor, __version__
    from ._dataset.batch import Batch, Position
    from ._dataset.dataset import Dataset
    from ._dataset.device import prefetch_to_device
    from ._dataset.mix import mix
    from ._decode.example import ExampleDecoder, ExampleEncoder
    from ._decode.sequence import SequenceExampleDecoder, SequenceExampleEncoder
    from ._formats.csv import CsvOptions
    from ._formats.registry import register_format, unregister_format
    from ._message.decoder import MessageDecoder
    from ._message.descriptors import Descriptors, MessageGuess
    from ._message.encoder import MessageEncoder
    from ._query.query import Query
    from ._query.text import dense, ragged, sparse, structured
    from ._query.view import View, ViewDiff
    from ._schema.diff import SchemaChange
    from ._schema.schema import Schema
    from ._schema.spec import (
        Feature,
        FixedLen,
        Ragged,
        RowLengths,
        Sparse,
        Structured,
        TensorRepresentation,
        UniformRowLength,
        VarLen,
    )
    from ._schema.validate import Anomaly, AnomalyPlace, SchemaCheck
    from ._sink.writer import TFRecordWriter, Writer, write
    from ._source.accumulate import (
        ColumnCount,
        ColumnCounts,
        Counts,
        SchemaInference,
        Validation,
    )
    from ._source.base import Fault, FileCount, Verification
    from ._source.dropped import Dropped
    from ._source.index import Index, IndexEntry, build_index, import_index, load_index
    from ._source.split import Split
    from ._struct.spec import (
        DenseStructuredTensorSpec,
        LeafSpec,
        RaggedStructuredTensorSpec,
        StructuredTensorSpec,
    )
    from ._struct.tensor import LeafTensor, StructuredTensor
    from ._struct.views import (
        DenseStructuredTensor,
        RaggedStructuredTensor,
        StructuredTensorValue,
    )
    from ._tensor.adapter import Pad, TensorAdapter
    from ._tensor.conversion import to_jax, to_numpy, to_tf, to_torch
    from ._tensor.encoder import TensorEncoder
    from ._tensor.tensor import RaggedTensor, SparseTensor

__all__ = [
    "Anomaly",
    "AnomalyPlace",
    "ArgumentError",
    "Array",
    "ArrowDecoder",
    "ArrowEncoder",
    "ArrowSchema",
    "Batch",
    "ColumnCount",
    "ColumnCounts",
    "CorruptError",
    "Counts",
    "CsvDecoder",
    "CsvEncoder",
    "CsvOptions",
    "DataWarning",
    "Dataset",
    "DeadlineError",
    "DenseStructuredTensor",
    "DenseStructuredTensorSpec",
    "Descriptors",
    "Dropped",
    "Error",
    "ExampleDecoder",
    "ExampleEncoder",
    "Fault",
    "Feature",
    "FieldNotFoundError",
    "FileCount",
    "FileError",
    "FixedLen",
    "FormatError",
    "Groups",
    "Index",
    "IndexEntry",
    "IndexingError",
    "JsonDecoder",
    "JsonEncoder",
    "LeafSpec",
    "LeafTensor",
    "LimitError",
    "MessageDecoder",
    "MessageEncoder",
    "MessageGuess",
    "NestedTensor",
    "NotFoundError",
    "Pad",
    "ParquetDecoder",
    "ParquetEncoder",
    "Pass",
    "Position",
    "Query",
    "Ragged",
    "RaggedStructuredTensor",
    "RaggedStructuredTensorSpec",
    "RaggedTensor",
    "RawDecoder",
    "RawEncoder",
    "RecordBatch",
    "RowLengths",
    "Schema",
    "SchemaChange",
    "SchemaCheck",
    "SchemaError",
    "SchemaInference",
    "SequenceExampleDecoder",
    "SequenceExampleEncoder",
    "Source",
    "Sparse",
    "SparseTensor",
    "Split",
    "StateError",
    "Structured",
    "StructuredTensor",
    "StructuredTensorSpec",
    "StructuredTensorValue",
    "TFRecordWriter",
    "Tensor",
    "TensorAdapter",
    "TensorEncoder",
    "TensorRepresentation",
    "UniformRowLength",
    "UnsupportedError",
    "Validation",
    "VarLen",
    "Verification",
    "View",
    "ViewDiff",
    "Writer",
    "__version__",
    "array",
    "build_index",
    "concat",
    "convert",
    "dense",
    "import_index",
    "infer_schema",
    "load_index",
    "mix",
    "open",
    "plan",
    "prefetch_to_device",
    "ragged",
    "record_batch",
    "register_format",
    "sparse",
    "structured",
    "to_jax",
    "to_numpy",
    "to_tf",
    "to_torch",
    "train_test_split",
    "unregister_format",
    "write",
]

_NAMES_OF = {
    "_tensor.adapter": "Pad TensorAdapter",
    "_core": "Array ArrowSchema NestedTensor Pass RecordBatch Tensor __version__",
    "_api.convert": "convert",
    "_formats.csv": "CsvOptions",
    "_dataset.batch": "Batch Position",
    "_dataset.dataset": "Dataset",
    "_dataset.device": "prefetch_to_device",
    "_dataset.mix": "mix",
    "_source.dropped": "Dropped",
    "_base.errors": "ArgumentError CorruptError DataWarning DeadlineError Error FieldNotFoundError "
    "FileError FormatError IndexingError LimitError NotFoundError SchemaError StateError "
    "UnsupportedError",
    "_decode.example": "ExampleDecoder ExampleEncoder",
    "_formats.registry": "register_format unregister_format",
    "_tensor.conversion": "to_jax to_numpy to_tf to_torch",
    "_source.index": "Index IndexEntry build_index import_index load_index",
    "_api.memory": "ArrowDecoder ArrowEncoder CsvDecoder CsvEncoder JsonDecoder JsonEncoder "
    "ParquetDecoder ParquetEncoder RawDecoder RawEncoder",
    "_api.open": "infer_schema open",
    "_api.plan": "plan",
    "_message.decoder": "MessageDecoder",
    "_message.descriptors": "Descriptors MessageGuess",
    "_message.encoder": "MessageEncoder",
    "_query.query": "Query",
    "_query.text": "dense ragged sparse structured",
    "_query.view": "View ViewDiff",
    "_schema.schema": "Schema",
    "_schema.diff": "SchemaChange",
    "_decode.sequence": "SequenceExampleDecoder SequenceExampleEncoder",
    "_api.source": "Source",
    "_source.split": "Split",
    "_source.accumulate": "ColumnCount ColumnCounts Counts SchemaInference Validation",
    "_source.base": "Fault FileCount Verification",
    "_arrow.split": "train_test_split",
    "_schema.spec": "Feature FixedLen Ragged RowLengths Sparse Structured TensorRepresentation "
    "UniformRowLength VarLen",
    "_struct.spec": "DenseStructuredTensorSpec LeafSpec RaggedStructuredTensorSpec "
    "StructuredTensorSpec",
    "_struct.tensor": "LeafTensor StructuredTensor",
    "_struct.views": "DenseStructuredTensor RaggedStructuredTensor StructuredTensorValue",
    "_arrow.table": "Groups array concat record_batch",
    "_tensor.tensor": "RaggedTensor SparseTensor",
    "_tensor.encoder": "TensorEncoder",
    "_schema.validate": "Anomaly AnomalyPlace SchemaCheck",
    "_sink.writer": "TFRecordWriter Writer write",
    # What methods make, and what it pickles as. Not in __all__: nobody makes one by its name, and
    # `import *` does not load PyTorch.
    "_dataset.mixture": "Mixture",
    "_dataset.rows": "Rows",
    "_frameworks.torch": "TorchDataset TorchRows _Shared",
    "_source.stages": "Filtered Mapped",
    "_source.workers": "ReportPlace",
    "_frameworks.torch_batch": "TorchBatch",
    "_frameworks.torch_tensors": "StringTensor",
}
_MODULES = ("beam", "dask", "huggingface", "ray", "spark", "struct", "tfxio")
_MODULE_OF = {name: module for module, names in _NAMES_OF.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Loads the part that a name lives in."""
    module = _MODULE_OF.get(name)
    if name in _MODULES:
        import importlib

        return importlib.import_module(f".{name}", __name__)
    if module is None:
        raise AttributeError(f"module 'columnstone' has no attribute {name!r}")
    import importlib

    try:
        value: object = getattr(importlib.import_module(f".{module}", __name__), name)
    except ImportError as error:
        _name_package(error)
        raise
    globals()[name] = value
    return value


def _name_package(error: ImportError) -> None:
    """Says which package has a library of the system that is not there."""
    debian = {"libisal": "libisal2", "liblz4": "liblz4-1", "libzstd": "libzstd1"}
    library = error.msg.partition(".so")[0]
    if library in debian and "cannot open shared object file" in error.msg:
        name = library.removeprefix("lib")
        install = f"install it: apt install {debian[library]} (Fedora: {name}-libs or lib{name})"
        error.msg = f"{error.msg} ({install})"


def __dir__() -> list[str]:
    return sorted(__all__)
