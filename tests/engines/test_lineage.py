"""Engines read artifacts: through the view that they are bound to, with a lease while they do."""

from __future__ import annotations

import gc
import pathlib
import pickle
from collections.abc import Iterator
from typing import Any

import columnstone as cst
import lineage_data as data
import pytest
from columnstone.lineage import Artifact, Store

pytestmark = pytest.mark.filterwarnings("ignore")  # engines warn of themselves


@pytest.fixture
def store(tmp_path: pathlib.Path) -> Iterator[Store]:
    data.write(tmp_path)
    with cst.lineage.open(tmp_path / "lineage.db", create=True) as made:
        yield made


@pytest.fixture
def bound(store: Store, tmp_path: pathlib.Path) -> Artifact:
    examples = store.examples(
        tmp_path / "sessions.tfrecord.gz",
        "sessions",
        message="shop.Session",
        descriptors=tmp_path / "shop.desc",
    )
    return store.bind(examples, store.view(tmp_path / "ranking.cstv", "ranking"))


def leased(store: Store) -> set[str]:
    gc.collect()
    return {name for lease in store.leases() for name in lease.references}


NAMES = {"sessions@2", "ranking@1"}


def test_dask(store: Store, bound: Artifact) -> None:
    pytest.importorskip("dask.dataframe")
    frame = cst.dask.read([bound, bound])
    assert leased(store) == NAMES
    rows = frame.compute(scheduler="sync")
    assert [list(prices) for prices in rows["price"]] == data.PRICES * 2
    assert list(cst.dask.read(bound, view=None).columns) == ["user", "event"]
    del frame, rows
    with pytest.raises(cst.errors.ArgumentError, match="sessions@1"):
        cst.dask.read([bound, store["sessions@1"]])


def test_beam(store: Store, bound: Artifact) -> None:
    beam = pytest.importorskip("apache_beam")
    testing = pytest.importorskip("apache_beam.testing.util")

    def prices(batch: Any) -> Any:
        return batch.column("price").to_pylist()

    for read in (
        cst.beam.Read(bound),
        pickle.loads(pickle.dumps(cst.beam.Read(bound))),
        cst.tfxio.make_tfxio(bound).BeamSource(),
    ):
        assert leased(store) == NAMES
        with beam.Pipeline(runner="FnApiRunner") as pipeline:
            rows = pipeline | read | beam.FlatMap(prices)
            testing.assert_that(rows, testing.equal_to(data.PRICES))
    plain = cst.beam.Read(bound, view=None)
    with beam.Pipeline(runner="FnApiRunner") as pipeline:
        names = pipeline | plain | beam.Map(lambda batch: batch.schema.names)
        testing.assert_that(names, testing.equal_to([["user", "event"]]))
    with pytest.raises(cst.errors.ArgumentError, match="sessions@1"):
        cst.beam.Read([bound, store["sessions@1"]])


@pytest.mark.usefixtures("ray_data")
def test_ray(store: Store, bound: Artifact) -> None:
    made = cst.ray.read(bound)
    assert leased(store) >= NAMES
    assert [list(row["price"]) for row in made.take_all()] == data.PRICES


def test_spark_takes_what_a_reading_says(store: Store, bound: Artifact) -> None:
    """Its options are texts, and so are those of artifacts."""
    for artifact in (bound, store["sessions@1"]):
        reading = store.reading(artifact)
        assert all(isinstance(value, str) for value in reading.options.values())
