"""read and read_tfrecords: datasets of Ray Data."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from .._base.optional import need
from .._base.public import public_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    import ray.data

    from .._api.open import AnyInput
    from .._schema.schema import SchemaLike


@public_in("columnstone.ray")
def read(
    paths: AnyInput,
    format: str | None = None,
    *,
    target_bytes: int | None = None,
    concurrency: int | None = None,
    override_num_blocks: int | None = None,
    ray_remote_args: dict[str, Any] | None = None,
    **options: Any,
) -> ray.data.Dataset:
    """Files of any format as a dataset of Ray Data, which reads them when it is used.

    paths, format: as for `columnstone.open`; so are all options that are not Ray's: schema,
        columns, view, on_error, ... Without schema or sample_records, all files may be read first
        for inference.
    target_bytes: of a read task, as for `columnstone.plan`; 64 MiB by default.
    concurrency, override_num_blocks, ray_remote_args: as for Ray's readers; so are num_cpus,
        memory, resources, ... of `ray.data.read_datasource`.
    """
    ray_data = need("ray.data", "columnstone.ray")
    from .datasource import Datasource

    known = set(inspect.signature(ray_data.read_datasource).parameters)
    known -= {"datasource", "parallelism", "read_args"}
    for_ray = {name: options.pop(name) for name in known & options.keys()}
    if ray_remote_args is not None:
        for_ray["ray_remote_args"] = ray_remote_args
    source = Datasource(paths, target_bytes=target_bytes, format=format, **options)
    return ray_data.read_datasource(
        source, concurrency=concurrency, override_num_blocks=override_num_blocks, **for_ray
    )


@public_in("columnstone.ray")
def read_tfrecords(
    paths: AnyInput,
    columns: Iterable[str] | None = None,
    schema: SchemaLike | None = None,
    format: str | None = None,
    **options: Any,
) -> ray.data.Dataset:
    """TFRecord files as a dataset of Ray Data, without TensorFlow, and with every CRC checked. Like
    `read`; columns are lists, unless flat=True.

    format: of the records: "example" (the default), "sequence_example", "message" or "raw".
    """
    if format is None and not {"message", "descriptors", "view"} & options.keys():
        format = "example"
    return read(paths, format, columns=columns, schema=schema, **options)
