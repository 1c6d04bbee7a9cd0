"""Capsules of the Arrow C data interface, made and read with ctypes: for pyarrow before version 14,
which has only pointers. Apart from `pointers`, because nothing else needs ctypes."""

from __future__ import annotations

import ctypes
import functools
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable

# The sizes of ArrowSchema, ArrowArray and ArrowArrayStream, and the offset of `release` in them.
_SIZES = {b"arrow_schema": (72, 56), b"arrow_array": (80, 64), b"arrow_array_stream": (40, 24)}

_new_capsule = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", ctypes.pythonapi))
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
# The same for a capsule that is being freed: Python must not count references to it any more.
_pointer_of_dying = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_held: dict[int, Any] = {}  # address -> the memory of a structure that a capsule owns


def capsule(name: bytes, export: Callable[[int], None]) -> object:
    """A capsule that owns the structure that `export` fills."""
    memory = ctypes.create_string_buffer(_SIZES[name][0])
    at = ctypes.addressof(memory)
    export(at)
    _held[at] = memory
    return _new_capsule(at, _NAMES[name], ctypes.cast(_destructor(name), ctypes.c_void_p))


def address(owner: object, name: bytes) -> int:
    """The pointer to the structure of a capsule, valid as long as the capsule lives."""
    return cast("int", _pointer_of(owner, name))


@functools.cache
def _destructor(name: bytes) -> Any:
    """Created when needed, because it takes executable memory, which some systems refuse."""

    def destroy(dying: int) -> None:
        at = _pointer_of_dying(dying, name)
        release = ctypes.c_void_p.from_address(at + _SIZES[name][1]).value
        if release:  # nobody has moved it out
            _Release(release)(at)
        del _held[at]

    return ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(destroy)


_NAMES = {name: ctypes.c_char_p(name) for name in _SIZES}  # which capsules point to
