"""tfx_bsl.coders.sequence_example_coder over `columnstone.decoder("sequence_example")`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._decode import RecordDecoder

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa


class SequenceExamplesToRecordBatchDecoder:
    """Decodes serialized tf.SequenceExamples into pyarrow record batches.

    sequence_feature_column_name: the name of the last column, a struct of the feature lists.
    serialized_schema: a serialized TFMD schema; without one, types come from the records.

    Raises RuntimeError if the schema or the records are invalid.
    """

    def __init__(self, sequence_feature_column_name: str, serialized_schema: bytes = b"") -> None:
        self._arguments = sequence_feature_column_name, serialized_schema
        self._decoder = RecordDecoder(serialized_schema or None, sequence_feature_column_name)

    def __reduce__(self) -> tuple[type, tuple[str, bytes]]:
        return type(self), self._arguments

    def DecodeBatch(self, sequence_examples: Sequence[bytes]) -> pa.RecordBatch:
        return self._decoder.decode(sequence_examples)

    def ArrowSchema(self) -> pa.Schema:
        """The schema of every batch; RuntimeError where no TFMD schema was given."""
        return self._decoder.arrow_schema(type(self).__name__)
