"""Columnstone's errors as the classes that tfx_bsl raises."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..._base.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def raising(kind: type[Exception], before: str = "") -> Iterator[None]:
    """Inside it, a columnstone.Error becomes an error of this kind, with its text after `before`,
    and with the original as the cause."""
    try:
        yield
    except Error as error:
        raise kind(before + str(error)) from error
