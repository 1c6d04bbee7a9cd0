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
    """A bool for each element: True where it is null, or where its field at the path is. A path
    through lists gives the dimensions of the structs that have the field. Null rows stay null.

    >>> is_null([[1, None], None]).to_py()
    [[False, True], None]
    """
    return _core.structured_test_null(as_structured(tensor), path, False)


@public_in("columnstone.struct")
def has(tensor: object, path: Path) -> AnyStructured:
    """A bool for each element: True where its field at the path is there, which is neither null
    nor an empty list; of a null struct it is not. A path through lists is as that of is_null.

    >>> has([{"a": 1, "b": []}, {"a": None, "b": [2]}], "b").to_py()
    [False, True]
    """
    return _core.structured_test_null(as_structured(tensor), path, True)


@public_in("columnstone.struct")
def drop_null(tensor: object, path: Path = "") -> AnyStructured:
    """The tensor without the elements that are null, or whose field at the path is: the rows of the
    innermost dimension become shorter. Null rows stay null. ArgumentError for a scalar, and for a
    path through lists: drop the nulls of that field itself.

    >>> drop_null([[1, None], None, [2]]).to_py()
    [[1], None, [2]]
    """
    return _core.structured_drop_null(as_structured(tensor), path)


@public_in("columnstone.struct")
def fill_null(tensor: object, value: object) -> AnyStructured:
    """The tensor with a value in place of nulls.

    Of a leaf tensor: one value for all null elements, of the tensor's type (SchemaError if it is
    not); or [], which makes null rows empty, in all dimensions. Of a structured tensor: a dict of
    path -> value.

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
