"""Random nested data: Arrow arrays together with the same as Python values.

Everything is made by functions of a random.Random; `randoms()` gives one that hypothesis shrinks.
Arrays come in every layout: 32- and 64-bit, fixed-size and view lists, slices with offsets, values
hidden below nulls, views that overlap or are out of order, no rows at all.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import columnstone as cst
import nested_reference as ref
import numpy as np
import pyarrow as pa
import pytest
from columnstone import _core
from hypothesis import settings
from hypothesis import strategies as st

UNKNOWN = "no such"
NAMES = ["a", "b", "c", "id", "a.b", "x y", "é"]
KINDS: dict[pa.DataType, str] = {
    pa.int64(): "int",
    pa.int8(): "int",
    pa.uint32(): "int",
    pa.float64(): "float",
    pa.float32(): "float",
    pa.bool_(): "bool",
    pa.string(): "text",
    pa.large_string(): "text",
    pa.binary(): "bytes",
}
MORE_KINDS = {
    **KINDS,
    pa.int16(): "int",
    pa.int32(): "int",
    pa.uint8(): "int",
    pa.uint16(): "int",
    pa.uint64(): "int",
    pa.large_binary(): "bytes",
}


class Made(NamedTuple):
    """An Arrow array and what it holds."""

    array: pa.Array
    values: list[Any]


class Data(NamedTuple):
    """A tensor: the Arrow array of its representation, and the reference's tensor."""

    array: pa.Array
    is_row: bool
    tensor: ref.Tensor

    def ours(self) -> Any:
        return nested(self.array, self.is_row)


def nested(array: pa.Array, is_row: bool = False) -> Any:
    """The Arrow array as Columnstone's tensor."""
    return _core.structured(cst.array(array), is_row)


# --- types ------------------------------------------------------------------------------------


class Shape(NamedTuple):
    """What types are made: how deep, with nulls or not."""

    depth: int = 3
    nulls: bool = True
    kinds: tuple[pa.DataType, ...] = tuple(KINDS)
    maps: bool = False


ANY = Shape()


def of_arrow(kind: pa.DataType) -> ref.Type:
    """The reference's name for an Arrow type."""
    if pa.types.is_struct(kind):
        return ref.Struct({f.name: of_arrow(f.type) for f in kind})
    if is_list(kind):
        return ref.List(of_arrow(kind.value_type))
    return ref.Leaf(MORE_KINDS[kind])


def is_list(kind: pa.DataType) -> bool:
    return (
        pa.types.is_list(kind)
        or pa.types.is_large_list(kind)
        or pa.types.is_fixed_size_list(kind)
        or pa.types.is_list_view(kind)
        or pa.types.is_large_list_view(kind)
    )


def random_type(r: Random, shape: Shape = ANY) -> pa.DataType:
    which = r.randrange(6) if shape.depth > 0 else 0
    below = shape._replace(depth=shape.depth - 1)
    if which == 1 and shape.maps and r.randrange(3):
        key = r.choice([pa.string(), pa.large_string(), pa.int32(), pa.int64(), pa.bool_()])
        return pa.map_(key, random_type(r, below))
    if which < 2:
        return r.choice(shape.kinds)
    if which < 4:
        return random_struct(r, below)
    return random_list(r, random_type(r, below))


def random_struct(r: Random, shape: Shape = ANY, least: int = 0) -> pa.DataType:
    names = r.sample(NAMES, r.randint(least, 3))
    return pa.struct([pa.field(n, random_type(r, shape)) for n in names])


def random_list(r: Random, item: pa.DataType) -> pa.DataType:
    which = r.randrange(6)
    if which == 0:
        return pa.list_(item, r.randrange(3))
    return [pa.list_, pa.large_list, pa.list_view, pa.large_list_view, pa.list_][which - 1](item)


def lists_of(r: Random, levels: int, item: pa.DataType) -> pa.DataType:
    for _ in range(levels):
        item = random_list(r, item)
    return item


# --- values -----------------------------------------------------------------------------------


