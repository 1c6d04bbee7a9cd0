"""cst.open of artifacts: the rules of choice, what the caller says beside them, and leases."""

from __future__ import annotations

import gc
import itertools
import os
import pathlib
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import columnstone as cst
import lineage_data as data
import pyarrow as pa
import pytest
from columnstone.lineage import Artifact, Store

VIEWS = ("message", "example", "table")
# Which payloads each view reads. Of "any" nothing is said: what it holds is found out.
READS = {
    "message": {"message"},
    "example": {"example", "any"},
    "table": {"parquet", "csv", "json"},
}
PLAIN = {  # the columns of each payload as it is
    "message": ["user", "event"],
    "example": ["name", "x"],
    "any": ["name", "x"],
    "sequence": ["x"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    made = tmp_path_factory.mktemp("data")
    data.write(made)
    return made


@pytest.fixture(scope="module")
def store(folder: pathlib.Path) -> Iterator[Store]:
    """Examples of every payload, twice; and a view of every kind."""
    with cst.lineage.open(folder / "lineage.db", create=True) as made:
        for payload in data.PAYLOADS:
            examples(made, folder, payload)
            examples(made, folder, payload)
        for kind in VIEWS:
            made.view(data.query(folder, kind), f"view-{kind}")
        yield made


@pytest.fixture
def own(folder: pathlib.Path, tmp_path: pathlib.Path) -> Iterator[Store]:
    """A store that no other test has held a lease on."""
    with cst.lineage.open(tmp_path / "own.db", create=True) as made:
        for payload in ("message", "example", "csv"):
            examples(made, folder, payload)
        made.view(folder / "ranking.cstv", "view-message")
        yield made


def examples(store: Store, folder: pathlib.Path, payload: str, **more: Any) -> Artifact:
    file, options = data.PAYLOADS[payload]
    options = dict(options)
    if "descriptors" in options:
        options["descriptors"] = folder / options["descriptors"]
    return store.examples(folder / file, payload, **{**options, **more})


def leased(store: Store) -> set[str]:
    """What anybody reads now."""
    gc.collect()
    return {name for lease in store.leases() for name in lease.references}


# The rules


def test_every_payload_as_it_is(store: Store) -> None:
    for payload in data.PAYLOADS:
        for what in (store[f"{payload}@1"], [store[f"{payload}@1"], store[f"{payload}@2"]]):
            for view in ({}, {"view": None}):
                with cst.open(what, **view) as source:  # type: ignore[arg-type]
                    assert source.column_names == PLAIN.get(payload, ["x", "name"])
                    assert source.num_rows == (40 if isinstance(what, list) else 20)


@pytest.mark.parametrize("kind", VIEWS)
def test_every_payload_through_every_view(store: Store, kind: str) -> None:
    view = store[f"view-{kind}"]
    for payload in data.PAYLOADS:
        what = store[f"{payload}@1"]
        if payload not in READS[kind]:
            with pytest.raises(cst.errors.SchemaError) as caught:
                cst.open(what, view=view).head()
            if not (kind == "table" and payload in ("example", "any", "sequence")):
                assert f"{payload}@1" in str(caught.value)
                assert f"view-{kind}@1" in str(caught.value)
            continue
        with cst.open(what, view=view) as source:
            assert source.column_names == (["price"] if kind == "message" else ["double_x"])
        bound = store.bind(what, view, f"{payload}-{kind}")
        with cst.open(bound) as source, cst.open(bound, view=None) as plain:
            assert source.column_names == (["price"] if kind == "message" else ["double_x"])
            assert plain.column_names == PLAIN.get(payload, ["x", "name"])


def test_different_payloads_are_never_read_together(store: Store) -> None:
    for one, other in itertools.permutations(data.PAYLOADS, 2):  # or by different options
        for view in ({}, {"view": None}, {"view": store["view-message"]}):
            with pytest.raises((cst.errors.ArgumentError, cst.errors.SchemaError)) as caught:
                cst.open([store[f"{one}@1"], store[f"{other}@1"]], **view)  # type: ignore[arg-type]
            assert f"{one}@1" in str(caught.value)
            assert f"{other}@1" in str(caught.value)


def test_bound_and_not_and_two_views(store: Store, folder: pathlib.Path) -> None:
    """Nothing is chosen by its age: the error names who is bound and who is not."""
    plain = store["message@1"]
    view = store["view-message"]
    bound = store.bind(plain, view, "choice-a")
    again = store.bind("message@2", view, "choice-b")
    second = store.view(
        cst.Query.from_text(
            "from message shop.Session\noutput user = user\n",
            message="shop.Session",
            descriptors=folder / "shop.desc",
        ),
        "view-other",
    )
    other = store.bind(plain, second, "choice-c")
    assert cst.open([bound, again]).num_rows == 40  # one view
    for mixed in ([bound, plain], [plain, bound]):
        with pytest.raises(cst.errors.ArgumentError, match="message@1") as caught:
            cst.open(mixed)
        assert "view=" in str(caught.value)
    for mixed in ([bound, other], [other, bound, again]):
        with pytest.raises(cst.errors.ArgumentError, match="choice-c@1"):
            cst.open(mixed)
        assert cst.open(mixed, view=None).column_names == ["user", "event"]
        assert cst.open(mixed, view=second).column_names == ["user"]
    # the same content under another name is the same view
    (folder / "copy.cstv").write_bytes(pathlib.Path(view.paths[0]).read_bytes())
    copy = store.view(folder / "copy.cstv", "view-copy")
    assert cst.open([bound, store.bind(plain, copy, "choice-d")]).column_names == ["price"]


def test_stages_share_the_rules(store: Store) -> None:
    """What takes artifacts says the same of them."""
    mixed = [store["message@1"], store["example@1"]]
    for stage in (
        cst.open,
        cst.plan,
        cst.infer_schema,
        cst.tfxio.make_tfxio,
        store.reading,
        lambda what: cst.convert(what, "never.parquet"),
    ):
        with pytest.raises(cst.errors.ArgumentError, match=r"message@1.*example@1"):
            stage(mixed)
    assert not os.path.exists("never.parquet")


def test_what_cannot_be_read(store: Store, tmp_path: pathlib.Path) -> None:
    view = store["view-message"]
    with pytest.raises(cst.errors.ArgumentError, match="view-message@1"):
        cst.open(view)
    with pytest.raises(cst.errors.ArgumentError, match="mixes"):
        cst.open([store["message"], "a.tfrecord"])  # type: ignore[list-item]
    with pytest.raises(cst.errors.ArgumentError):
        cst.open(store["message@1"], view=store["message@2"])
    with pytest.raises(cst.errors.ArgumentError, match="DataView"):
        cst.open("a", view=store["message@2"])
    with cst.lineage.open(tmp_path / "other.db", create=True) as other:
        foreign = other.view(view.paths[0])
        with pytest.raises(cst.errors.ArgumentError, match="different stores"):
            cst.open(store["message@1"], view=foreign)
    with pytest.raises(cst.errors.StateError):
        cst.open(store.add("Examples", store["message@1"].paths, pending=True))
    with pytest.raises(TypeError):
        cst.tfxio.make_tfxio("a.tfrecord")
    with pytest.raises(TypeError, match="empty"):
        cst.tfxio.make_tfxio([])


def test_what_files_hold_is_found_out(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """As the program does it."""
    expected = {
        "sessions.tfrecord.gz": (None, "tfrecords_gzip"),
        "examples.tfrecord": ("FORMAT_TF_EXAMPLE", "tfrecords"),
        "table.parquet": ("FORMAT_PARQUET", "parquet"),
        "table.csv": (None, "csv"),
        "table.json": (None, "json"),
    }
    with cst.lineage.open(tmp_path / "l.db", create=True) as store:
        for file, (payload, form) in expected.items():
            found = store.examples(folder / file).properties
            assert (found.get("payload_format"), found["file_format"]) == (payload, form), file
        assert examples(store, folder, "message").properties == {
            "payload_format": "FORMAT_PROTO",
            "file_format": "tfrecords_gzip",
            "read.message": "shop.Session",
        }
        for split in ("train", "eval"):
            (tmp_path / "tfx" / f"Split-{split}").mkdir(parents=True)
            copy = (folder / "examples.tfrecord").read_bytes()
            (tmp_path / "tfx" / f"Split-{split}" / "data-0").write_bytes(copy)
        tfx = store.examples(tmp_path / "tfx")
        assert tfx.properties["payload_format"] == "FORMAT_TF_EXAMPLE"
        assert cst.open(tfx).num_rows == 40
        assert cst.open(tfx.split("eval")).num_rows == 20


# Beside what they say


def test_arguments_of_the_caller_come_first(store: Store, folder: pathlib.Path) -> None:
    what = store["message@1"]
    with cst.open(what, columns=["event.price"], batch_size=3) as source:
        assert source.head(1).to_pydict() == {"event": [[]]}
        assert source.batch_size == 3
    with cst.open(iter([what, what])) as source:
        assert source.num_rows == 40
    with cst.open(what, format="raw") as source:
        assert source.column_names == ["record"]
    view = cst.View(folder / "ranking.cstv")
    for given in (view, data.query(folder, "message"), str(folder / "ranking.cstv")):
        with cst.open(what, view=given) as source:
            assert pa.table(source).column("price").to_pylist() == data.PRICES
    with cst.open(what, view=folder / "ranking.cstq") as source:  # its message is the artifact's
        assert pa.table(source).column("price").to_pylist() == data.PRICES
    plain = cst.open(folder / "sessions.tfrecord.gz", view=store["view-message"])
    assert pa.table(plain).column("price").to_pylist() == data.PRICES
    assert cst.open(store["example@1"], schema=folder / "schema.pbtxt").column_names == ["x"]


def test_sources_of_artifacts_are_sources(own: Store, folder: pathlib.Path) -> None:
    """What is done with one of paths is done with one of artifacts."""
    source = cst.open(own["example@1"], on_error="skip", threads=2)
    assert source.select(["x"]).take([3, 1]).to_pydict() == {"x": [[3], [1]]}
    assert len(cst.open([own["example@1"], own["example@1"]])) == 40
    assert source[2:4].num_rows == 2
    assert source.validate(folder / "schema.pbtxt", ignore_unexpected=True)
    assert repr(source).startswith("<columnstone.Source")
    query = cst.Query.from_text(
        "from example\nparam most: int64 = 5\nlet kept = x where x < most\noutput y = kept\n",
        schema=data.SCHEMA,
    )
    bound = own.bind("example@1", own.view(query, "some"))
    for most in (5, 7):
        with cst.open(bound, params={"most": most}) as some:
            assert pa.table(some).column("y").drop_null().to_pylist() == list(range(most))


def test_options_of_formats_are_kept(store: Store, tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.csv").write_text("1;2\n3;4\n")
    made = store.examples(
        tmp_path / "a.csv", format="csv", delimiter=";", names=["a", "b,c"], keep_blank_lines=True
    )
    assert made.properties["read.names"] == 'a,"b,c"'
    assert pa.table(cst.open(made)).to_pydict() == {"a": [1, 3], "b,c": [2, 4]}
    with pytest.raises(TypeError, match="delimiter"):
        store.examples(tmp_path / "a.csv", format="csv", delimiter=3)
    (tmp_path / "b.csv").write_text("1,2\n")
    other = store.examples(tmp_path / "b.csv", format="csv", names=["a", "b,c"])
    with pytest.raises(cst.errors.ArgumentError, match="options"):
        cst.open([made, other])


def test_splits(store: Store, folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    files = {"train": folder / "table.csv", "eval": folder / "table.csv"}
    both = store.examples(files, format="csv")
    assert cst.open(both).num_rows == 40
    assert cst.open(both.split("eval")).num_rows == 20
    assert cst.open([both.split("eval"), both.split("eval")]).num_rows == 40
    assert len(store.reading(both, splits="train").paths) == 1
    with pytest.raises(cst.errors.ArgumentError, match="splits"):
        cst.open([both, both.split("eval")])
    with pytest.raises(cst.errors.ArgumentError, match="split"):
        store.examples(files, split="train")
    moved = pickle.loads(pickle.dumps(both.split("eval")))
    assert cst.open(moved).num_rows == 20


def test_other_users_of_open(store: Store, tmp_path: pathlib.Path) -> None:
    bound = store.bind("message@1", "view-message", "users")
    cst.convert(bound, tmp_path / "a.parquet")
    assert pa.table(cst.open(tmp_path / "a.parquet")).column("price").to_pylist() == data.PRICES
    cst.convert(bound, tmp_path / "b.parquet", view=None)
    assert cst.open(tmp_path / "b.parquet").column_names == ["user", "event"]
    cst.convert(store["csv"], tmp_path / "c.parquet")
    assert cst.infer_schema(store["example"]).features[0].name == "name"
    splits = cst.plan([store["example@1"], store["example@2"]])
    assert [split.file for split in splits] == [store["example@1"].paths[0]] * 2
    reading = store.reading(bound)
    source = cst.open(cst.plan(bound), **reading.options)
    assert pa.table(source).column("price").to_pylist() == data.PRICES
    assert set(reading.artifacts) == {bound.id, store["view-message"].id}
    stats = cst.open(bound).statistics()
    assert list(stats) == ["price"]
    tensors = next(iter(cst.open(bound).dataset(20, prefetch=0)))
    assert tensors["price"].shape[0] == 20


# make_tfxio


@pytest.mark.parametrize("payload", data.PAYLOADS)
def test_make_tfxio(store: Store, payload: str) -> None:
    names = {
        "message": "_AnyFiles",
        "any": "TFExampleRecord",
        "example": "TFExampleRecord",
        "sequence": "TFSequenceExampleRecord",
        "parquet": "ParquetTFXIO",
    }
    made = cst.tfxio.make_tfxio(store[payload])
    assert type(made).__name__ == names.get(payload, "_AnyFiles")
    assert made.ArrowSchema().names == PLAIN.get(payload, ["x", "name"])
    batches = made.RecordBatches(cst.tfxio.RecordBatchesOptions(7))
    assert sum(batch.num_rows for batch in batches) == 20


def test_make_tfxio_of_bound_examples(store: Store) -> None:
    bound = store.bind("message@1", "view-message", "tfxio")
    made = cst.tfxio.make_tfxio([bound, bound], raw_record_column_name="raw")
    assert type(made) is cst.tfxio.GraphToTensorTFXIO
    assert made.ArrowSchema().names == ["price", "raw"]
    batches = list(made.RecordBatches(cst.tfxio.RecordBatchesOptions(100)))
    assert batches[0].column("price").to_pylist() == data.PRICES * 2
    assert list(pickle.loads(pickle.dumps(made)).TensorRepresentations()) == ["price"]
    assert cst.tfxio.make_tfxio(bound, view=None).ArrowSchema().names == ["user", "event"]
    raw = cst.tfxio.make_tfxio(bound, read_as_raw_records=True, raw_record_column_name="raw")
    assert raw.ArrowSchema().names == ["raw"]
    with pytest.raises(cst.errors.ArgumentError, match="raw_record_column_name"):
        cst.tfxio.make_tfxio(bound, read_as_raw_records=True)


class OfTfx:
    """What artifacts of TFX have."""

    def __init__(self, uri: object, splits: object, **properties: str) -> None:
        self.uri = str(uri)
        self.split_names = splits
        self._properties = properties

    def get_string_custom_property(self, name: str) -> str:
        return self._properties.get(name, "")


def test_make_tfxio_of_artifacts_of_tfx(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    for name in ("Split-train", "Split-eval"):
        (tmp_path / name).mkdir()
        sessions = (folder / "sessions.tfrecord.gz").read_bytes()
        (tmp_path / name / "data-00000-of-00001.gz").write_bytes(sessions)
    (tmp_path / "view").mkdir()
    (tmp_path / "view" / "ranking.cstv").write_bytes((folder / "ranking.cstv").read_bytes())
    way = {"payload_format": "FORMAT_PROTO", "data_view_uri": str(tmp_path / "view")}
    both = OfTfx(tmp_path, '["train", "eval"]', **way)
    made = cst.tfxio.make_tfxio([both])
    batches = list(made.RecordBatches(cst.tfxio.RecordBatchesOptions(100)))
    assert batches[0].column("price").to_pylist() == data.PRICES * 2
    plain = OfTfx(tmp_path, ["train"], payload_format="FORMAT_PROTO")
    with pytest.raises(cst.errors.ArgumentError, match="no view"):
        cst.tfxio.make_tfxio([both, plain])
    with pytest.raises(cst.errors.ArgumentError, match="FORMAT_X"):
        cst.tfxio.make_tfxio(OfTfx(tmp_path, ["train"], payload_format="FORMAT_X"))
    with pytest.raises(cst.errors.NotFoundError):
        cst.tfxio.make_tfxio(OfTfx(tmp_path, ["none"]))


# Leases


def test_a_source_holds_a_lease_while_it_is_open(own: Store) -> None:
    bound = own.bind("message@1", "view-message", "lease")
    names = {"lease@1", "view-message@1"}
    assert leased(own) == set()
    source = cst.open(bound)
    assert leased(own) == names
    with cst.open(bound) as second:  # one lease for both
        assert len(own.leases()) == 1
        assert second.head(1).num_rows == 1
    assert leased(own) == names
    source.close()
    assert leased(own) == set()
    with pytest.raises(cst.errors.StateError):
        source.head()


def test_what_is_made_of_a_source_holds_it_as_well(own: Store) -> None:
    made: dict[str, Any] = {
        "pass": iter(cst.open(own["example@1"], batch_size=3)),
        "tensors": cst.open(own["example@1"], batch_size=3).tensors(),
        "dataset": iter(cst.open(own["example@1"]).dataset(3, shuffle=True)),
        "stream": pa.RecordBatchReader.from_stream(cst.open(own["example@1"], batch_size=3)),
        "split": cst.open(own["example@1"]).split(0, 2),
        "map": cst.open(own["example@1"]).map(lambda batch: batch),
        "select": cst.open(own["example@1"]).select(["x"]),
        "split stream": pa.RecordBatchReader.from_stream(cst.open(own["example@1"]).split(0, 2)),
        "pickled": pickle.loads(pickle.dumps(cst.open(own["example@1"]))),
        "tfxio": cst.tfxio.make_tfxio(own["example@1"]),
    }
    for name in list(made):
        one = made.pop(name)
        assert leased(own) == {"example@1"}, name
        del one
    assert leased(own) == set()


def test_streams_in_other_hands_hold_on(own: Store) -> None:
    source = cst.open(own["example@1"], batch_size=3)
    reader = pa.RecordBatchReader.from_stream(source)
    reader.read_next_batch()
    source.close()
    del source
    assert leased(own) == {"example@1"}
    assert reader.read_all().num_rows == 17
    del reader
    assert leased(own) == set()


def test_a_view_that_paths_are_read_through_is_held(own: Store, folder: pathlib.Path) -> None:
    source = cst.open(folder / "sessions.tfrecord.gz", view=own["view-message"])
    assert leased(own) == {"view-message@1"}
    source.close()
    assert leased(own) == set()


def test_leases_of_ones_own(own: Store) -> None:
    with own.lease([own["example@1"], "csv@1"], holder="me", seconds=60) as lease:
        [found] = own.leases()
        assert (found.holder, found.references) == ("me", ("example@1", "csv@1"))
        lease.check()
        assert not lease.is_closed
    assert lease.is_closed
    lease.close()
    with pytest.raises(cst.errors.StateError):
        lease.check()
    assert leased(own) == set()
    with pytest.raises(cst.errors.ArgumentError, match="seconds"):
        own.lease("csv", seconds=0)


def test_an_execution_holds_its_inputs(own: Store) -> None:
    with own.execution("train", ["csv@1"]) as run:
        assert leased(own) == {"csv@1"}
        run.check()
    assert leased(own) == set()


def test_a_read_only_store_holds_nothing(own: Store) -> None:
    with cst.lineage.open(own.path, read_only=True) as reader:
        source = cst.open(reader["example@1"])
        assert leased(own) == set()
        assert source.num_rows == 20


def test_a_source_of_a_pickle_reads_where_the_store_is_not(
    own: Store, folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """As on another machine, which has the files only."""
    with cst.lineage.open(tmp_path / "here.db", create=True) as here:
        made = here.examples(folder / "table.csv", format="csv")
        moved = pickle.dumps(cst.open(made))
    gc.collect()
    for name in tmp_path.glob("here.db*"):
        name.unlink()
    assert pickle.loads(moved).num_rows == 20


# Workers


def test_loader_workers_read_artifacts(own: Store) -> None:
    torch = pytest.importorskip("torch")
    loader_of = torch.utils.data.DataLoader
    bound = own.bind("message@1", "view-message", "torch")
    data_set = cst.open(bound).dataset(4).torch()
    for context, workers in (("fork", 2), ("spawn", 1)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loader = loader_of(
                data_set, batch_size=None, num_workers=workers, multiprocessing_context=context
            )
            prices = [price for batch in loader for price in batch["price"].to_dense().tolist()]
        assert len(prices) == 20
        assert sum(map(sum, prices)) == sum(map(sum, data.PRICES))
    assert "torch@1" in leased(own)
    del loader, data_set
    assert leased(own) == set()


def test_engines_read_artifacts(own: Store) -> None:
    from columnstone._engines.reading import read_by, splits_of

    bound = own.bind("message@1", "view-message", "engine")
    options: dict[str, Any] = {"format": None}
    reading = read_by(bound, options)
    assert leased(own) == {"engine@1", "view-message@1"}
    batches = list(pickle.loads(pickle.dumps(reading)).batches(splits_of(bound, options)))
    assert [row for batch in batches for row in batch.column("price").to_pylist()] == data.PRICES
    plain = read_by(bound, {"format": None, "view": None})
    assert plain.schema.names == ["user", "event"]
    del reading, plain
    assert leased(own) == set()


def test_huggingface_reads_artifacts(own: Store, tmp_path: pathlib.Path) -> None:
    pytest.importorskip("datasets")
    bound = own.bind("message@1", "view-message", "huggingface")
    made = cst.huggingface.dataset(bound, cache_dir=tmp_path)
    assert list(made["price"]) == data.PRICES
    rows = list(cst.huggingface.iterable_dataset(bound))
    assert [row["price"] for row in rows] == data.PRICES


def test_descriptors_of_the_reader(
    own: Store, folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """Artifacts of other descriptors are read by the caller's, or its view."""
    (tmp_path / "other.desc").write_bytes(data.shop("More"))
    files = folder / "sessions.tfrecord.gz"
    two = [
        own.examples(files, "parts", message="shop.Session", descriptors=path)
        for path in (folder / "shop.desc", tmp_path / "other.desc")
    ]
    with pytest.raises(cst.errors.ArgumentError, match="have different descriptors"):
        cst.open(two)
    whole = cst.open(two, descriptors=folder / "shop.desc", message="shop.Session")
    assert sum(batch.num_rows for batch in whole) == 40
    assert cst.open(two, view=folder / "ranking.cstv").column_names == ["price"]
