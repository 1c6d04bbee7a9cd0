"""The names of the RFC "Standardized TFX inputs", over the sources of this package.

    from columnstone import tfxio

    source = tfxio.TFExampleRecord("trips-*.tfrecord.gz", schema=schema)
    adapter = source.TensorAdapter()
    for batch in source.RecordBatches(tfxio.RecordBatchesOptions(batch_size=1024)):
        tensors = adapter.ToBatchTensors(batch)

Batches are pyarrow's. Whoever writes a class with the same methods, derived from TFXIO or not, can
use it wherever one of these is used.
"""

from __future__ import annotations

import copy
import importlib
import io
import json
import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ._api.open import infer_schema
from ._api.open import open as open_source
from ._api.source import Source
from ._base.errors import NotFoundError, UnsupportedError, argument_error
from ._base.optional import need
from ._core import arrow_schema
from ._formats.csv import CsvOptions
from ._query.decoder import Decoded, SavedDecoder, is_decoder
from ._query.query import Query
from ._query.view import View
from ._schema.schema import Schema
from ._schema.spec import RowLengths
from ._sink.writer import TFRecordWriter
from ._tensor.adapter import TensorAdapter as Adapter
from ._tensor.conversion import framework

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from ._api.views import ViewLike
    from ._query.decoder import Decode
    from ._schema.schema import SchemaLike
    from ._schema.spec import TensorRepresentation

_SEQUENCE_COLUMN = "##SEQUENCE##"


@dataclass(frozen=True)
class RecordBatchesOptions:
    """How RecordBatches reads: rows of a batch; whether a last batch that is not full is left out;
    the number of passes (None: without end); whether each pass has its rows shuffled, and by which
    seed: over all files where rows are reached one by one, else within windows of
    shuffle_buffer_size rows."""

    batch_size: int
    drop_final_batch: bool = False
    num_epochs: int | None = 1
    shuffle: bool = False
    shuffle_buffer_size: int = 10_000
    shuffle_seed: int | None = None


@dataclass(frozen=True)
class TensorFlowDatasetOptions:
    """How TFDataset reads: the first six as those of RecordBatchesOptions; batches and threads that
    work ahead (-1: a number that does); the tensor that is split off as the label.

    num_epochs=None goes on without end, and unlike with tfx_bsl says nothing about the short batch
    at the end of each epoch: drop_final_batch does. sloppy_ordering has no effect, because the
    order never depends on threads.
    """

    batch_size: int
    drop_final_batch: bool = False
    num_epochs: int | None = None
    shuffle: bool = True
    shuffle_buffer_size: int = 10_000
    shuffle_seed: int | None = None
    prefetch_buffer_size: int = -1
    reader_num_threads: int = -1
    parser_num_threads: int = -1
    sloppy_ordering: bool = False
    label_key: str | None = None


class TensorAdapter:
    """Record batches to tensors, by the tensor representations of a schema.

    arrow_schema: of the batches that will come.
    tensor_representations: name of the tensor -> representation.
    """

    def __init__(
        self,
        arrow_schema: pa.Schema,
        tensor_representations: Mapping[str, TensorRepresentation],
    ) -> None:
        self._arrow_schema = arrow_schema
        self._representations = dict(tensor_representations)
        self._adapters: dict[tuple[str, ...], Adapter] = {}

    def TensorRepresentations(self) -> dict[str, TensorRepresentation]:
        """What each tensor is made of."""
        return dict(self._representations)

    def ToBatchTensors(
        self, record_batch: Any, projections: Iterable[str] | None = None
    ) -> dict[str, Any]:
        """The tensors of a batch by name: Tensor, SparseTensor and RaggedTensor, or a dict of the
        fields of a structured one.

        projections: the names of the wanted ones. The batch has to have the adapter's columns.
        """
        wanted = tuple(self._representations if projections is None else projections)
        adapter = self._adapters.get(wanted)
        if adapter is None:
            adapter = self._adapters[wanted] = self._adapter(wanted)
        tensors = adapter.convert(record_batch)
        return {name: tensors[name] for name in wanted}

    def _adapter(self, wanted: tuple[str, ...]) -> Adapter:
        for name in wanted:
            if name not in self._representations:
                raise NotFoundError(f"there is no tensor {name!r}", path=name)
        return Adapter(self._arrow_schema, [self._representations[name] for name in wanted])

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_adapters": {}}

    def TypeSpecs(self) -> dict[str, Any]:
        """The tf.TypeSpec of each tensor, of a structured one a dict of them. Needs TensorFlow."""
        specs: dict[str, Any] = framework("tf", "tensorflow", "TensorFlow").type_specs(
            self._representations, arrow_schema(self._arrow_schema)
        )
        return specs