def random_leaf(r: Random, kind: pa.DataType) -> Any:
    name = MORE_KINDS[kind]
    if name == "bool":
        return r.random() < 0.5
    if name == "int":
        low, high = (0, 200) if pa.types.is_unsigned_integer(kind) else (-100, 100)
        return r.randint(low, high)
    if name == "float":
        return r.randint(-64, 64) / 4  # exact in 32 bits
    text = r.choice(["", "a", "bc", "é", "long enough not to be inlined"])
    return text if name == "text" else text.encode()


def random_array(r: Random, kind: pa.DataType, length: int, nulls: bool = True) -> Made:
    """An array of a type, often a slice of a longer one."""
    before, after = (r.randrange(3), r.randrange(3)) if r.randrange(3) == 0 else (0, 0)
    made = whole_array(r, kind, before + length + after, nulls)
    return Made(made.array.slice(before, length), made.values[before : before + length])


def whole_array(r: Random, kind: pa.DataType, length: int, nulls: bool) -> Made:
    some = nulls and r.randrange(3) == 0
    missing = [some and r.randrange(3) == 0 for _ in range(length)]
    mask = pa.array(missing, pa.bool_()) if some else None
    if pa.types.is_struct(kind):
        parts = {f.name: random_array(r, f.type, length, nulls) for f in kind}
        rows: list[Any] = [{n: p.values[i] for n, p in parts.items()} for i in range(length)]
        made = struct_array(kind, [p.array for p in parts.values()], length, missing)
    elif is_list(kind):
        made, rows = list_array(r, kind, length, mask, nulls)
    elif pa.types.is_map(kind):
        made, rows = map_array(r, kind, length, mask, nulls)
    else:
        rows = [random_leaf(r, kind) for _ in range(length)]
        made = pa.array([None if m else v for m, v in zip(missing, rows, strict=True)], kind)
    return Made(made, [None if m else v for m, v in zip(missing, rows, strict=True)])


def struct_array(
    kind: pa.DataType, columns: list[pa.Array], length: int, missing: list[bool]
) -> pa.Array:
    validity = pa.array([not m for m in missing], pa.bool_()).buffers()[1] if any(missing) else None
    return pa.StructArray.from_buffers(kind, length, [validity], children=columns)


def map_array(
    r: Random, kind: pa.DataType, length: int, mask: pa.Array | None, nulls: bool
) -> tuple[pa.Array, list[Any]]:
    """A key may come twice."""
    starts = [0]
    for _ in range(length):
        starts.append(starts[-1] + r.choice([0, 1, 1, 2, 3]))
    keys = random_array(r, kind.key_type, starts[-1], nulls=False)
    items = random_array(r, kind.item_type, starts[-1], nulls)
    offsets = pa.array(starts, pa.int32())
    array = pa.MapArray.from_arrays(offsets, keys.array, items.array, type=kind, mask=mask)
    entries = [{"key": k, "value": v} for k, v in zip(keys.values, items.values, strict=True)]
    return array, [entries[a:b] for a, b in itertools.pairwise(starts)]


def list_array(
    r: Random, kind: pa.DataType, length: int, mask: pa.Array | None, nulls: bool
) -> tuple[pa.Array, list[Any]]:
    if pa.types.is_fixed_size_list(kind):
        size = kind.list_size
        items = random_array(r, kind.value_type, size * length, nulls)
        if size == 0 or mask is None:  # pyarrow's constructor knows neither the length nor the type
            validity = None
            if mask is not None:
                validity = pa.array([not m.as_py() for m in mask], pa.bool_()).buffers()[1]
            array = pa.FixedSizeListArray.from_buffers(
                kind, length, [validity], children=[items.array]
            )
        else:
            array = pa.FixedSizeListArray.from_arrays(items.array, type=kind, mask=mask)
        return array, [items.values[i * size : (i + 1) * size] for i in range(length)]
    sizes = [r.choice([0, 1, 1, 2, 3]) for _ in range(length)]
    start = r.randrange(3)
    starts = [start]
    for n in sizes:
        starts.append(starts[-1] + n)
    items = random_array(r, kind.value_type, starts[-1] + r.randrange(2), nulls)
    large = pa.types.is_large_list(kind) or pa.types.is_large_list_view(kind)
    width = pa.int64() if large else pa.int32()
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        make = pa.LargeListArray if large else pa.ListArray
        array = make.from_arrays(pa.array(starts, width), items.array, type=kind, mask=mask)
        return array, [items.values[a : a + n] for a, n in zip(starts, sizes, strict=False)]
    places = starts[:-1]
    which = r.randrange(4)
    if which == 0:  # views may share what they hold
        places = [r.randint(0, len(items.values) - n) for n in sizes]
    elif which == 1:  # and need not come in order
        order = list(zip(places, sizes, strict=True))
        r.shuffle(order)
        places, sizes = [a for a, _ in order], [n for _, n in order]
    view = pa.LargeListViewArray if large else pa.ListViewArray
    array = view.from_arrays(
        pa.array(places, width), pa.array(sizes, width), items.array, type=kind, mask=mask
    )
    return array, [items.values[a : a + n] for a, n in zip(places, sizes, strict=True)]


