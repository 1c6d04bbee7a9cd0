"""What structured tensors are and do, in plain Python: slow, clear, and sharing nothing with
Columnstone.

A tensor is its value (lists `rank` deep, None for a null list or element, a dict for a struct),
its rank, and the type of its elements. Tests compare what Columnstone makes of a value with what
stands here; paths are in nested_reference_paths.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Refused(Exception):
    """What must be an error."""


class BadIndex(Refused):
    """Must be an IndexError too."""


class NoField(Refused):
    """Must be a KeyError too."""


class Leaf(NamedTuple):
    kind: str  # "bool", "int", "float", "text", "bytes"


class Struct(NamedTuple):
    fields: dict[str, Any]


class List(NamedTuple):
    item: Any


Type = Leaf | Struct | List


class Tensor(NamedTuple):
    value: Any
    rank: int
    element: Leaf | Struct


class IndexArray(NamedTuple):
    """An integer or boolean array as index: its values in row-major order, None for null."""

    shape: tuple[int, ...]
    values: list[Any]
    is_bool: bool = False
    size: int | None = None  # of the coordinates of a mask: how long the rows must be


def levels(kind: Type) -> tuple[int, Leaf | Struct]:
    """How many lists a type has at the top, and what is below them."""
    count = 0
    while isinstance(kind, List):
        kind, count = kind.item, count + 1
    return count, kind


def lists(count: int, kind: Type) -> Type:
    for _ in range(count):
        kind = List(kind)
    return kind


def each(value: Any, depth: int, f: Callable[[Any], Any]) -> Any:
    """f of everything that is `depth` lists down; a null list stays null."""
    if depth == 0:
        return f(value)
    return None if value is None else [each(v, depth - 1, f) for v in value]


def flat(value: Any, depth: int) -> list[Any]:
    """Everything that is `depth` lists down, in order; null lists hold nothing."""
    if depth == 0:
        return [value]
    return [x for v in value or [] for x in flat(v, depth - 1)]


def shape(t: Tensor) -> tuple[int | None, ...]:
    """The number of a dimension whose rows all have one length, None if they differ, if one is
    null, or if there is no row."""
    sizes: list[int | None] = []
    for depth in range(t.rank):
        rows = flat(t.value, depth)
        lengths = {None if row is None else len(row) for row in rows}
        sizes.append(lengths.pop() if len(lengths) == 1 else None)
    return tuple(sizes)


def number(t: Tensor, axis: int, more: int = 0) -> int:
    """A dimension's number; negative ones count from the end."""
    count = t.rank + more
    if not -count <= axis < count:
        raise Refused(f"axis {axis} of {count} dimensions")
    return axis % count


# --- names ------------------------------------------------------------------------------------


def steps_of(element: Type, path: str | Sequence[str]) -> tuple[str, ...]:
    """The steps of a path from a struct. Of text, a name as a whole comes first, then the longest
    one up to a dot, and the rest below it."""
    if not isinstance(path, str):
        kind: Type = element
        for step in path:
            kind = member(kind, step)
        return tuple(path)
    if path == "":
        return ()
    if not isinstance(element, Struct):
        raise Refused("a name of what has no fields")
    if path in element.fields:
        return (path,)
    for dot in (i for i in reversed(range(len(path))) if path[i] == "."):
        if path[:dot] in element.fields and path[dot + 1 :]:
            below = levels(element.fields[path[:dot]])[1]
            return (path[:dot], *steps_of(below, path[dot + 1 :]))
    raise NoField(path)


def member(kind: Type, name: str) -> Type:
    element = levels(kind)[1]
    if not isinstance(element, Struct):
        raise Refused("a name of what has no fields")
    if name not in element.fields:
        raise NoField(name)
    return element.fields[name]


def project(t: Tensor, path: str | Sequence[str]) -> Tensor:
    """The field at a path: the tensor's dimensions, then the field's own."""
    for step in steps_of(t.element, path):
        below, element = levels(member(t.element, step))
        value = each(t.value, t.rank, lambda e, step=step: None if e is None else e[step])
        t = Tensor(value, t.rank + below, element)
    return t


def keep(t: Tensor, names: Sequence[str]) -> Tensor:
    """Only these fields of a struct tensor."""
    if not isinstance(t.element, Struct):
        raise Refused("names of what has no fields")
    for name in names:
        if name not in t.element.fields:
            raise NoField(name)
    value = each(t.value, t.rank, lambda e: None if e is None else {n: e[n] for n in names})
    return Tensor(value, t.rank, Struct({n: t.element.fields[n] for n in names}))


