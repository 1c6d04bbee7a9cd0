"""Detects the content of Examples from their first file, as the program does."""

from __future__ import annotations

import glob
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .._base.errors import Error

if TYPE_CHECKING:
    from collections.abc import Mapping

_SEQUENCES = "##SEQUENCE##"  # the column that only tf.SequenceExamples have
_SAMPLE = 100  # records that are looked at

# TFX's names for the payloads of Examples.
PAYLOADS = {
    "example": "FORMAT_TF_EXAMPLE",
    "sequence_example": "FORMAT_TF_SEQUENCE_EXAMPLE",
    "message": "FORMAT_PROTO",
    "parquet": "FORMAT_PARQUET",
}


class Held(NamedTuple):
    """The properties of TFX; None: unknown."""

    payload_format: str | None = None
    file_format: str | None = None


def splits_of(folder: bytes) -> dict[str, bytes]:
    """The folders "Split-NAME" in a folder, as TFX creates them."""
    found = sorted(glob.glob(os.path.join(glob.escape(folder), b"Split-?*")))
    return {
        os.fsdecode(os.path.basename(path))[len("Split-") :]: path
        for path in found
        if os.path.isdir(path)
    }


def look(path: bytes, format: str | None, container: str | None) -> Held:
    """format, container: as far as they were given. What cannot be detected stays None."""
    payload = PAYLOADS.get(format or "")
    file = _first_file(path)
    if b"://" in path or file is None:
        return Held(payload)
    said = {"format": "raw" if format == "message" else format, "container": container}
    try:
        source = _open(file, said)
        kind: str | None = source.format()
        held = Held(payload, _file_format(source))
        source.close()
        if format is None:
            kind = _record_kind(file, said) if kind == "example" else kind
            held = held._replace(payload_format=PAYLOADS.get(kind or ""))
    except Error:
        return Held(payload)
    return held


def _open(file: bytes, options: Mapping[str, Any]) -> _core.Source:
    usual: dict[str, Any] = {**dict.fromkeys(_core.SOURCE_OPTIONS), "format_options": ()}
    return _core.Source((file,), None, None, {**usual, **options})


def _record_kind(file: bytes, said: Mapping[str, Any]) -> str | None:
    """The content of records is detected from the first ones; they are tf.Examples unless stated
    otherwise."""
    for kind in ("sequence_example", "example"):
        try:
            source = _open(file, {**said, "format": kind, "sample_records": _SAMPLE})
            names = source.arrow_schema().names
            source.close()
        except Error:
            continue
        if kind == "example" or names[-1:] == [_SEQUENCES]:
            return kind
    return None


def _file_format(source: _core.Source) -> str:
    """ "tfrecords_gzip", as TFX says; other containers and formats have their own names."""
    container, compression = source.container(), source.compression()
    name = "tfrecords" if container == "tfrecord" else container or source.format()
    return name if compression in (None, "none") else f"{name}_{compression}"


def _first_file(path: bytes) -> bytes | None:
    """The file itself, or the first file of a folder, except "_SUCCESS" and ".crc" files."""
    if not os.path.isdir(path):
        return path
    names = sorted(name for name in os.listdir(path) if name[:1] not in (b".", b"_"))
    files = [os.path.join(path, name) for name in names]
    return next((file for file in files if not os.path.isdir(file)), None)
