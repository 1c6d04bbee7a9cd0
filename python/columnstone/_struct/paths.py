"""Adding, removing and moving fields of structured tensors."""

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
    """The methods of structured tensors on the fields at their paths.

    A path is a str, whose steps are separated by dots unless a field's name contains them, or a
    tuple of steps. All methods return a new tensor, which shares the unchanged parts with this one.
    """

    __slots__ = ()

    def with_updates(
        self: Tensor, mapping: Mapping[Path, Any] | None = None, /, **fields: Any
    ) -> Tensor:
        """Adds fields, or replaces their values, by path.

        A value is a structured tensor, Arrow data, a numpy array or a list. Its dimensions must
        begin with those of the structs that it is added to: otherwise ArgumentError with the row
        (null lists count as empty). A scalar is used for all structs: bool, int, float, str, bytes,
        a dict, or a tensor of rank 0. A function is called with the present field, and returns the
        value.

        Existing fields keep their order; new ones come last. A null struct stays null, whatever the
        value has at its position. KeyError for structs that do not exist.
        """
        updates: dict[Path, Any] = dict(mapping or {})
        updates.update(fields)
        values = tuple(self._value_at(path, value) for path, value in updates.items())
        return _core.structured_update(self, tuple(updates), values)  # type: ignore[no-any-return]

    def without(self: Tensor, *paths: Path) -> Tensor:
        """Removes the fields at these paths. KeyError for a path that does not exist."""
        return _core.structured_update(self, paths, (None,) * len(paths))  # type: ignore[no-any-return]

    def with_only(self: Tensor, *paths: Path) -> Tensor:
        """Keeps only the fields at these paths, in this order; structs on the way keep only what
        the paths lead to. KeyError for a path that does not exist."""
        return _core.structured_only(self, paths)  # type: ignore[no-any-return]

    def promote(
        self: Tensor,
        path: Path,
        to: Path | None = None,
        name: str | None = None,
        *,
        replace: bool = False,
    ) -> Tensor:
        """Promotes the field at `path` (values or structs) to a field of the structs at `to`, which
        are above its own: each of them gets everything below it, in order, as one list.

        `to` is the parent of the field's struct by default; "" is the top. `name` is the field's
        own name by default. The lists between `to` and the field's struct, and the outermost level
        of the field itself, are merged into one; deeper lists of the field stay. Without lists
        between, the field is unchanged. A null outermost list gives null, null lists below it count
        as empty, null values remain null. ArgumentError if a field with this name exists, unless
        `replace`.
        """
        copies = ((path, to, name),)
        return _core.structured_promote(self, copies, replace)  # type: ignore[no-any-return]

    def broadcast(
        self: Tensor, path: Path, into: Path, name: str | None = None, *, replace: bool = False
    ) -> Tensor:
        """Broadcasts the field at `path` to a field of the structs at `into`, which are below its
        own: each gets the value (or list, or struct) of the struct that contains it.

        `name` is the field's own name by default. The time is proportional to the size of the
        result, at any nesting level. ArgumentError if a field with this name exists, unless
        `replace`.
        """
        copies = ((path, into, name),)
        return _core.structured_broadcast(self, copies, replace)  # type: ignore[no-any-return]

    def promote_and_broadcast(
        self: Tensor, fields: Mapping[str, Path], into: Path, *, replace: bool = False
    ) -> Tensor:
        """Adds fields to the structs at `into`, from those at other paths: {name: path}.

        Each field is promoted to the nearest struct that contains both, and broadcast from there.
        Therefore a field below `into` is promoted to it, a field above is broadcast into it, and a
        field of the same structs gets another name. All paths refer to this tensor, even if fields
        are replaced. ArgumentError if a field with this name exists, unless `replace`.
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
        """Applies a function to the values at some paths, and stores the result at the path `name`.

        The paths lead to fields of plain values of the same structs, whose lists have the same
        lengths. `fn` is called once, with all values of each path: as one-dimensional numpy arrays
        (str and bytes as objects), or as selected by `using`: torch tensors or JAX arrays. Without
        `using`, a function of torch or of JAX, or a torch module, gets its own kind. It must return
        an array with the same number of values: bool, integers, floats, str or bytes.

        If one of the values is null, `fn` gets none of them, and the result is null. The result has
        the lists of the first path. `name` is a field of the same structs; by default, the first
        path itself is replaced. ArgumentError for lists of different lengths (with the row), for
        another number of values, and if a field with this name exists, unless `replace`;
        SchemaError for fields of structs.
        """
        from .apply import apply_values

        made, target = apply_values(self, fn, paths, name, using, replace)
        return _core.structured_update(self, (target,), (made,))  # type: ignore[no-any-return]

    def _value_at(self, path: Path, value: Any) -> StructuredBase:
        given = value(self[path]) if callable(value) else value
        if given is None:
            hint = "to remove a field, use without(); for nulls, pa.nulls(n, type)"
            raise argument_error(f"the value of {path!r} is None, which has no type", hint)
        return as_structured(given)
