"""Arrays in one block of memory: pack_arrays, and the layouts of torch tensors."""

from __future__ import annotations

from typing import Any

import columnstone as cst
import numpy as np
import pytest
import wire
from columnstone._core import join_strings, pack_arrays
from conftest import MakeFile

ROWS = [[b"a", b"", b"ccc"], [b"dd"], [], [b"", b"e"]]


def strings_of(make_file: MakeFile, rows: list[list[bytes]], text: str) -> Any:
    path = make_file("d.tfrecord", [wire.example({"s": row} if row else {}) for row in rows])
    (tensors,) = cst.open(path, schema=text).tensors()
    return tensors["s"]


def packed(*arrays: Any) -> tuple[bytearray, list[tuple[int, tuple[int, ...], int]]]:
    blocks: list[bytearray] = []

    def room(size: int) -> bytearray:
        blocks.append(bytearray(size))
        return blocks[0]

    places = pack_arrays(arrays, room)
    assert len(blocks) == 1
    return blocks[0], places


def check_strings(block: bytearray, place: tuple[Any, ...], expected: list[bytes]) -> None:
    begin, shape, size = place
    data = begin + 8 * len(expected)
    lengths = np.frombuffer(block[begin:data], np.int64)
    assert int(np.prod(shape)) == len(expected)
    assert lengths.tolist() == [len(one) for one in expected]
    assert block[data : data + size] == b"".join(expected)


def test_strings(make_file: MakeFile) -> None:
    tensor = strings_of(make_file, ROWS, 'feature { name: "s" type: BYTES }')
    expected = [one for row in ROWS for one in row]
    numbers = np.arange(5, dtype=np.int32)
    block, places = packed(numbers, tensor.values, (*join_strings(tensor.values), (3, 2)))
    assert [place[1] for place in places] == [(5,), (6,), (3, 2)]
    assert all(place[0] % 64 == 0 for place in places)
    assert np.frombuffer(block[:20], np.int32).tolist() == numbers.tolist()
    for place in places[1:]:
        check_strings(block, place, expected)


def test_strings_that_do_not_lie_one_after_the_other(make_file: MakeFile) -> None:
    text = """feature { name: "s" type: BYTES }
    tensor_representation_group { key: "" value { tensor_representation { key: "s" value {
      dense_tensor { column_name: "s" shape { dim { size: 2 } }
                     default_value { bytes_value: "none" } } } } } }"""
    rows = [[b"a", b"bb"], [], [b"ccc", b""], []]
    tensor = strings_of(make_file, rows, text)
    expected = [b"a", b"bb", b"none", b"none", b"ccc", b"", b"none", b"none"]
    assert [one for row in tensor.tolist() for one in row] == expected
    block, (place,) = packed(tensor)
    assert place[1] == (4, 2)
    check_strings(block, place, expected)


def test_nothing_and_scalars() -> None:
    assert packed() == (bytearray(), [])
    block, places = packed(np.zeros((0, 3)), np.array(7, np.int64), b"", (b"", b"", (0,)))
    assert [place[1] for place in places] == [(0, 3), (), (0,), (0,)]
    assert block[places[1][0] : places[1][0] + 8] == (7).to_bytes(8, "little")


def test_what_does_not_pack() -> None:
    with pytest.raises(ValueError, match="memory of a block is too small"):
        pack_arrays((b"1234",), lambda size: bytearray(3))
    with pytest.raises(BufferError):
        pack_arrays((b"1234",), bytes)
    with pytest.raises(ZeroDivisionError):
        pack_arrays((b"1234",), lambda size: 1 // 0)
    with pytest.raises(TypeError):
        pack_arrays((b"1234", 5), bytearray)
    with pytest.raises(TypeError):
        pack_arrays(((b"1234", b"12345678", 1),), bytearray)
    with pytest.raises(ValueError, match="contiguous"):
        pack_arrays((np.zeros((4, 4))[:, 1],), bytearray)


def test_torch_tensors() -> None:
    torch = pytest.importorskip("torch")
    from columnstone._frameworks.torch_packing import Packer, unpacked

    value = {
        "scalar": torch.tensor(3.5),
        "none": torch.zeros(0, 2),
        "bool": torch.tensor([True, False]),
        "bfloat16": torch.arange(6, dtype=torch.bfloat16).reshape(2, 3),
        "complex": torch.tensor([1 + 2j]),
        "columns": torch.arange(6).reshape(2, 3).T,
        "conjugate": torch.tensor([1 + 2j]).conj(),
        "graded": torch.tensor([1.0], requires_grad=True),
        "inside": {"text": "a", "list": [1, torch.tensor([2])], "empty": {}},
        7: None,
    }
    packer = Packer()
    layout = packer.add(value)
    blocks: list[bytearray] = []
    places = packer.pack(lambda size: blocks.append(bytearray(size)) or blocks[0])
    made = unpacked(blocks[0], layout, places, packer.values)
    assert list(made) == list(value) and made["inside"] == value["inside"] and made[7] is None
    for name in ("scalar", "none", "bool", "bfloat16", "complex", "columns", "conjugate", "graded"):
        given = value[name]
        assert made[name].dtype == given.dtype and made[name].equal(given), name
    assert made["graded"] is value["graded"]
    made["scalar"] += 1  # a tensor of its own, in the block
    assert np.frombuffer(blocks[0][:4], np.float32) == 4.5
