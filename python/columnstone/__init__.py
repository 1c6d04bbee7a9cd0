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
    from ._adapter import Pad, TensorAdapter
    from ._convert import convert
    from ._core import Array, ArrowSchema, Pass, RecordBatch, Tensor, __version__
    from ._csv import CsvOptions
    from ._dataset import Batch, Dataset, Position
    from ._dropped import Dropped
    from ._errors import (
        ArgumentError,
        CorruptError,
        DataWarning,
        Error,
        FileError,
        FormatError,
        LimitError,
        NotFoundError,
        SchemaError,
        StateError,
        UnsupportedError,
    )
    from ._example import ExampleDecoder, ExampleEncoder
    from ._formats import register_format, unregister_format
    from ._frameworks import to_jax, to_numpy, to_tf, to_torch
    from ._index import Index, IndexEntry, build_index, import_index, load_index
    from ._memory import (
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
    from ._open import infer_schema, open
    from ._schema import Schema
    from ._schema_diff import SchemaChange
    from ._sequence import SequenceExampleDecoder, SequenceExampleEncoder
    from ._source import Fault, FileCount, Source, Verification
    from ._spec import (
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
    from ._split import train_test_split
    from ._table import Groups, array, concat, record_batch
    from ._tensor import RaggedTensor, SparseTensor
    from ._tensor_encoder import TensorEncoder
    from ._validate import Anomaly, AnomalyPlace, SchemaCheck
    from ._writer import TFRecordWriter, Writer, write

__all__ = [
    "Anomaly",
    "AnomalyPlace",
    "ArgumentError",
    "Array",
    "ArrowDecoder",
    "ArrowEncoder",
    "ArrowSchema",
    "Batch",
    "CorruptError",
    "CsvDecoder",
    "CsvEncoder",
    "CsvOptions",
    "DataWarning",
    "Dataset",
    "Dropped",
    "Error",
    "ExampleDecoder",
    "ExampleEncoder",
    "Fault",
    "Feature",
    "FileCount",
    "FileError",
    "FixedLen",
    "FormatError",
    "Groups",
    "Index",
    "IndexEntry",
    "JsonDecoder",
    "JsonEncoder",
    "LimitError",
    "NotFoundError",
    "Pad",
    "ParquetDecoder",
    "ParquetEncoder",
    "Pass",
    "Position",
    "Ragged",
    "RaggedTensor",
    "RawDecoder",
    "RawEncoder",
    "RecordBatch",
    "RowLengths",
    "Schema",
    "SchemaChange",
    "SchemaCheck",
    "SchemaError",
    "SequenceExampleDecoder",
    "SequenceExampleEncoder",
    "Source",
    "Sparse",
    "SparseTensor",
    "StateError",
    "Structured",
    "TFRecordWriter",
    "Tensor",
    "TensorAdapter",
    "TensorEncoder",
    "TensorRepresentation",
    "UniformRowLength",
    "UnsupportedError",
    "VarLen",
    "Verification",
    "Writer",
    "__version__",
    "array",
    "build_index",
    "concat",
    "convert",
    "import_index",
    "infer_schema",
    "load_index",
    "open",
    "record_batch",
    "register_format",
    "to_jax",
    "to_numpy",
    "to_tf",
    "to_torch",
    "train_test_split",
    "unregister_format",
    "write",
]

_NAMES_OF = {
    "_adapter": "Pad TensorAdapter",
    "_core": "Array ArrowSchema Pass RecordBatch Tensor __version__",
    "_convert": "convert",
    "_csv": "CsvOptions",
    "_dataset": "Batch Dataset Position",
    "_dropped": "Dropped",
    "_errors": "ArgumentError CorruptError DataWarning Error FileError FormatError LimitError "
    "NotFoundError SchemaError StateError UnsupportedError",
    "_example": "ExampleDecoder ExampleEncoder",
    "_formats": "register_format unregister_format",
    "_frameworks": "to_jax to_numpy to_tf to_torch",
    "_index": "Index IndexEntry build_index import_index load_index",
    "_memory": "ArrowDecoder ArrowEncoder CsvDecoder CsvEncoder JsonDecoder JsonEncoder "
    "ParquetDecoder ParquetEncoder RawDecoder RawEncoder",
    "_open": "infer_schema open",
    "_schema": "Schema",
    "_schema_diff": "SchemaChange",
    "_sequence": "SequenceExampleDecoder SequenceExampleEncoder",
    "_source": "Fault FileCount Source Verification",
    "_split": "train_test_split",
    "_spec": "Feature FixedLen Ragged RowLengths Sparse Structured TensorRepresentation "
    "UniformRowLength VarLen",
    "_table": "Groups array concat record_batch",
    "_tensor": "RaggedTensor SparseTensor",
    "_tensor_encoder": "TensorEncoder",
    "_validate": "Anomaly AnomalyPlace SchemaCheck",
    "_writer": "TFRecordWriter Writer write",
}
_MODULE_OF = {name: module for module, names in _NAMES_OF.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Loads the part that a name lives in."""
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'columnstone' has no attribute {name!r}")
    import importlib

    value: object = getattr(importlib.import_module(f".{module}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
