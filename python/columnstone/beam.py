"""Apache Beam: sources, sinks and combiners of record batches.

batches = p | cst.beam.Read("trips-*.tfrecord.gz", schema=schema)     # PCollection[pa.RecordBatch]
batches | cst.beam.WriteParquet("out/trips")
batches | cst.beam.InferSchema()

The first use of a name imports Beam. From then on, Beam encodes record batches and tables with
RecordBatchCoder and TableCoder, unless other coders are registered for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._base.optional import need

if TYPE_CHECKING:
    from ._beam.coder import RecordBatchCoder, TableCoder
    from ._beam.combine import Accumulate, Count, InferSchema, Statistics, Validate
    from ._beam.dead_letter import DeadLetter
    from ._beam.read import Decode, Read, ReadAll
    from ._beam.write import Write, WriteArrow, WriteParquet, WriteTFRecord

__all__ = [
    "Accumulate",
    "Count",
    "DeadLetter",
    "Decode",
    "InferSchema",
    "Read",
    "ReadAll",
    "RecordBatchCoder",
    "Statistics",
    "TableCoder",
    "Validate",
    "Write",
    "WriteArrow",
    "WriteParquet",
    "WriteTFRecord",
]
_NAMES_OF = {
    "coder": "RecordBatchCoder TableCoder",
    "combine": "Accumulate Count InferSchema Statistics Validate",
    "dead_letter": "DeadLetter",
    "read": "Decode Read ReadAll",
    "write": "Write WriteArrow WriteParquet WriteTFRecord",
}  # a module of _beam: the names that it has
_MODULE_OF = {name: module for module, names in _NAMES_OF.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Imports Beam, and the module that contains the name."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'columnstone.beam' has no attribute {name!r}")
    import importlib

    need("apache_beam", "columnstone.beam")
    need("pyarrow", "columnstone.beam", "beam", least=10)
    importlib.import_module("._beam.coder", __package__)  # registers the coders
    value: object = getattr(
        importlib.import_module(f"._beam.{_MODULE_OF[name]}", __package__), name
    )
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
