"""Apache Spark: the data source `columnstone`, and columns of serialized records.


If this package is installed, Spark finds the data source by itself:

    df = spark.read.format("columnstone").option("columns", "fare").load("trips-*.tfrecord.gz")
    df.write.format("columnstone").option("payload", "example").mode("append").save("out/")
"""

from __future__ import annotations

from ._spark.accumulate import accumulate
from ._spark.columns import (
    decode_examples,
    decode_messages,
    encode_examples,
    map_examples,
    map_messages,
)
from ._spark.register import register

__all__ = [
    "accumulate",
    "decode_examples",
    "decode_messages",
    "encode_examples",
    "map_examples",
    "map_messages",
    "register",
]
