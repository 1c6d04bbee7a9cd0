"""Fields that come, go and move within structured tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from .. import _core
from .._base.errors import argument_error
from .._core import StructuredBase
from .as_structured import as_structured

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Path: TypeAlias = "str | tuple[str, ...]"
Tensor = TypeVar("Tensor", bound="PathOperations")


class PathOperations(StructuredBase):
    """What a structured tensor does with the fields at its paths.

    A path is a str, whose dots divide its steps unless a field's name has them, or a tuple of
    steps. All methods give a new tensor, which shares with this one what has not changed.
    """

    __slots__ = ()

    def with_updates(
        self: Tensor, mapping: Mapping[Path, Any] | None = None, /, **fields: Any
    ) -> Tensor:
        """The tensor with fields added, or given other values, by their paths.

        A value is a structured tensor, Arrow data, a numpy array or a list, and its dimensions
        begin with those of the structs that get it: ArgumentError, with the row, where they differ
        (null lists count as empty). A scalar is the value of all structs: bool, int, float, str,
        bytes, a dict, or a tensor of rank 0. A function is called with the field as it is, and
        gives the value.

        Fields keep their places, new ones come last. A null struct stays null, whatever the value
        has in its place. KeyError for structs that there are not.
        """
        updates: dict[Path, Any] = dict(mapping or {})
        updates.update(fields)
        values = tuple(self._value_at(path, value) for path, value in updates.items())
        return _core.structured_update(self, tuple(updates), values)  # type: ignore[no-any-return]

    def without(self: Tensor, *paths: Path) -> Tensor:
        """The tensor without the fields at these paths. KeyError for what is not there."""
        return _core.structured_update(self, paths, (None,) * len(paths))  # type: ignore[no-any-return]

    def with_only(self: Tensor, *paths: Path) -> Tensor:
        """The tensor with the fields at these paths alone, in this order; of structs on the way
        only what a path leads to. KeyError for what is not there."""
        return _core.structured_only(self, paths)  # type: ignore[no-any-return]

    def promote(
        self: Tensor,
        path: Path,
        to: Path | None = None,
        name: str | None = None,
        *,
        replace: bool = False,
    ) -> Tensor:
        """The field at `path` (values or structs) as a field of the structs at `to`, which are
        above its own: each gets all that lies below it, in order, as one list.

        `to` is the struct above that of the field if it is not given, "" the top; `name` is the
        field's own. The lists between `to` and the field's struct, and the outermost level of the
        field's own, become one; deeper lists of the field stay. Without lists between, it is the
        field as it is. A null outermost list gives null, null lists below it give nothing, null
        values stay null. ArgumentError for a field of this name, unless `replace`.
        """
        copies = ((path, to, name),)
        return _core.structured_promote(self, copies, replace)  # type: ignore[no-any-return]

    def broadcast(
        self: Tensor, path: Path, into: Path, name: str | None = None, *, replace: bool = False
    ) -> Tensor:
        """The field at `path` as a field of the structs at `into`, which are below its own: each
        gets the value (or list, or struct) of the struct that it lies in.

        `name` is the field's own if it is not given. Takes time in what is made, however it is
        nested. ArgumentError for a field of this name, unless `replace`.
        """
        copies = ((path, into, name),)
        return _core.structured_broadcast(self, copies, replace)  # type: ignore[no-any-return]

    def promote_and_broadcast(
        self: Tensor, fields: Mapping[str, Path], into: Path, *, replace: bool = False
    ) -> Tensor:
        """Fields of the structs at `into`, made of those at other paths: {name: path}.

        Each is promoted to the nearest struct that both have above them, and broadcast from there.
        So what lies below `into` is promoted to it, what lies above is broadcast into it, and
        a field of the same structs is had by another name. All paths are of this tensor, whatever
        is replaced. ArgumentError for a field of this name, unless `replace`.
        """
        copies = tuple((path, into, name) for name, path in fields.items())
        return _core.structured_promote_and_broadcast(  # type: ignore[no-any-return]
            self, copies, replace
        )

    def apply(
        self: Tensor,
        fn: Callable[..., Any],
        *paths: Path,
        name: Path | None = None,
        using: Literal["numpy", "torch", "jax"] | None = None,
        replace: bool = False,
    ) -> Tensor:
        """What a function makes of the values at some paths, as the field at the path `name`.

        The paths lead to fields of plain values of the same structs, whose lists have the same
        lengths. `fn` is called once, with all values of each one after the other: numpy arrays of
        one dimension (str and bytes as objects), or what `using` says: tensors of torch, arrays of
        JAX. Without `using`, a function of torch or of JAX, or a module of torch, is given its own.
        It gives as many values, in an array: bool, integers, floats, str or bytes.

        Where one of the values is null, `fn` does not see any, and the result is null. Its lists
        are those of the first path. `name` is a field of the same structs, the first path itself if
        it is not given. ArgumentError for lists of other lengths (with the row), for another number
        of values, for a field of this name unless `replace`; SchemaError for fields of structs.
        """
        from .apply import apply_values

        made, target = apply_values(self, fn, paths, name, using, replace)
        return _core.structured_update(self, (target,), (made,))  # type: ignore[no-any-return]

    def _value_at(self, path: Path, value: Any) -> StructuredBase:
        given = value(self[path]) if callable(value) else value
        if given is None:
            hint = "without() removes a field; pa.nulls(n, type) are nulls"
            raise argument_error(f"None has no type, as a value of {path!r}", hint)
        return as_structured(given)
