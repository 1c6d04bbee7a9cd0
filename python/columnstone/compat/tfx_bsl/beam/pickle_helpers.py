"""Pickling with dill, which Beam uses."""

from __future__ import annotations

import types
from typing import Any

import dill

__all__ = ["dill", "fix_code_type_pickling", "types"]

# The arguments of types.CodeType, in order, in all versions of Python since 3.10
_ARGUMENTS = (
    *("argcount", "posonlyargcount", "kwonlyargcount", "nlocals", "stacksize", "flags", "code"),
    *("consts", "names", "varnames", "filename", "name", "qualname", "firstlineno", "linetable"),
    *("exceptiontable", "freevars", "cellvars"),
)


def fix_code_type_pickling() -> None:
    """Makes dill pickle code objects with the arguments of this Python's constructor: those that
    older versions of dill use create code that crashes."""
    present = [f"co_{name}" for name in _ARGUMENTS if hasattr(_a_code, f"co_{name}")]

    @dill.register(types.CodeType)
    def save_code(pickler: Any, code: types.CodeType) -> None:
        arguments = tuple(getattr(code, name) for name in present)
        pickler.save_reduce(types.CodeType, arguments, obj=code)


_a_code = fix_code_type_pickling.__code__
