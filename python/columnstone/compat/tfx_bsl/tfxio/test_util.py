"""tfx_bsl.tfxio.test_util: a TFXIO for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import tf_example_record

if TYPE_CHECKING:
    from tensorflow_metadata.proto.v0 import schema_pb2


class InMemoryTFExampleRecord(tf_example_record.TFExampleBeamRecord):
    """Serialized tf.Examples of a test, with names for metrics."""

    def __init__(
        self, schema: schema_pb2.Schema | None = None, raw_record_column_name: str | None = None
    ) -> None:
        super().__init__(
            physical_format="inmem",
            telemetry_descriptors=["test", "component"],
            schema=schema,
            raw_record_column_name=raw_record_column_name,
        )
