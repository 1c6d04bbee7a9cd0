"""The options of `df.write.format("columnstone")`: the folder and the files."""

from __future__ import annotations

import dataclasses
import io
import os
import re
import urllib.parse
from typing import TYPE_CHECKING, Any

from .. import _core
from .._base.errors import argument_error
from .._engines.place import ending_of
from .._io.urls import is_remote
from .._message.descriptors import Descriptors
from .._schema.schema import Schema
from .._sink.writer import Writer
from .options import (
    choice_option,
    int_option,
    known_options,
    names_option,
    options_of,
    parse_options,
    paths_of,
    text_option,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .options import Parser

_RECORDS = ("example", "sequence_example", "message", "raw")
_KNOWN: dict[str, Parser] = {
    # of Writer: each task writes whole files
    **known_options(_core.SINK_OPTIONS, ("num_shards",), writes=True),
    "container": choice_option("tfrecord", "delimited", "lines"),
    # of the data source
    "format": text_option,
    "payload": choice_option(*_RECORDS),
    "partition_by": names_option,
    "max_open_files": int_option,
    "if_exists": choice_option("append", "error", "ignore"),
}
_MOST_OPEN = 10_000


@dataclasses.dataclass(frozen=True)
class Output:
    """An output, as it is sent to every task. It pickles: files named by options have been read."""

    path: str  # absolute, or a URL
    format: str
    ending: str  # of its files
    options: dict[str, Any]  # of Writer
    partition_by: tuple[str, ...]
    max_open_files: int
    if_exists: str

    @classmethod
    def of_options(cls, given: Mapping[str, str]) -> Output:
        """Raises ArgumentError for impossible options, and NotFoundError and SchemaError for the
        files that the options name."""
        values = parse_options(_of_writing(given), options_of(given, _KNOWN), "writing")
        path = _path(given)
        partition_by = tuple(values.pop("partition_by", ()))
        most = values.pop("max_open_files", 64)
        if not 1 <= most <= _MOST_OPEN:
            raise argument_error(f"max_open_files is {most}, and must be from 1 to {_MOST_OPEN}")
        if_exists = values.pop("if_exists", "append")
        format = _format(values)
        if "shard_bytes" in values and is_remote(path):
            raise argument_error("shard_bytes needs a local path", "repartition the data frame")
        for name, make in (
            ("schema", Schema),
            ("descriptors", Descriptors),
        ):
            if name in values:
                values[name] = make(values[name])
        ending = ending_of(format, values.get("container"), values.get("compression"))
        return cls(path, format, ending, values, partition_by, most, if_exists)

    def writer(self, file: str | io.BytesIO) -> Writer:
        """A writer for one file of this output."""
        options = self.options
        if isinstance(file, io.BytesIO):
            options = {name: value for name, value in options.items() if name != "shard_bytes"}
        return Writer(file, self.format, **options)


def _of_writing(given: Mapping[str, str]) -> dict[str, str]:
    """Without the options that Spark itself uses for streams."""
    return {name: text for name, text in given.items() if name.lower() != "checkpointlocation"}


def _path(given: Mapping[str, str]) -> str:
    """The folder. A path is made absolute here, on the driver, because tasks run in other
    folders."""
    paths = paths_of(given)
    if len(paths) != 1:
        raise argument_error("writing takes one folder", 'save("folder")')
    [path] = paths
    if path.startswith("file:"):
        return os.path.abspath(urllib.parse.unquote(urllib.parse.urlsplit(path).path))
    if is_remote(path):
        return path.rstrip("/")
    if re.match(r"[a-zA-Z][\w+.-]+:/", path):
        raise argument_error(
            f"{ascii(path)[:80]} is neither a path nor a URL", "scheme://host/folder"
        )
    return os.path.abspath(path)


def _format(values: dict[str, Any]) -> str:
    """`payload` is a `format` that has records. Without either: messages if a message is named,
    otherwise tf.Examples."""
    format, payload = values.pop("format", None), values.pop("payload", None)
    if format is not None and payload is not None and format != payload:
        raise argument_error(
            f"format is {ascii(format)[:40]}, but payload is {payload}", "give only one"
        )
    found = format or payload or ("message" if "message" in values else "example")
    if found == "message" and not {"message", "descriptors"} & values.keys():
        raise argument_error("the type of the messages is missing", 'option("message", ...)')
    return str(found)