# --- indexing ---------------------------------------------------------------------------------


def index(t: Tensor, key: Any) -> Tensor:
    """t[key]: names first, then what is left goes to the dimensions from left to right."""
    items = key if isinstance(key, tuple) else (key,)
    t, items = take_names(t, items)
    items = fill_dots(items, t.rank)
    if items and isinstance(items[0], Tensor):
        return pick_by_row(t, items[0], items[1:])
    return pick(t, items)


def dimensions_of(item: Any) -> int:
    """How many dimensions an item addresses."""
    if item is None or item is Ellipsis:
        return 0
    if isinstance(item, Tensor):
        return item.rank
    return len(item.shape) if isinstance(item, IndexArray) and item.is_bool else 1


def take_names(t: Tensor, items: Sequence[Any]) -> tuple[Tensor, list[Any]]:
    positional: list[Any] = []
    for item in items:
        if isinstance(item, str | list):
            if sum(map(dimensions_of, positional)) > t.rank:
                raise BadIndex(f"an item before {item!r} addresses a dimension that comes after it")
            t = project(t, item) if isinstance(item, str) else keep(t, item)
        else:
            positional.append(item)
    return t, positional


def fill_dots(items: list[Any], rank: int) -> list[Any]:
    """`...` stands for whole dimensions; without one they follow at the end."""
    missing = rank - sum(map(dimensions_of, items))
    if missing < 0:
        raise BadIndex(f"too many indices for {rank} dimensions")
    at = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(at) > 1:
        raise BadIndex("two ...")
    if not at:
        return [*items, *[slice(None)] * missing]
    # `...` separates arrays even where it stands for nothing, as numpy's does.
    return [*items[: at[0]], *([slice(None)] * missing or [Ellipsis]), *items[at[0] + 1 :]]


def pick(t: Tensor, items: list[Any]) -> Tensor:
    """What basic items and numpy's arrays choose."""
    if not any(isinstance(i, IndexArray) for i in items):
        kept = sum(i is None or isinstance(i, slice) for i in items)
        return Tensor(walk(t.value, items), kept, t.element)
    items = [part for i in items for part in as_integers(i)]
    arrays = [n for n, i in enumerate(items) if isinstance(i, IndexArray)]
    shared = broadcast_shape([items[n].shape for n in arrays])
    first, last = arrays[0], arrays[-1] + 1
    adjacent = last - first == len(arrays)
    kept = sum(i is None or isinstance(i, slice) for i in items) + len(shared)
    before = items[:first] if adjacent else []
    chosen = items[first:] if adjacent else items

    def at(v: Any, place: tuple[int, ...]) -> Any:
        here = [value_at(i, place) if isinstance(i, IndexArray) else i for i in chosen]
        return walk(v, here)

    def block(v: Any) -> Any:
        if v is None and shared:
            return None
        check_masks([v], chosen)
        return nest(shared, lambda place: at(v, place))

    return Tensor(walk(t.value, before, block), kept, t.element)


class Coordinate(NamedTuple):
    """One value of an index array; size is what the row's length must be, of a mask."""

    value: int | None
    size: int | None


def as_integers(item: Any) -> list[Any]:
    """An int as an array without dimensions, a mask as the coordinates of its true values."""
    if isinstance(item, int):
        return [IndexArray((), [item])]
    if not isinstance(item, IndexArray) or not item.is_bool:
        return [item]
    places = itertools.product(*[range(n) for n in item.shape])
    true = [place for place, v in zip(places, item.values, strict=True) if v]
    return [
        IndexArray((len(true),), [place[d] for place in true], size=item.shape[d])
        for d in range(len(item.shape))
    ]


def broadcast_shape(shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(s)) + s for s in shapes]
    result = []
    for sizes in zip(*padded, strict=True):
        others = {n for n in sizes if n != 1}
        if len(others) > 1:
            raise BadIndex("index arrays do not broadcast together")
        result.append(others.pop() if others else 1)
    return tuple(result)


def value_at(array: IndexArray, place: tuple[int, ...]) -> Coordinate:
    """An array's value at a place of the shape that it broadcasts to."""
    own = place[len(place) - len(array.shape) :]
    n = 0
    for position, size in zip(own, array.shape, strict=True):
        n = n * size + (position if size != 1 else 0)
    return Coordinate(array.values[n], array.size)


