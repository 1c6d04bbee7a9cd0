"""Work with very many names takes time in proportion to their number: ten times the names may take
at most forty times as long (a hundred times is what comparing every name with every other takes).
Times are CPU times, the best of two, and short ones prove nothing."""

from __future__ import annotations

import os
import pathlib
import time
from collections.abc import Callable

import columnstone as cst
import pytest
import wire

FEW, MANY = (10_000, 100_000) if os.environ.get("COLUMNSTONE_LONG") else (4_000, 40_000)


class Wide:
    """Two records of `count` features, and their schema."""

    def __init__(self, folder: pathlib.Path, count: int) -> None:
        self.names = [f"f{i * 7919 % count:06d}" for i in range(count)]
        self.path = str(folder / f"wide{count}.tfrecord")
        record = wire.example({name: [1] for name in self.names})
        with cst.codec.TFRecordWriter(self.path) as out:
            out.write(record)
            out.write(record)
        self.schema = cst.Schema.from_text(
            "".join(
                f'feature {{ name: "{name}" type: INT shape {{ dim {{ size: 1 }} }} '
                f"presence {{ min_fraction: 1 }} }}\n"
                for name in self.names
            )
        )

    def source(self, **options: object) -> cst.Source:
        return cst.open(self.path, schema=self.schema, **options)


def infer(wide: Wide) -> None:
    assert len(cst.infer_schema(wide.path).features) == len(wide.names)


def check(wide: Wide) -> None:
    with wide.source() as source:
        assert not source.validate().anomalies


def verify(wide: Wide) -> None:
    with cst.open(wide.path) as source:
        assert not source.verify().faults


def project(wide: Wide) -> None:
    with wide.source(columns=wide.names) as source:
        batch = next(iter(source.tensors()))
    assert len(batch) == len(wide.names)


def twice(wide: Wide) -> None:
    with pytest.raises(cst.errors.ArgumentError, match="named twice"):
        cst.open(wide.path, columns=[*wide.names, wide.names[-1]])


def unknown(wide: Wide) -> None:
    with pytest.raises(cst.errors.NotFoundError, match="did you mean"):
        wide.source(columns=["f00000x"])


def tensors(wide: Wide) -> None:
    with wide.source() as source:
        batch = next(iter(source.tensors()))
        made = cst.tensor.TensorEncoder(wide.schema).encode(batch)
    assert len(made) == 2


def encode(wide: Wide) -> None:
    with wide.source() as source:
        batch = next(iter(source))
    assert len(cst.encoder("example", wide.schema).encode(batch)) == 2


def struct(wide: Wide) -> None:
    text = "\n".join(f'    feature {{ name: "{name}" type: INT }}' for name in wide.names)
    schema = cst.Schema.from_text(
        f'feature {{ name: "s" type: STRUCT struct_domain {{\n{text}\n}} }}'
    )
    assert len(schema.tensor_representations()) == len(wide.names)


def diff(wide: Wide) -> None:
    assert not wide.schema.diff(wide.schema)


@pytest.fixture(scope="module")
def sizes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Wide, Wide]:
    folder = tmp_path_factory.mktemp("wide")
    return Wide(folder, FEW), Wide(folder, MANY)


def seconds(work: Callable[[Wide], None], wide: Wide) -> float:
    times = []
    for _ in range(2):
        start = time.process_time()
        work(wide)
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize(
    "work",
    [infer, check, verify, project, twice, unknown, tensors, encode, struct, diff],
    ids=lambda work: work.__name__,
)
def test_time_is_linear_in_the_number_of_names(
    work: Callable[[Wide], None], sizes: tuple[Wide, Wide]
) -> None:
    few, many = sizes
    assert seconds(work, many) < 0.5 + 40 * seconds(work, few)


def test_many_paths_of_a_wide_struct() -> None:
    """20,000 paths below a struct, whose names are looked up one by one."""
    names = [f"f{i}" for i in range(20_000)]
    wide = cst.struct.from_fields({"s": cst.struct.constant(dict.fromkeys(names, 1))})
    kept = wide.with_only(*[f"s.{name}" for name in names])
    assert kept["s"].field_names() == tuple(names)
    assert kept.without(*[f"s.{name}" for name in names[1:]])["s"].field_names() == ("f0",)
    assert wide["s"][names].field_names() == tuple(names)
