"""dataset: files as a Dataset over a memory-mapped Arrow file."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

from .._base.optional import need
from .._base.public import public_in
from .._engines.reading import BATCHES, Reading, read_by, splits_of
from .._sink.writer import Writer
from .features import cast_to, features_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import datasets

    from .._api.open import AnyInput
    from .._source.split import Split


@public_in("columnstone.huggingface")
def dataset(
    paths: AnyInput,
    format: str | None = None,
    *,
    cache_dir: str | os.PathLike[str] | None = None,
    **options: Any,
) -> datasets.Dataset:
    """Files of any format as a Dataset: they are converted once to an Arrow file, which is mapped
    into memory. No row becomes a Python object. A second call with the same files (names, sizes,
    times) and options reuses the Arrow file.

    paths, format, options: as for `columnstone.open`, such as threads and flat.
    cache_dir: for the Arrow file, which stays there; by default the cache of datasets.
    """
    package = need("datasets", "columnstone.huggingface")
    given = {"format": format, **options}
    reading = read_by(paths, {**BATCHES, **given})
    splits = splits_of(paths, given, is_numbered=reading.is_numbered)
    folder = cache_dir or os.path.join(package.config.HF_DATASETS_CACHE, "columnstone")
    name = _name(reading, splits)
    path = os.path.join(folder, f"{name}.arrow")
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        schema = features_of(reading.schema).arrow_schema
        with Writer(path, "arrows") as writer:
            writer.begin(schema)
            for table in cast_to(schema, reading.batches(splits)):
                writer.write(table)
    made: datasets.Dataset = package.Dataset.from_file(path)
    return made


def _name(reading: Reading, splits: Sequence[Split]) -> str:
    """The name of the cache file: other data or options have another name."""
    hasher = need("datasets.fingerprint", "columnstone.huggingface").Hasher
    files = sorted({split.file for split in splits})
    digest = hashlib.sha256(str(tuple(map(tuple, splits))).encode())
    digest.update(str([os.stat(f).st_mtime_ns for f in files if os.path.exists(f)]).encode())
    options = {name: value for name, value in reading.options.items() if name != "threads"}
    digest.update(hasher.hash((options, reading.schema)).encode())
    return digest.hexdigest()[:32]