def _columns_of(representations: Iterable[TensorRepresentation]) -> list[str]:
    """The columns that tensors are made of."""
    columns: list[str] = []
    for spec in _leaves(representations):
        lengths = [p.key for p in spec.partitions if isinstance(p, RowLengths)]
        for column in (*spec.index_columns, spec.steps[0], *lengths):
            if column not in columns:
                columns.append(column)
    return columns


def _leaves(representations: Iterable[TensorRepresentation]) -> Iterator[TensorRepresentation]:
    """The fields of structured tensors in the place of those."""
    for spec in representations:
        if spec.kind == "structured":
            yield from _leaves(spec.fields)
        else:
            yield spec


class TFXIO:
    """The base: where data comes from, as record batches and as tensors.

    A class of one's own defines `_open`, or all of the public methods.
    """

    def _open(self, batch_size: int) -> Source:
        """A source of batches of so many rows."""
        raise NotImplementedError(f"{type(self).__name__} defines neither this nor _open")

    def _tensor_source(self, batch_size: int) -> Source:
        """The same, which knows its tensors."""
        return self._open(batch_size)

    def ArrowSchema(self) -> pa.Schema:
        """The Arrow schema of the batches. Without a TFMD schema this reads the input."""
        pa = need("pyarrow", "tfxio")

        return pa.schema(self._open(1024).arrow_schema)

    def TensorRepresentations(self) -> dict[str, TensorRepresentation]:
        """How each tensor is made of the columns."""
        return self._open(1024).tensor_representations()

    def TensorAdapter(self) -> TensorAdapter:
        """What turns the batches into tensors."""
        return TensorAdapter(self.ArrowSchema(), self.TensorRepresentations())

    def RecordBatches(self, options: RecordBatchesOptions) -> Iterator[pa.RecordBatch]:
        """The batches, as pyarrow's."""
        pa = need("pyarrow", "tfxio")

        source = self._open(options.batch_size)
        dataset = source.dataset(**_order(options), prefetch=0, as_batches=True)
        return (pa.record_batch(batch) for batch in dataset)

    def TFDataset(self, options: TensorFlowDatasetOptions) -> Any:
        """A tf.data.Dataset of dicts of tensors by name, whose element_spec is TypeSpecs(); with a
        label_key of (dict, tensor). Needs TensorFlow.

        Where shuffle_seed is None, every call shuffles by another seed. Every iteration of the
        result begins with the first epoch.
        """
        parts = framework("tf", "tensorflow", "TensorFlow")
        dataset = self._tensor_source(options.batch_size).dataset(
            **_order(options),
            label=options.label_key,
            prefetch=2 if options.prefetch_buffer_size < 0 else options.prefetch_buffer_size,
            threads=max(1, options.reader_num_threads, options.parser_num_threads),
        )
        return parts.dataset_of(dataset, self.TensorRepresentations())

    TensorFlowDataset = TFDataset

    def Project(self, tensor_names: Sequence[str]) -> TFXIO:
        """The same, of these tensors and the columns that they are made of."""
        known = self.TensorRepresentations()
        for name in tensor_names:
            if name not in known:
                raise NotFoundError(f"there is no tensor {name!r}", path=name)
        return _Projected(self, tuple(tensor_names))


def _order(options: RecordBatchesOptions | TensorFlowDatasetOptions) -> dict[str, Any]:
    """The arguments of Source.dataset that say what comes when."""
    seed = options.shuffle_seed
    return {
        "batch_size": options.batch_size,
        "drop_last": options.drop_final_batch,
        "epochs": options.num_epochs,
        "shuffle": options.shuffle,
        "window": options.shuffle_buffer_size,
        "seed": random.getrandbits(64) if seed is None else seed % 2**64,
    }


