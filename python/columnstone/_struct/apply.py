"""Functions over values: StructuredTensor.apply with numpy, torch and JAX, and the comparisons of
leaf tensors."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

from .. import _core
from .._arrow.table import array, take_or_null
from .._base.errors import SchemaError, UnsupportedError, argument_error
from .._base.optional import need

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from .._core import Array, StructuredBase

    Path: TypeAlias = str | tuple[str, ...]

_KINDS = {"numpy": "numpy", "torch": "to_torch", "jax": "to_jax"}
_PLAIN = frozenset("bcCsSiIlLefguUzZ") | {"vu", "vz"}  # formats of values that a result may have


def apply_values(
    tensor: Any,
    fn: Callable[..., Any],
    paths: Sequence[Path],
    name: Path | None,
    using: str | None,
    replace: bool,
) -> tuple[StructuredBase, tuple[str, ...]]:
    """The field and its path."""
    if not paths:
        raise argument_error("apply() needs at least one path")
    if using is not None and using not in _KINDS:
        raise argument_error(f"using={using!r}", "numpy, torch or jax")
    steps = [_core.structured_steps(tensor, path) for path in paths]
    target = steps[0] if name is None else _core.structured_steps(tensor, name)
    sources = [_source(tensor, path) for path in steps]
    _check_parents(steps, target)
    _check_lists(sources, steps)
    if not replace and target[-1] in tensor[target[:-1]].field_names():
        hint = "replace it explicitly, or choose another name"
        raise argument_error(f"the field {'.'.join(target)!r} already exists", hint)
    values = [source.flat_values._array for source in sources]
    return _core.structured_with_elements(sources[0], _map(fn, values, using)), target


def compare(tensor: Any, other: Any, operator: Callable[[Any, Any], Any]) -> Any:
    """Compares the values of a leaf tensor with one value, or with the values of another leaf
    tensor with the same rows, as bools; null where either is null. NotImplemented if the other
    operand is not a value."""
    if hasattr(other, "flat_values") and other.rank == 0 and not other.field_names():
        other = other.to_py()
    if hasattr(other, "flat_values"):
        if other.field_names() or tensor.rank == 0:
            return NotImplemented
        _check_lists([tensor, other], [("the left",), ("the right",)])
        values = [tensor.flat_values._array, other.flat_values._array]
        if len(values[0]) != len(values[1]):
            raise argument_error(f"{len(values[0])} rows and {len(values[1])}")
        return _core.structured_with_elements(tensor, _map(operator, values, "numpy"))
    if (
        other is None
        or getattr(other, "ndim", 0) > 0
        or isinstance(other, list | tuple | dict | set)
    ):
        return NotImplemented
    values = [tensor.flat_values._array]
    made = _map(lambda v: operator(v, other), values, "numpy")
    return _core.structured_with_elements(tensor, made)


def _source(tensor: Any, path: tuple[str, ...]) -> Any:
    if not path:
        raise argument_error("an empty path names no field")
    source = tensor[path]
    if hasattr(source, "apply"):
        raise SchemaError(
            f"the field {'.'.join(path)!r} contains structs; a function needs plain values",
            path=".".join(path),
        )
    return source


# ---- checks ----


def _check_parents(steps: Sequence[tuple[str, ...]], target: tuple[str, ...]) -> None:
    for other in (*steps[1:], target):
        if other[:-1] != steps[0][:-1]:
            raise argument_error(
                f"{'.'.join(steps[0])!r} and {'.'.join(other)!r} belong to different structs",
                "promote or broadcast one first",
            )


def _check_lists(sources: Sequence[Any], steps: Sequence[tuple[str, ...]]) -> None:
    first = sources[0]
    for source, path in zip(sources[1:], steps[1:], strict=True):
        both = f"{'.'.join(path)!r} and {'.'.join(steps[0])!r}"
        if source.rank != first.rank:
            raise argument_error(f"{both} have {source.rank} and {first.rank} dimensions")
        pairs = zip(source.row_splits, first.row_splits, strict=True)
        for dim, (a, b) in enumerate(pairs):
            if bytes(memoryview(a)) != bytes(memoryview(b)):
                raise _other_lengths(both, first, dim, a.to_pylist(), b.to_pylist())


def _other_lengths(both: str, first: Any, dim: int, a: list[int], b: list[int]) -> Exception:
    from bisect import bisect_right

    at = next(i for i in range(len(a)) if a[i + 1] != b[i + 1])
    lengths = f"{a[at + 1] - a[at]} and {b[at + 1] - b[at]}"
    place = []
    for splits in reversed(first.row_splits[:dim]):
        starts = splits.to_pylist()
        above = bisect_right(starts, at) - 1
        place.append(at - starts[above])
        at = above
    row = [at, *reversed(place)]
    error = argument_error(f"row {row}: {both} have {lengths} values")
    error.record = row[0]
    return error


# ---- values ----


def _map(fn: Callable[..., Any], values: Sequence[Array], using: str | None) -> Array:
    np = need("numpy", "apply")
    nulls = [np.asarray(v.null_mask()) != 0 for v in values if v.null_count > 0]
    if not nulls:
        return _call(fn, values, using)
    present = ~np.logical_or.reduce(nulls)
    made = _call(fn, [v.filter(present) for v in values], using)
    rows = np.cumsum(present) - 1
    rows[~present] = -1
    return cast("Array", take_or_null(made, rows))


def _call(fn: Callable[..., Any], values: Sequence[Array], using: str | None) -> Array:
    method = _KINDS[using if using is not None else _framework(fn)]
    given = [getattr(_core.structured(v, False), method)() for v in values]
    return _values_of(fn(*given), len(values[0]))


def _framework(fn: Callable[..., Any]) -> str:
    """The framework, by the module of the function or of its classes."""
    modules = [getattr(fn, "__module__", None), *(c.__module__ for c in type(fn).__mro__)]
    owner = getattr(fn, "__self__", None)  # of methods, such as jax.numpy's and torch.special's
    if isinstance(owner, type):
        modules.append(owner.__module__)
    names = {str(module).partition(".")[0] for module in modules}
    if "torch" in names:
        return "torch"
    return "jax" if names & {"jax", "jaxlib"} else "numpy"


def _values_of(made: Any, count: int) -> Array:
    if hasattr(made, "detach"):  # of torch
        made = made.detach().cpu().numpy()
    elif "jax" in sys.modules and not hasattr(made, "__arrow_c_array__"):
        made = _plain(made)
    if getattr(made, "dtype", None) is not None and made.dtype.kind in "OU":
        made = made.tolist()
    shape = getattr(made, "shape", None)
    if shape == () or not (hasattr(made, "__len__") or shape) or isinstance(made, str | bytes):
        raise argument_error(
            f"the function returned one value for {count}", "it must return one value for each"
        )
    result = array(made)
    if len(result) != count:
        raise argument_error(f"the function returned {len(result)} values for {count}")
    format = result.schema.format
    if format not in _PLAIN and count > 0:
        hint = "return a bool, number, str or bytes for each value"
        raise UnsupportedError(
            f"the function returned values of type {result.type} ({hint})", hint=hint
        )
    return result


def _plain(made: Any) -> Any:
    np = need("numpy", "apply")
    return np.asarray(made) if hasattr(made, "__array__") else made