def check_masks(rows: list[Any], items: list[Any]) -> None:
    """Rows are as long as a mask, whether or not it has a true value."""
    for item in items:
        rows = [row for row in rows if row is not None]
        if isinstance(item, IndexArray) and item.size is None:
            return  # what it does not choose need not fit
        if isinstance(item, IndexArray):
            same_length(*rows, range(item.size))
        if item is not None and item is not Ellipsis:
            rows = [x for row in rows for x in (row[item] if isinstance(item, slice) else row)]


def nest(
    sizes: tuple[int, ...], f: Callable[[tuple[int, ...]], Any], at: tuple[int, ...] = ()
) -> Any:
    if not sizes:
        return f(at)
    return [nest(sizes[1:], f, (*at, i)) for i in range(sizes[0])]


def walk(v: Any, items: Sequence[Any], end: Callable[[Any], Any] = lambda v: v) -> Any:
    """What ints, slices and None choose of nested lists; a null list stays null."""
    if not items:
        return end(v)
    item, rest = items[0], items[1:]
    if item is Ellipsis:  # what is left of it separates arrays, and no more
        return walk(v, rest, end)
    if item is None:
        return [walk(v, rest, end)]
    if isinstance(item, slice):
        return None if v is None else [walk(x, rest, end) for x in v[item]]
    if isinstance(item, int):
        item = Coordinate(item, None)
    if v is None or item.value is None:
        return walk(None, rest, end)
    return walk(v[checked(item, len(v))], rest, end)


def checked(item: Coordinate, length: int) -> int:
    if item.size is not None and item.size != length:
        raise BadIndex(f"a mask of {item.size} for {length}")
    if not -length <= item.value < length:
        raise BadIndex(f"{item.value} of {length}")
    return item.value


def pick_by_row(t: Tensor, by: Tensor, rest: list[Any]) -> Tensor:
    """A tensor of rank >= 2 as index: row by row, its structure stays."""

    def rows(v: Any, i: Any, depth: int) -> Any:
        if v is None or i is None:
            return None
        if depth == 1 and by.element.kind == "bool":
            same_length(v, i)
            return [walk(x, rest) for x, keep in zip(v, i, strict=True) if keep]
        if depth == 1:
            return [walk(v, [Coordinate(n, None), *rest]) for n in i]
        same_length(v, i)
        return [rows(a, b, depth - 1) for a, b in zip(v, i, strict=True)]

    kept = by.rank + sum(i is None or isinstance(i, slice) for i in rest)
    return Tensor(rows(t.value, by.value, by.rank), kept, t.element)


def same_length(*rows: Any) -> None:
    if len({len(row) for row in rows}) > 1:
        raise BadIndex(f"rows of {[len(row) for row in rows]}")


# --- operations -------------------------------------------------------------------------------


def together(values: list[Any], depth: int, f: Callable[[list[Any]], Any]) -> Any:
    """f of what stands at one place of several values, `depth` lists down. A null list counts as an
    empty one, and if all are null the result is null; lengths must agree."""
    if depth == 0:
        return f(values)
    if all(v is None for v in values):
        return None
    rows = [v or [] for v in values]
    if len({len(row) for row in rows}) > 1:
        raise Refused(f"rows of {[len(row) for row in rows]}")
    return [together(list(column), depth - 1, f) for column in zip(*rows, strict=True)]


def concat(tensors: list[Tensor], axis: int = 0) -> Tensor:
    first = tensors[0]
    axis = number(first, axis)

    def join(rows: list[Any]) -> Any:
        return None if all(r is None for r in rows) else [x for r in rows for x in r or []]

    return first._replace(value=together([t.value for t in tensors], axis, join))


def stack(tensors: list[Tensor], axis: int = 0) -> Tensor:
    first = tensors[0]
    axis = number(first, axis, 1)
    value = together([t.value for t in tensors], axis, lambda row: list(row))
    return first._replace(value=value, rank=first.rank + 1)


def unstack(t: Tensor, axis: int = 0) -> list[Tensor]:
    axis = number(t, axis)
    size = shape(t)[axis]
    if size is None:
        raise Refused("rows of different lengths")
    before = [slice(None)] * axis
    return [Tensor(walk(t.value, [*before, i]), t.rank - 1, t.element) for i in range(size)]


def tile(t: Tensor, multiples: Sequence[int]) -> Tensor:
    if len(multiples) != t.rank or any(m < 0 for m in multiples):
        raise Refused("one multiple for each dimension")

    def go(v: Any, left: Sequence[int]) -> Any:
        if not left or v is None:
            return v
        return [go(x, left[1:]) for x in v] * left[0]

    return t._replace(value=go(t.value, multiples))


def expand_dims(t: Tensor, axis: int) -> Tensor:
    axis = number(t, axis, 1)
    return t._replace(value=each(t.value, axis, lambda v: [v]), rank=t.rank + 1)