class _Files(TFXIO):
    """Files of one format."""

    _format: str

    def __init__(
        self, file_pattern: str | Sequence[str], schema: SchemaLike | None, **options: Any
    ) -> None:
        self._paths = file_pattern
        self._options = {k: v for k, v in options.items() if v is not None}
        self._schema = None if schema is None else Schema(schema)

    def _open(self, batch_size: int) -> Source:
        return open_source(
            self._paths,
            format=self._format,
            schema=self._schema,
            batch_size=batch_size,
            **self._options,
        )


class TFExampleRecord(_Files):
    """TFRecord files of tf.Example. raw_record_column_name: a column of the records' bytes."""

    _format = "example"

    def __init__(
        self,
        file_pattern: str | Sequence[str],
        schema: SchemaLike | None = None,
        raw_record_column_name: str | None = None,
        tensor_group: str = "",
    ) -> None:
        super().__init__(
            file_pattern, schema, raw_column=raw_record_column_name, tensor_group=tensor_group
        )


class TFSequenceExampleRecord(_Files):
    """TFRecord files of tf.SequenceExample."""

    _format = "sequence_example"

    def __init__(
        self,
        file_pattern: str | Sequence[str],
        schema: SchemaLike | None = None,
        raw_record_column_name: str | None = None,
        tensor_group: str = "",
        sequence_column_name: str = _SEQUENCE_COLUMN,
    ) -> None:
        super().__init__(
            file_pattern,
            schema,
            raw_column=raw_record_column_name,
            tensor_group=tensor_group,
            sequence_column=sequence_column_name,
        )


class CsvTFXIO(_Files):
    """CSV files without a header, whose columns are named here: lists of int64, float32 and bytes,
    in the order of column_names.

    Without a schema the types are inferred from all files, once. With one there are the columns of
    its features.
    """

    _format = "csv"

    def __init__(
        self,
        file_pattern: str | Sequence[str],
        column_names: Sequence[str],
        delimiter: str = ",",
        skip_blank_lines: bool = True,
        multivalent_columns: Sequence[str] | None = None,
        secondary_delimiter: str | None = None,
        schema: SchemaLike | None = None,
        skip_header_lines: int = 0,
        tensor_group: str = "",
    ) -> None:
        dialect = CsvOptions(
            names=tuple(column_names),
            delimiter=delimiter,
            keep_blank_lines=not skip_blank_lines,
            multivalent=tuple(multivalent_columns or ()),
            skip_lines=skip_header_lines,
        )
        if secondary_delimiter is not None:
            dialect = replace(dialect, secondary_delimiter=secondary_delimiter)
        super().__init__(file_pattern, schema, csv=dialect, tensor_group=tensor_group)
        self._names = tuple(column_names)
        if self._schema is not None:
            self._options["columns"] = self._columns(self._schema)

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        features = [feature.name for feature in schema.features]
        for name in features:
            if name not in self._names:
                raise argument_error(f"the schema's feature {name!r} is none of column_names")
        return tuple(name for name in self._names if name in features)

    def _open(self, batch_size: int) -> Source:
        if self._schema is None:
            schema = infer_schema(self._paths, format=self._format, csv=self._options["csv"])
            self._options["columns"] = self._columns(schema)
            self._schema = schema
        return super()._open(batch_size)


class ParquetTFXIO(_Files):
    """Parquet files; column_names are read, None: all. The types are those of the files."""

    _format = "parquet"

    def __init__(
        self,
        file_pattern: str | Sequence[str],
        column_names: Sequence[str] | None = None,
        schema: SchemaLike | None = None,
        tensor_group: str = "",
    ) -> None:
        columns = None if column_names is None else tuple(column_names)
        super().__init__(file_pattern, schema, columns=columns, tensor_group=tensor_group)


class RawTFRecord(_Files):
    """TFRecord files whose records are not decoded: one column of their bytes."""

    _format = "raw"

    def __init__(self, file_pattern: str | Sequence[str], raw_record_column_name: str) -> None:
        super().__init__(file_pattern, None, raw_column=raw_record_column_name)
        self._column = raw_record_column_name

    def _schema_of(self) -> Schema:
        """The column as a tensor of one string per record."""
        name = json.dumps(self._column)
        return Schema.from_text(
            f"feature {{ name: {name} type: BYTES shape {{ }} presence {{ min_fraction: 1 }} }}"
        )

    def _tensor_source(self, batch_size: int) -> Source:
        return open_source(self._open(batch_size), schema=self._schema_of(), batch_size=batch_size)

    def TensorRepresentations(self) -> dict[str, TensorRepresentation]:
        return self._tensor_source(1).tensor_representations()