# --- tensors ----------------------------------------------------------------------------------


def tensor_of(r: Random, kind: pa.DataType, rank: int, nulls: bool = True) -> Data:
    """A tensor of `rank` dimensions, a row of another one now and then (always, if it is a
    scalar)."""
    own, element = ref.levels(of_arrow(kind))
    is_row = rank == 0 or r.randrange(5) == 0
    levels = rank if is_row else rank - 1
    length = 1 if is_row else r.choice([0, 1, 2, 3, 4])
    assert own == 0
    made = random_array(r, lists_of(r, levels, kind), length, nulls)
    value = made.values[0] if is_row else made.values
    return Data(made.array, is_row, ref.Tensor(value, rank, element))


def tidy(made: Data) -> Data:
    """The same value with plain lists that hold nothing but what is seen."""
    array = pa.array(
        [made.tensor.value] if made.is_row else made.tensor.value, plain(made.array.type)
    )
    return made._replace(array=array)


def plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        return pa.struct([f.with_type(plain(f.type)) for f in kind])
    return pa.list_(plain(kind.value_type)) if is_list(kind) else kind


def random_tensor(r: Random, shape: Shape = ANY, least: int = 0, most: int = 3) -> Data:
    """A tensor of structs, or of plain values."""
    rank = r.randint(least, most)
    if r.randrange(3):
        return structured(r, rank, shape)
    return tensor_of(r, r.choice(shape.kinds), rank, shape.nulls)


def structured(r: Random, rank: int, shape: Shape = ANY) -> Data:
    kind = random_struct(r, shape._replace(depth=shape.depth - 1), least=1)
    return tensor_of(r, kind, rank, shape.nulls)


def dense(r: Random, dtype: Any, rank: int, largest: int = 4) -> tuple[pa.Array, bool, Any]:
    """Uniform data of a dtype: an Arrow array, whether it is a row, and numpy's array."""
    sizes = [r.choice([0, *[1, 2, 3, 4][:largest] * 3]) for _ in range(rank)]
    count = int(np.prod(sizes))
    numbers = [r.randrange(2) if dtype == np.bool_ else r.randrange(100) for _ in range(count)]
    values = np.array(numbers, dtype)
    array = pa.array(values)
    for d in range(rank - 1, 0, -1):
        array = uniform_lists(r, array, sizes[d], int(np.prod(sizes[:d])))
    if rank == 0:
        values = np.array([r.randrange(2) if dtype == np.bool_ else r.randrange(100)], dtype)
        return pa.array(values), True, values[0]
    return array, False, values.reshape(sizes)


def uniform_lists(r: Random, items: pa.Array, size: int, rows: int) -> pa.Array:
    if r.randrange(2):
        kind = pa.list_(items.type, size)
        return pa.FixedSizeListArray.from_buffers(kind, rows, [None], children=[items])
    offsets = [i * size for i in range(rows + 1)]
    if r.randrange(2):
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), items)
    return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), items)


# --- comparing --------------------------------------------------------------------------------