def squeeze(t: Tensor, axis: int | Sequence[int] | None = None) -> Tensor:
    """Without dimensions whose lists all hold one thing; a null list becomes a null of what it
    would hold."""
    if axis is None:
        axes = [d for d, n in enumerate(shape(t)) if n == 1]
    else:
        axes = [number(t, a) for a in ([axis] if isinstance(axis, int) else axis)]
    for a in sorted(set(axes), reverse=True):
        if any(row is not None and len(row) != 1 for row in flat(t.value, a)):
            raise Refused("a dimension that is not 1")
        value = each(t.value, a, lambda v: None if v is None else v[0])
        t = t._replace(value=value, rank=t.rank - 1)
    return t


def reverse(t: Tensor, axis: int | Sequence[int]) -> Tensor:
    for a in {number(t, a) for a in ([axis] if isinstance(axis, int) else axis)}:
        t = t._replace(value=each(t.value, a, lambda v: None if v is None else v[::-1]))
    return t


def size(t: Tensor) -> int:
    return len(flat(t.value, t.rank))


def gather(t: Tensor, indices: Tensor, axis: int = 0, batch_dims: int = 0) -> Tensor:
    axis = number(t, axis)
    if batch_dims < 0:
        batch_dims += indices.rank
    if not 0 <= batch_dims <= min(axis, indices.rank):
        raise Refused("batch_dims")

    def one(row: Any, i: int | None) -> Any:
        return None if i is None else row[checked(Coordinate(i, None), len(row))]

    def rows(v: Any, i: Any, axis: int, batch: int) -> Any:
        if v is None:
            return None
        if batch:
            if i is None:
                return None
            same_length(v, i)
            return [rows(a, b, axis - 1, batch - 1) for a, b in zip(v, i, strict=True)]
        if axis:
            return [rows(a, i, axis - 1, 0) for a in v]
        return each(i, indices.rank - batch_dims, lambda n: one(v, n))

    rank = t.rank - 1 + indices.rank - batch_dims
    return Tensor(rows(t.value, indices.value, axis, batch_dims), rank, t.element)


def batch_gather(t: Tensor, indices: Tensor) -> Tensor:
    return gather(t, indices, indices.rank - 1, indices.rank - 1)


def gather_nd(t: Tensor, indices: Tensor, batch_dims: int = 0) -> Tensor:
    depth = shape(indices)[-1] if indices.rank else None
    if depth is None or batch_dims + depth > t.rank or batch_dims >= indices.rank:
        raise Refused("coordinates")

    def rows(v: Any, i: Any, batch: int) -> Any:
        if batch:
            if v is None or i is None:
                return None
            same_length(v, i)
            return [rows(a, b, batch - 1) for a, b in zip(v, i, strict=True)]
        return each(i, indices.rank - 1 - batch_dims, lambda at: one(v, at))

    def one(v: Any, at: Any) -> Any:
        return None if at is None else walk(v, [Coordinate(n, None) for n in at])

    rank = indices.rank - 1 + t.rank - batch_dims - depth
    return Tensor(rows(t.value, indices.value, batch_dims), rank, t.element)


def boolean_mask(t: Tensor, mask: Tensor, axis: int = 0) -> Tensor:
    axis = number(t, axis)
    if mask.rank < 1 or axis + mask.rank > t.rank:
        raise Refused("a mask of too many dimensions")

    def chosen(v: Any, m: Any, depth: int) -> list[Any]:
        if depth == 0:
            return [v] if m else []
        v, m = v or [], m or []
        same_length(v, m)
        return [x for a, b in zip(v, m, strict=True) for x in chosen(a, b, depth - 1)]

    def row(v: Any) -> Any:
        return None if v is None else chosen(v, mask.value, mask.rank)

    return Tensor(each(t.value, axis, row), t.rank - mask.rank + 1, t.element)


def mask(t: Tensor, condition: Tensor) -> Tensor:
    """In its shape, null where the condition is not true."""
    if condition.rank > t.rank:
        raise Refused("a condition of too many dimensions")

    def go(v: Any, c: Any, depth: int) -> Any:
        if v is None or c is None:
            return None
        if depth == 0:
            return v if c else None
        same_length(v, c)
        return [go(a, b, depth - 1) for a, b in zip(v, c, strict=True)]

    return t._replace(value=go(t.value, condition.value, condition.rank))