class GraphToTensorTFXIO(TFXIO):
    """Records of any kind, such as protobuf messages, as the tensors that a view makes of them.

    view: a View, a Query, or the path of a saved view. Or a decoder that is no view: a function
        that gets a list of bytes and gives a dict of tensors, or the folder of a SavedModel that
        tfx_bsl's save_decoder has written (which needs TensorFlow).
    file_pattern: of the files; None: there are none, and records come through BeamSource.
    params: values of the view's parameters.
    raw_record_column_name: of one more column, with the records' bytes.
    record_index_tensor_name: of a decoder: the tensor with the number of the record that each row
        comes from; a SavedModel tells it itself. A view says `output NAME = record_index()`.
    options: others of columnstone.open, such as container and on_error.
    """

    def __init__(
        self,
        view: ViewLike | Decode,
        file_pattern: str | Sequence[str] | None = None,
        *,
        params: Mapping[str, Any] | None = None,
        raw_record_column_name: str | None = None,
        record_index_tensor_name: str | None = None,
        **options: Any,
    ) -> None:
        self._paths = file_pattern
        self._raw = raw_record_column_name
        self._names: tuple[str, ...] | None = None
        self._options = options
        self._decoder: Decode | None = None
        self._index = record_index_tensor_name
        if is_decoder(view):
            self._decoder = view if callable(view) else SavedDecoder(view)  # type: ignore[arg-type]
            if isinstance(self._decoder, SavedDecoder) and self._index is None:
                self._index = self._decoder.record_index
            if params is not None:
                raise argument_error("a decoder has no parameters")
            return
        if record_index_tensor_name is not None:
            raise argument_error(
                "record_index_tensor_name is of a decoder",
                "a view says: output NAME = record_index()",
            )
        self._view = self._bound(view, params)

    @staticmethod
    def _bound(view: Any, params: Mapping[str, Any] | None) -> View:
        if isinstance(view, Query):
            return view.view(params)
        if isinstance(view, View):
            return view.again(params) if params else view
        return View(view, params=params)

    # What it gives

    @property
    def _outputs(self) -> View:
        """The view of the wanted outputs only."""
        return self._view if self._names is None else self._view.select(self._names)

    def _stage(self) -> Decoded:
        assert self._decoder is not None
        return Decoded(self._decoder, self._index, self._raw, self._names)

    def ArrowSchema(self) -> pa.Schema:
        """The Arrow schema of the batches; nothing is read for it."""
        pa = need("pyarrow", "tfxio")
        if self._decoder is not None:
            return pa.schema(self._stage().schema)
        schema = pa.schema(self._outputs.schema)
        if self._raw is None:
            return schema
        return schema.append(pa.field(self._raw, pa.large_list(pa.large_binary())))

    def TensorRepresentations(self) -> dict[str, TensorRepresentation]:
        if self._decoder is not None:
            return self._stage().layout.representations
        return self._outputs.specs

    def Project(self, tensor_names: Sequence[str]) -> TFXIO:
        """The same, of these tensors: what no other one needs is not parsed."""
        known = self.TensorRepresentations()
        for name in tensor_names:
            if name not in known:
                raise NotFoundError(f"there is no tensor {name!r}", path=name)
        some = copy.copy(self)
        some._names = tuple(name for name in known if name in tensor_names)
        return some

    def _open(self, batch_size: int) -> Source:
        if self._paths is None:
            raise argument_error("there are no files", "give file_pattern, or use BeamSource")
        return self._source(self._paths, batch_size)

    def _source(self, paths: Any, batch_size: int) -> Source:
        if self._decoder is not None:
            raw = open_source(paths, format="raw", batch_size=batch_size, **self._options)
            return raw._part("stage", self._stage(), None)
        return open_source(
            paths,
            view=self._view,
            columns=self._names,
            raw_column=self._raw,
            batch_size=batch_size,
            **self._options,
        )

    def _tensor_source(self, batch_size: int) -> Source:
        if self._decoder is None:
            return self._open(batch_size)
        specs = self.TensorRepresentations()
        schema = Schema.from_bytes(b"").with_tensor_representations(specs)
        return open_source(self._open(batch_size), schema=schema, batch_size=batch_size)

    # Beam

    def BeamSource(self, batch_size: int | None = None) -> Any:
        """A PTransform that gives pyarrow's record batches: of the files (one after the other by
        each worker), or where there are none of a PCollection of bytes, the records. Needs Apache
        Beam; what it is made of has to pickle."""
        beam = _beam()
        if self._paths is None:
            return _of_records(beam, self, batch_size)
        paths = [self._paths] if isinstance(self._paths, str) else list(self._paths)
        files = [file for path in paths for file in self._source(path, 1).files]
        return _of_files(beam, self, files, batch_size or 1024)

    def RawRecordToRecordBatch(self, batch_size: int | None = None) -> Any:
        """A PTransform from a PCollection of bytes, the records, to record batches."""
        return _of_records(_beam(), self, batch_size)

    def _batches_of(self, path: str, batch_size: int) -> Iterator[pa.RecordBatch]:
        pa = need("pyarrow", "tfxio")
        return (pa.record_batch(batch) for batch in self._source(path, batch_size))

    def _batch_of(self, records: Sequence[bytes]) -> pa.RecordBatch:
        pa = need("pyarrow", "tfxio")
        if self._decoder is not None:
            return pa.record_batch(self._stage().decoded(list(records))[0])
        if self._raw is None:
            return pa.record_batch(self._outputs.run(records))
        file = io.BytesIO()
        with TFRecordWriter(file) as writer:
            for record in records:
                writer.write(record)
        file.seek(0)
        (batch,) = self._batches_of(file, max(1, len(records)))  # type: ignore[arg-type]
        return batch


