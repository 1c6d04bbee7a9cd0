"""Ray Data: datasets of files, and sinks.

ds = columnstone.ray.read_tfrecords("trips-*.tfrecord.gz", columns=["fare"])
ds.write_datasink(columnstone.ray.TFRecordSink("out/"))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._ray.accumulate import accumulate
from ._ray.read import read, read_tfrecords

if TYPE_CHECKING:
    from ._ray.datasink import Sink, TFRecordSink
    from ._ray.datasource import Datasource

__all__ = ["Datasource", "Sink", "TFRecordSink", "accumulate", "read", "read_tfrecords"]


def __getattr__(name: str) -> object:
    """Imports the classes when they are used, because their bases are Ray's."""
    if name not in __all__:
        raise AttributeError(f"module 'columnstone.ray' has no attribute {name!r}")
    from ._base.optional import need

    need("ray.data", "columnstone.ray")
    from ._ray import datasink, datasource

    return getattr(datasource if name == "Datasource" else datasink, name)
