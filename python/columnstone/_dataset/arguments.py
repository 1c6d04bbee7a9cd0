"""Checks the arguments of datasets."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .._base.arguments import integer
from .._base.errors import NotFoundError, argument_error
from .._tensor.adapter import find_tensor

if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    from .._source.base import SourceBase
    from .._tensor.adapter import PadsLike

    Shuffle: TypeAlias = "bool | Literal['global', 'window']"
    BucketBy: TypeAlias = str | tuple[str, int] | None

_SHUFFLES = {
    False: _core.SHUFFLE_NONE,
    True: _core.SHUFFLE_AUTO,
    "global": _core.SHUFFLE_GLOBAL,
    "window": _core.SHUFFLE_WINDOW,
}
SHUFFLE_NAMES = {
    _core.SHUFFLE_NONE: "none",
    _core.SHUFFLE_GLOBAL: "global",
    _core.SHUFFLE_WINDOW: "window",
    _core.SHUFFLE_AUTO: "mixed",  # of a mix whose datasets differ
}


def number(name: str, value: int, least: int, most: int) -> int:
    number = integer(name, value)
    if not least <= number <= most:
        raise argument_error(f"{name} is {number}, and must be from {least} to {most}")
    return number


def count(name: str, value: int) -> int:
    return number(name, value, 1, 2**61 - 1)


def part_of_state(name: str, value: Any) -> int:
    return number(name, value, -1 if name in ("batch", "row") else 0, 2**62 - 2)


def as_shuffle(shuffle: Shuffle) -> int:
    for name, number in _SHUFFLES.items():
        if type(shuffle) is type(name) and shuffle == name:
            return number
    raise argument_error(
        f'shuffle must be False, True, "global" or "window", not {ascii(shuffle)[:40]}'
    )


def as_interleave(interleave: int | None) -> int:
    return 0 if interleave is None else number("interleave", interleave, 1, 1024)


def as_ids(ids: bool | tuple[str, str]) -> tuple[str, str] | None:
    """The names of the tensors for files and record numbers."""
    if isinstance(ids, bool):
        return ("__file__", "__record__") if ids else None
    if (
        not isinstance(ids, tuple | list)
        or len(ids) != 2
        or not all(isinstance(name, str) for name in ids)
    ):
        raise TypeError("ids is a bool, or the names of two tensors: for files and for records")
    return ids[0], ids[1]


def as_shard(shard: tuple[int, int]) -> tuple[int, int]:
    if not isinstance(shard, tuple | list) or len(shard) != 2:
        raise TypeError("shard is a pair (i, n): this one of n shards")
    count = number("shard[1]", shard[1], 1, 2**32 - 1)
    return number("shard[0]", shard[0], 0, count - 1), count


def as_pad(pad: PadsLike) -> dict[str, Any] | None:
    if pad is not None and not isinstance(pad, Mapping):
        raise TypeError(f"pad must be a dict by tensor name, not {type(pad).__name__}")
    return None if pad is None else dict(pad)


_BUCKET_BATCHES = 64


class Bucket(NamedTuple):
    """The number of batches whose rows are sorted together, and the column that determines the
    length of a row: its value, or the number of its values."""

    batches: int
    path: tuple[str, ...]
    by_value: bool

    @property
    def text(self) -> str:
        """The column as it is saved in states."""
        return ".".join(self.path) + (" (value)" if self.by_value else "")


def as_bucket(bucket_by: BucketBy, source: SourceBase, as_batches: bool) -> Bucket | None:
    if bucket_by is None:
        return None
    name, *batches = bucket_by if isinstance(bucket_by, tuple) else (bucket_by,)
    if not isinstance(name, str) or len(batches) > 1:
        raise TypeError("bucket_by is the name of a tensor, or a pair (name, number)")
    count = number("bucket_by[1]", batches[0] if batches else _BUCKET_BATCHES, 1, 2**32)
    if not as_batches:
        return Bucket(count, *_length_of_tensor(source, name))
    columns = {child.name for child in source.arrow_schema.children}
    return Bucket(count, (name,) if name in columns else tuple(name.split(".")), False)


def _length_of_tensor(source: SourceBase, name: str) -> tuple[tuple[str, ...], bool]:
    tensor = find_tensor(source.tensor_representations().values(), name)
    if tensor is None:
        raise NotFoundError(f"there is no tensor {name!r} whose rows have a length", path=name)
    if tensor.kind == "structured":
        text = f"bucket_by: {name!r} is a structured tensor"
        raise argument_error(text, "name a field: tensor.field")
    if tensor.kind == "dense" and prod(tensor.shape) != 1:
        raise argument_error(f"bucket_by: all rows of {name!r} have the same number of values")
    is_single = tensor.kind == "dense" or (tensor.kind == "sparse" and not tensor.index_columns)
    return tensor.steps, is_single


def as_label(label: str | None, as_batches: bool) -> str | None:
    if label is not None and not isinstance(label, str):
        raise TypeError(f"label must be a str, not {type(label).__name__}")
    if label is not None and as_batches:
        raise argument_error("label needs tensors; this dataset gives record batches")
    return label