def _beam() -> Any:
    try:
        return importlib.import_module("apache_beam")
    except ModuleNotFoundError as error:
        hint = "pip install apache-beam"
        raise UnsupportedError(
            f"BeamSource needs apache_beam, which is not installed ({hint})", hint=hint
        ) from error


def _of_records(beam: Any, tfxio: GraphToTensorTFXIO, batch_size: int | None) -> Any:
    sizes = (
        {} if batch_size is None else {"min_batch_size": batch_size, "max_batch_size": batch_size}
    )

    def expand(records: Any) -> Any:
        return (
            records | "Batch" >> beam.BatchElements(**sizes) | "Decode" >> beam.Map(tfxio._batch_of)
        )

    return beam.ptransform_fn(expand)()


def _of_files(beam: Any, tfxio: GraphToTensorTFXIO, files: list[str], batch_size: int) -> Any:
    def expand(begin: Any) -> Any:
        return (
            begin
            | "Files" >> beam.Create(files)
            | "Spread" >> beam.Reshuffle()
            | "Read" >> beam.FlatMap(tfxio._batches_of, batch_size)
        )

    return beam.ptransform_fn(expand)()


class _Projected(TFXIO):
    """Some of the tensors of another TFXIO."""

    def __init__(self, whole: TFXIO, names: tuple[str, ...]) -> None:
        self._whole = whole
        self._names = names

    def _open(self, batch_size: int) -> Source:
        return self._select(self._whole._open(batch_size))

    def _tensor_source(self, batch_size: int) -> Source:
        return self._select(self._whole._tensor_source(batch_size))

    def _select(self, source: Source) -> Source:
        """The columns stay in their order."""
        known = self._whole.TensorRepresentations()
        wanted = _columns_of(known[name] for name in self._names)
        return source.select([name for name in source.column_names if name in wanted])

    def TensorRepresentations(self) -> dict[str, TensorRepresentation]:
        known = self._whole.TensorRepresentations()
        return {name: known[name] for name in self._names}

    def Project(self, tensor_names: Sequence[str]) -> TFXIO:
        for name in tensor_names:
            if name not in self._names:
                raise NotFoundError(f"there is no tensor {name!r}", path=name)
        return _Projected(self._whole, tuple(tensor_names))
