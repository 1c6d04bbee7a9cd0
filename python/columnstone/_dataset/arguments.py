"""Checks of the arguments of datasets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import _core
from .._base.arguments import integer
from .._base.errors import argument_error

if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    from .._tensor.adapter import PadsLike

    Shuffle: TypeAlias = "bool | Literal['global', 'window']"

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
}


def number(name: str, value: int, least: int, most: int) -> int:
    number = integer(name, value)
    if not least <= number <= most:
        raise argument_error(f"{name} is {number}, and must be from {least} to {most}")
    return number


def count(name: str, value: int) -> int:
    return number(name, value, 1, 2**61 - 1)


def part_of_state(name: str, value: Any) -> int:
    return number(name, value, -1 if name == "batch" else 0, 2**62 - 2)


def as_shuffle(shuffle: Shuffle) -> int:
    for name, number in _SHUFFLES.items():
        if type(shuffle) is type(name) and shuffle == name:
            return number
    raise argument_error(f'shuffle is False, True, "global" or "window", not {ascii(shuffle)[:40]}')


def as_interleave(interleave: int | None) -> int:
    return 0 if interleave is None else number("interleave", interleave, 1, 1024)


def as_shard(shard: tuple[int, int]) -> tuple[int, int]:
    if not isinstance(shard, tuple | list) or len(shard) != 2:
        raise TypeError("shard is a pair (i, n): this one of n shards")
    count = number("shard[1]", shard[1], 1, 2**32 - 1)
    return number("shard[0]", shard[0], 0, count - 1), count


def as_pad(pad: PadsLike) -> dict[str, Any] | None:
    if pad is not None and not isinstance(pad, Mapping):
        raise TypeError(f"pad is a dict by tensor name, not {type(pad).__name__}")
    return None if pad is None else dict(pad)


def as_label(label: str | None, as_batches: bool) -> str | None:
    if label is not None and not isinstance(label, str):
        raise TypeError(f"label is a str, not {type(label).__name__}")
    if label is not None and as_batches:
        raise argument_error("a label is split off tensors, not off record batches")
    return label