def where(cond: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Whole parts of x or y for each value of cond; scalars broadcast."""

    def choose(c: Any, a: Any, b: Any, depth: int) -> Any:
        if c is None:
            return None
        if depth == 0:
            return a if c else b
        a, b = a or [], b or []
        same_length(c, a, b)
        return [choose(*row, depth - 1) for row in zip(c, a, b, strict=True)]

    def spread(t: Tensor) -> Any:
        return each(cond.value, cond.rank, lambda _: t.value) if t.rank == 0 else t.value

    rank = max(x.rank, y.rank, cond.rank)
    return Tensor(choose(cond.value, spread(x), spread(y), cond.rank), rank, x.element)


def where_true(cond: Tensor) -> list[list[int]]:
    """The coordinates of what is true, in order."""

    def go(v: Any, depth: int, at: list[int]) -> list[list[int]]:
        if depth == 0:
            return [at] if v else []
        return [place for i, x in enumerate(v or []) for place in go(x, depth - 1, [*at, i])]

    return go(cond.value, cond.rank, [])


def leaves(value: Any, kind: Type, f: Callable[[Any], Any]) -> Any:
    """f of every value that is no list, struct or null."""
    if value is None:
        return None
    if isinstance(kind, List):
        return [leaves(v, kind.item, f) for v in value]
    if isinstance(kind, Struct):
        return {name: leaves(value[name], below, f) for name, below in kind.fields.items()}
    return f(value)


def zeros_like(t: Tensor) -> Tensor:
    """Every leaf 0, false or empty; nulls stay."""

    def zero(v: Any) -> Any:
        return type(v)()

    return t._replace(value=leaves(t.value, lists(t.rank, t.element), zero))


def ones_like(t: Tensor) -> Tensor:
    """Every leaf 1 or true; text has no 1."""

    def one(v: Any) -> Any:
        return type(v)(1)

    if has_text(t.element):
        raise Refused("no 1 of text")
    return t._replace(value=leaves(t.value, lists(t.rank, t.element), one))


def has_text(kind: Type) -> bool:
    if isinstance(kind, Struct):
        return any(map(has_text, kind.fields.values()))
    element = levels(kind)[1]
    return has_text(element) if isinstance(element, Struct) else element.kind in ("text", "bytes")


def merge_dims(t: Tensor, outer: int, inner: int) -> Tensor:
    """Dimensions outer to inner as one; null lists in them contribute nothing, a null outermost is
    null."""
    outer, inner = number(t, outer), number(t, inner)
    if outer > inner:
        raise Refused("the outer dimension stands after the inner one")

    def merged(v: Any) -> Any:
        return None if v is None else flat(v, inner - outer + 1)

    return Tensor(each(t.value, outer, merged), t.rank - (inner - outer), t.element)


def partition_outer_dimension(t: Tensor, splits: Sequence[int]) -> Tensor:
    if (
        splits[0] != 0
        or splits[-1] != len(t.value)
        or any(a > b for a, b in itertools.pairwise(splits))
    ):
        raise Refused("splits")
    rows = [t.value[a:b] for a, b in itertools.pairwise(splits)]
    return Tensor(rows, t.rank + 1, t.element)


# --- nulls ------------------------------------------------------------------------------------


def fill_null(t: Tensor, fill: Any) -> Tensor:
    """Null elements become a value, or null lists empty ones with []."""

    def go(v: Any, depth: int) -> Any:
        if depth == 0:
            return fill if v is None and fill != [] else v
        if v is None:
            return [] if fill == [] else None
        return [go(x, depth - 1) for x in v]

    return t._replace(value=go(t.value, t.rank))


def is_null(t: Tensor) -> Tensor:
    return Tensor(each(t.value, t.rank, lambda v: v is None), t.rank, Leaf("bool"))


def field_of(element: Any, steps: Sequence[str]) -> Any:
    """A field of one struct through structs; null where one is null."""
    for step in steps:
        if element is None:
            return None
        element = element[step]
    return element


def drop_null(t: Tensor, path: str | Sequence[str] | None = None) -> Tensor:
    """The innermost dimension loses what is null, or whose field is."""
    steps = () if path is None else steps_of(t.element, path)

    def row(v: Any) -> Any:
        return None if v is None else [x for x in v if field_of(x, steps) is not None]

    return t._replace(value=each(t.value, t.rank - 1, row))


def has(t: Tensor, path: str | Sequence[str]) -> Tensor:
    """Of each element: is the field there, and not an empty list."""
    steps = steps_of(t.element, path)
    value = each(t.value, t.rank, lambda v: field_of(v, steps) not in (None, []))
    return Tensor(value, t.rank, Leaf("bool"))