def check(ours: Any, expected: ref.Tensor) -> None:
    """Our tensor is the reference's: value, rank, kind, fields in order, shape; and good Arrow
    data."""
    assert ours.rank == expected.rank
    # As text, since 1 == 1.0 == True, and fields have an order.
    assert repr(ours.to_py()) == repr(expected.value)
    structured = isinstance(expected.element, ref.Struct)
    assert isinstance(ours, cst.StructuredTensor if structured else cst.struct.LeafTensor)
    if isinstance(expected.element, ref.Struct):
        assert ours.field_names() == tuple(expected.element.fields)
    for size, by_rows in zip(ours.shape, ref.shape(expected), strict=True):
        # No rows or a null one: a fixed-size list knows its size all the same.
        assert size == by_rows or by_rows is None
    pa.array(ours._array).validate(full=True)


def agree(ours: Callable[[], Any], reference: Callable[[], ref.Tensor]) -> bool:
    """Both give the same, or both refuse; whether there was a result."""
    try:
        expected = reference()
    except ref.BadIndex:
        expect_error(ours, IndexError)
        return False
    except ref.NoField:
        expect_error(ours, KeyError)
        return False
    except ref.Refused:
        expect_error(ours, cst.Error)
        return False
    check(ours(), expected)
    return True


def expect_error(ours: Callable[[], Any], kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught:
        ours()
    assert isinstance(caught.value, cst.Error)


def cases(count: int) -> Any:
    """A test's settings: so many generated cases, and all that the whole run should have with
    --long."""
    return settings(max_examples=count * 50 if os.environ.get("COLUMNSTONE_LONG") else count)


# --- index keys -------------------------------------------------------------------------------


def random_key(r: Random, t: ref.Tensor, nulls: bool = True) -> tuple[Any, ...]:
    """A key of names and positional items; mostly one that fits."""
    names: list[Any] = []
    projected = t
    while isinstance(projected.element, ref.Struct) and projected.element.fields and r.randrange(3):
        names.append(random_name(r, projected))
        if names[-1] == UNKNOWN:
            break
        projected = ref.index(projected, names[-1])
    sizes = ref.shape(projected)
    if projected.rank >= 2 and nulls and r.randrange(4) == 0:
        positional = [row_index(r, projected), *basic_items(r, r.randrange(2))]
    else:
        positional = random_items(r, sizes, projected, nulls)
    return merge(r, t, names, positional)


def random_name(r: Random, t: ref.Tensor) -> Any:
    fields = list(t.element.fields)
    if r.randrange(5) == 0:
        return r.sample(fields, r.randint(1, len(fields)))
    return r.choice(fields) if r.randrange(30) else UNKNOWN


def merge(r: Random, t: ref.Tensor, names: list[Any], positional: list[Any]) -> tuple[Any, ...]:
    """The names among the items, each before what it adds dimensions for."""
    key: list[Any] = []
    used = 0
    while names:
        here = r.randrange(len(positional) + 1) if positional else 0
        for item in positional[:here]:
            used += ref.dimensions_of(item)
            if used > t.rank or item is Ellipsis or isinstance(item, ref.Tensor):
                break
            key.append(item)
            positional = positional[1:]
        key.append(names.pop(0))
        if key[-1] == UNKNOWN:
            break
        t = ref.index(t, key[-1])
    return (*key, *positional)


def random_items(r: Random, sizes: tuple[Any, ...], t: ref.Tensor, nulls: bool) -> list[Any]:
    items: list[Any] = []
    left = list(sizes[: r.randint(0, len(sizes))])
    together: tuple[int, ...] = r.choice([(), (1,), (2,), (2, 2), (0,), (3,)])
    with_arrays = r.randrange(2) == 0
    while left:
        which = r.randrange(8)
        if which == 0:
            items.append(None)
            continue
        size = left.pop(0)
        if which == 1 or (which == 2 and not with_arrays):
            items.append(random_int(r, size))
        elif with_arrays and which <= 4:
            items.append(integers(r, together, size, nulls))
        elif with_arrays and which == 5:
            count = r.choice([1, 1, 2])
            places = [size, *left[: count - 1]]
            left = left[len(places) - 1 :]
            items.append(mask(r, [2 if n is None else n for n in places], nulls))
        else:
            items.append(random_slice(r))
    if r.randrange(5) == 0:
        items.insert(r.randrange(len(items) + 1), Ellipsis)
    if r.randrange(40) == 0:
        items.append(0)
    return items


def basic_items(r: Random, count: int) -> list[Any]:
    return [r.choice([random_slice(r), random_int(r, 2), None]) for _ in range(count)]


def random_slice(r: Random) -> slice:
    ends = [None, None, 0, 1, 2, 3, -1, -2, 5, -5, 2**62, -(2**62)]
    step = r.choice([None, None, 1, 2, 3, -1, -2, -1, 2**62])
    return slice(r.choice(ends), r.choice(ends), step)


def random_int(r: Random, size: int | None) -> int:
    """In range nearly always, where the rows have one length."""
    if not size:
        return r.choice([0, -1])
    return r.choice([-size - 1, size]) if r.randrange(40) == 0 else r.randrange(-size, size)


def integers(r: Random, together: tuple[int, ...], size: int | None, nulls: bool) -> ref.IndexArray:
    own = r.choice([together, together, together[1:], (1,) * len(together)])
    count = int(np.prod(own))
    values: list[Any] = [random_int(r, size) for _ in range(count)]
    return ref.IndexArray(own, some_null(r, values) if nulls and own else values)


def mask(r: Random, sizes: list[int], nulls: bool) -> ref.IndexArray:
    values: list[Any] = [r.random() < 0.5 for _ in range(int(np.prod(sizes)))]
    return ref.IndexArray(tuple(sizes), some_null(r, values) if nulls else values, is_bool=True)


def some_null(r: Random, values: list[Any]) -> list[Any]:
    """Not the first one, by which plain lists show their type."""
    some = r.randrange(5) == 0
    return [None if some and i > 0 and r.randrange(3) == 0 else v for i, v in enumerate(values)]


def row_index(r: Random, t: ref.Tensor) -> ref.Tensor:
    """A tensor of integers or booleans that goes through t's dimensions row by row."""
    rank = r.randint(2, t.rank)
    is_bool = bool(r.randrange(2))

    def rows(v: Any, depth: int) -> Any:
        if v is None or r.randrange(10) == 0:
            return None
        if depth > 1:
            return [rows(x, depth - 1) for x in v]
        if is_bool:
            return [r.choice([True, False, None]) for _ in v]
        return [r.choice([0, -1, len(v) - 1, None]) for _ in range(r.randrange(4))] if v else []

    value = rows(t.value, rank)
    return ref.Tensor([] if value is None else value, rank, ref.Leaf("bool" if is_bool else "int"))


def index_tensor(t: ref.Tensor) -> Any:
    """The reference's tensor of integers or booleans as one of ours."""
    kind = pa.bool_() if t.element == ref.Leaf("bool") else pa.int64()
    is_row = t.rank == 0 or t.value is None
    for _ in range(t.rank if is_row else t.rank - 1):
        kind = pa.large_list(kind)
    return nested(pa.array([t.value] if is_row else t.value, kind), is_row)


def our_key(r: Random, key: tuple[Any, ...]) -> Any:
    """A key as a user writes it: arrays of numpy, of Arrow, or plain lists."""
    items = tuple(our_item(r, item) for item in key)
    return items[0] if len(items) == 1 and r.randrange(2) else items


def our_item(r: Random, item: Any) -> Any:
    if isinstance(item, ref.Tensor):
        return index_tensor(item)
    if not isinstance(item, ref.IndexArray):
        return item
    if None in item.values or r.randrange(3) == 0:
        if len(item.shape) == 1 and (0 in item.shape or r.randrange(2)):
            return pa.array(item.values, pa.bool_() if item.is_bool else pa.int64())
        if 0 not in item.shape and item.shape:
            return nested_lists(item.values, item.shape)
    return np.array(item.values, bool if item.is_bool else r.choice([np.int64, np.int32])).reshape(
        item.shape
    )


def nested_lists(values: list[Any], shape: tuple[int, ...]) -> Any:
    if not shape:
        return values[0]
    size = len(values) // shape[0] if shape[0] else 0
    return [nested_lists(values[i * size : (i + 1) * size], shape[1:]) for i in range(shape[0])]


def randoms() -> st.SearchStrategy[Random]:
    """A source of chance that hypothesis can shrink."""
    return st.randoms(use_true_random=False)
