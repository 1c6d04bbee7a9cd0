"""Splits rows into training and test by the hash of a key, with the same result everywhere and in
all versions."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from .._base.arguments import integer
from .._base.errors import UnsupportedError, argument_error
from .._base.public import public_in
from .table import record_batch

if TYPE_CHECKING:
    from .._core import RecordBatch


@public_in("columnstone.dataset")
def train_test_split(
    batch: Any, *, key: str, test_size: float = 0.2, seed: int = 0
) -> tuple[RecordBatch, RecordBatch]:
    """Splits the rows of a batch into those for training and those for the test, each in their
    order.

    The side of a row depends only on the value of its column `key` and on the seed; it does not
    depend on the batch, the file, the order or the format. All rows with the same key go to the
    same side, so that, for example, no user is in both. A larger test_size keeps the test rows of a
    smaller one.

    batch: a RecordBatch, or anything that `record_batch` accepts.
    key: a column of integers, strings or bytes, or of lists of them. A list of one value counts as
        that value, and a string as its UTF-8 bytes. All rows with a null key go to the same side.
    test_size: the share of the keys in the test, from 0 to 1.
    """
    number = integer("seed", seed)
    if not 0 <= number < 2**64:
        raise argument_error(f"seed is {number}, and must be from 0 to 2^64 - 1")
    if not 0 <= test_size <= 1:
        raise argument_error(f"test_size is {test_size}, and must be from 0 to 1")
    rows = record_batch(batch)
    bound = int(test_size * 2**64)
    sides: dict[bytes, bool] = {}
    test: list[bool] = []
    keys = rows.select([key]).column(0)  # a path through a list, which has other rows, is refused
    for value in keys.to_pylist():
        name = _name_of(value, key)
        if name not in sides:
            sides[name] = _hash(name, number) < bound
        test.append(sides[name])
    return rows.filter([not side for side in test]), rows.filter(test)


def _hash(name: bytes, seed: int) -> int:
    """Must never change: a change would move rows from one side to the other."""
    digest = hashlib.blake2b(name, digest_size=8, key=seed.to_bytes(8, "little")).digest()
    return int.from_bytes(digest, "little")


def _name_of(value: Any, key: str) -> bytes:
    """Bytes that are the same only for the same value."""
    if value is None:
        return b"null"
    if isinstance(value, bool | int):
        return b"int %d" % value
    if isinstance(value, str):
        return b"text " + value.encode("utf-8", "surrogateescape")
    if isinstance(value, bytes):
        return b"text " + value
    if isinstance(value, list) and len(value) == 1:
        return _name_of(value[0], key)
    if isinstance(value, list):
        names = [_name_of(one, key) for one in value]
        return b"list" + b"".join(b" %d %s" % (len(name), name) for name in names)
    hint = "convert it to integers or strings"
    raise UnsupportedError(
        f"keys of type {type(value).__name__} are not supported ({hint})", path=key, hint=hint
    )
