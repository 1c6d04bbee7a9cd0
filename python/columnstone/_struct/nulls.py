"""Operations on nulls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from .. import _core
from .._arrow.table import fill_of
from .._base.errors import ArgumentError
from .._base.public import public_in
from .as_structured import as_structured

if TYPE_CHECKING:
    from typing import TypeAlias

    from .._core import AnyStructured

    Path: TypeAlias = str | tuple[str, ...]


@public_in("columnstone.struct")
def is_null(tensor: object, path: Path = "") -> AnyStructured:
    """Tests each element: True if it is null or, with a path, if its field there is null. With a
    path through lists, the result has the dimensions of the structs with the field. Null rows
    remain null.

    >>> is_null([[1, None], None]).to_py()
    [[False, True], None]
    """
    return _core.structured_test_null(as_structured(tensor), path, False)


@public_in("columnstone.struct")
def has(tensor: object, path: Path) -> AnyStructured:
    """Tests each element: True if its field at the path is neither null nor an empty list; False
    for a null struct. For a path through lists, see is_null.

    >>> has([{"a": 1, "b": []}, {"a": None, "b": [2]}], "b").to_py()
    [False, True]
    """
    return _core.structured_test_null(as_structured(tensor), path, True)


@public_in("columnstone.struct")
def drop_null(tensor: object, path: Path = "") -> AnyStructured:
    """Removes the elements that are null or, with a path, whose field there is null: the rows of
    the innermost dimension become shorter. Null rows remain null. ArgumentError for a scalar, and
    for a path through lists: drop the nulls of that field itself.

    >>> drop_null([[1, None], None, [2]]).to_py()
    [[1], None, [2]]
    """
    return _core.structured_drop_null(as_structured(tensor), path)


@public_in("columnstone.struct")
def fill_null(tensor: object, value: object) -> AnyStructured:
    """Replaces nulls with a value.

    For a leaf tensor, the value replaces all null elements; it must fit the tensor's type
    (otherwise SchemaError). The value [] makes null rows empty, in all dimensions. For a structured
    tensor, pass a dict of path -> value.

    >>> fill_null([[1, None], None], 0).to_py()
    [[1, 0], None]
    >>> fill_null([[1, None], None], []).to_py()
    [[1, None], []]
    """
    structured = as_structured(tensor)
    if isinstance(value, Mapping):
        changes = {path: fill_null(structured[path], one) for path, one in value.items()}
        return cast("AnyStructured", cast("Any", structured).with_updates(changes))
    if isinstance(value, list | tuple) and not value:
        return _core.structured_fill_null(structured, None)
    if structured.field_names():
        raise ArgumentError(
            "the elements are structs: give a dict of path -> value, such as "
            f"{{{structured.field_names()[0]!r}: {value!r}}}"
        )
    fill = fill_of(structured.flat_values.schema, value)
    return _core.structured_fill_null(structured, fill)
