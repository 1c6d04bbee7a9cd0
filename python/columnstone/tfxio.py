"""The classes of the RFC "Standardized TFX inputs", built on the sources of this package.

    from columnstone import tfxio

    source = tfxio.TFExampleRecord("trips-*.tfrecord.gz", schema=schema)
    adapter = source.TensorAdapter()
    for batch in source.RecordBatches(tfxio.RecordBatchesOptions(batch_size=1024)):
        tensors = adapter.ToBatchTensors(batch)

Batches are pyarrow.RecordBatches. A class of your own with the same methods, derived from TFXIO or
not, can be used wherever one of these is used.
"""

from __future__ import annotations

import copy
import importlib
import io
import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ._api.artifacts import settled
from ._api.open import infer_schema
from ._api.open import open as open_source
from ._api.source import Source
from ._api.tfx_artifacts import is_tfx, payload_of
from ._arrow.pointers import exported, to_pyarrow
from ._base.errors import NotFoundError, UnsupportedError, argument_error
from ._base.optional import need
from ._core import arrow_schema
from ._lineage.choice import AS_BOUND, Choice, has_artifacts
from ._query.decoder import Decoded, SavedDecoder, is_decoder
from ._query.query import Query
from ._query.view import View
from ._schema.schema import Schema
from ._schema.spec import RowLengths
from ._tensor.adapter import TensorAdapter as Adapter
from ._tensor.adapter import adapter_html
from ._tensor.conversion import framework

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from ._api.views import ViewLike
    from ._lineage.artifact import Artifact
    from ._query.decoder import Decode
    from ._schema.schema import SchemaLike
    from ._schema.spec import TensorRepresentation

_SEQUENCE_COLUMN = "##SEQUENCE##"


@dataclass(frozen=True)
class RecordBatchesOptions:
    """Options of RecordBatches: the rows of a batch; whether an incomplete last batch is dropped;
    the number of passes (None: without end); whether each pass shuffles its rows, and the seed. All
    rows are shuffled if they have random access; otherwise only those within windows of
    shuffle_buffer_size rows."""

    batch_size: int
    drop_final_batch: bool = False
    num_epochs: int | None = 1
    shuffle: bool = False
    shuffle_buffer_size: int = 10_000
    shuffle_seed: int | None = None


@dataclass(frozen=True)
class TensorFlowDatasetOptions:
    """Options of TFDataset: the first six are those of RecordBatchesOptions; the number of batches
    and threads that work ahead (-1: chosen automatically); the tensor to return separately as the
    label.

    num_epochs=None continues without end. Unlike in tfx_bsl, it does not affect the short batch at
    the end of each epoch; use drop_final_batch for that. sloppy_ordering has no effect, because the
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
    """Converts record batches to tensors according to the tensor representations of a schema.

    arrow_schema: of the batches.
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
        """How each tensor is made."""
        return dict(self._representations)

    def ToBatchTensors(
        self, record_batch: Any, projections: Iterable[str] | None = None
    ) -> dict[str, Any]:
        """The tensors of a batch by name: Tensor, SparseTensor and RaggedTensor, or a dict of
        fields for a structured tensor.

        projections: the names of the wanted tensors. The batch must have the adapter's columns.
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

    def _repr_html_(self) -> str:
        return adapter_html(self._representations)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_adapters": {}}

    def TypeSpecs(self) -> dict[str, Any]:
        """The tf.TypeSpec of each tensor; for a structured tensor, a dict. Needs TensorFlow."""
        specs: dict[str, Any] = framework("tf", "tensorflow", "TensorFlow").type_specs(
            self._representations, arrow_schema(exported(self._arrow_schema))
        )
        return specs


def _columns_of(representations: Iterable[TensorRepresentation]) -> list[str]:
    """The columns that tensors are made from."""
    columns: list[str] = []
    for spec in _leaves(representations):
        lengths = [p.key for p in spec.partitions if isinstance(p, RowLengths)]
        for column in (*spec.index_columns, spec.steps[0], *lengths):
            if column not in columns:
                columns.append(column)
    return columns


def _leaves(representations: Iterable[TensorRepresentation]) -> Iterator[TensorRepresentation]:
    """Replaces structured tensors with their fields."""
    for spec in representations:
        if spec.kind == "structured":
            yield from _leaves(spec.fields)
        else:
            yield spec


class _Opening(NamedTuple):
    """What a TFXIO opens: the paths and options of columnstone.open, and a stage after it."""

    paths: Any
    options: dict[str, Any]
    stage: Decoded | None = None

    def source(self, batch_size: int) -> Source:
        """Without files: a source without rows that knows its columns and tensors."""
        paths = io.BytesIO() if self.paths is None else self.paths
        source = open_source(paths, batch_size=batch_size, **self.options)
        return source if self.stage is None else source._part("stage", self.stage, None)


class TFXIO:
    """The base class: an input that can be read as record batches and as tensors.

    A class of your own defines `_open`, or all of the public methods.
    """

    # Names for the metrics of pipelines: the logical and the physical format, and the component
    # that reads.
    _formats = ("unknown", "unknown")
    _descriptors: tuple[str, ...] = ("UNKNOWN_COMPONENT",)

    def _opening(self) -> _Opening | None:
        """What `_open` opens; None if unknown, because it is a user-defined class."""
        return None

    def _open(self, batch_size: int) -> Source:
        """A source with batches of this many rows."""
        opening = self._opening()
        if opening is None:
            raise NotImplementedError(f"{type(self).__name__} defines neither this nor _open")
        return opening.source(batch_size)

    def _tensor_source(self, batch_size: int) -> Source:
        """A source that knows its tensors."""
        return self._open(batch_size)

    def ArrowSchema(self) -> pa.Schema:
        """The Arrow schema of the batches. Without a TFMD schema this reads the input."""
        need("pyarrow", "tfxio", least=10)
        return to_pyarrow(self._open(1024).arrow_schema)

    def TensorRepresentations(self) -> dict[str, TensorRepresentation]:
        """How each tensor is made from the columns."""
        return self._open(1024).tensor_representations()

    def TensorAdapter(self) -> TensorAdapter:
        """The adapter that converts the batches to tensors."""
        return TensorAdapter(self.ArrowSchema(), self.TensorRepresentations())

    def RecordBatches(self, options: RecordBatchesOptions) -> Iterator[pa.RecordBatch]:
        """The batches, as pyarrow.RecordBatches."""
        need("pyarrow", "tfxio", least=10)
        source = self._open(options.batch_size)
        dataset = source.dataset(**_order(options), prefetch=0, as_batches=True)
        return (to_pyarrow(batch) for batch in dataset)

    def TFDataset(self, options: TensorFlowDatasetOptions) -> Any:
        """A tf.data.Dataset of dicts of tensors by name, with TypeSpecs() as its element_spec; with
        a label_key, of (dict, tensor). Needs TensorFlow.

        If shuffle_seed is None, every call shuffles with another seed. Every iteration of the
        result continues with the next epochs, which have other orders.
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
        """The same input with only these tensors, and the columns that they are made from."""
        known = self.TensorRepresentations()
        for name in tensor_names:
            if name not in known:
                raise NotFoundError(f"there is no tensor {name!r}", path=name)
        return _Projected(self, tuple(tensor_names))

    # Beam

    def _has_own(self, name: str) -> bool:
        """True if a user-defined class, not one of these, defines a method."""
        definer = next(c for c in type(self).__mro__ if name in vars(c))
        return definer.__module__ != __name__

    def _planned(self) -> _Opening | None:
        """The input that the planner divides; None: a user-defined class reads in its own way."""
        is_own = self._has_own("_open") or self._has_own("RecordBatches")
        return None if is_own else self._opening()

    def _batches(self, batch_size: int) -> Iterator[pa.RecordBatch]:
        return self.RecordBatches(RecordBatchesOptions(batch_size))

    def BeamSource(
        self, batch_size: int | None = None, projections: Sequence[str] | None = None
    ) -> Any:
        """A PTransform that returns pyarrow.RecordBatches of this many rows (by default 1024); the
        last ones of each range of a file have fewer. Needs Apache Beam.

        projections: names of tensors: the same as Project(projections).
        """
        tfxio = self if projections is None else self.Project(projections)
        return _beam().batches_of(tfxio, batch_size)

    def RawRecordBeamSource(self) -> Any:
        """A PTransform that returns the records as bytes, for classes whose files have records.
        Followed by RawRecordToRecordBatch, it returns the same as BeamSource, for pipelines that
        need both."""
        return _beam().records_of(self)

    def RawRecordToRecordBatch(self, batch_size: int | None = None) -> Any:
        """A PTransform that converts a PCollection of records (bytes) to pyarrow.RecordBatches."""
        return _beam().batches_of_records(self, batch_size)


def _beam() -> Any:
    need("apache_beam", "columnstone.tfxio")
    need("pyarrow", "columnstone.tfxio", "beam", least=10)
    importlib.import_module("._beam.coder", __package__)  # registers the coders
    return importlib.import_module("._beam.of_tfxio", __package__)


def _order(options: RecordBatchesOptions | TensorFlowDatasetOptions) -> dict[str, Any]:
    """The arguments of Source.dataset about order and batches."""
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
        self,
        file_pattern: str | Sequence[str],
        schema: SchemaLike | None,
        telemetry_descriptors: Sequence[str] | None,
        **options: Any,
    ) -> None:
        self._paths = file_pattern
        self._options = {k: v for k, v in options.items() if v is not None}
        self._schema = None if schema is None else Schema(schema)
        if telemetry_descriptors is not None:
            self._descriptors = tuple(telemetry_descriptors)

    def _opening(self) -> _Opening:
        given = {"format": self._format, "schema": self._schema, **self._options}
        return _Opening(self._paths, given)


class TFExampleRecord(_Files):
    """TFRecord files of tf.Example.

    raw_record_column_name: adds a column with this name that contains the records as bytes.
    telemetry_descriptors: of the component that reads: names for the metrics of pipelines.
    """

    _format = "example"
    _formats = ("tf_example", "tfrecords_gzip")

    def __init__(
        self,
        file_pattern: str | Sequence[str],
        schema: SchemaLike | None = None,
        raw_record_column_name: str | None = None,
        group: str = "",
        telemetry_descriptors: Sequence[str] | None = None,
    ) -> None:
        super().__init__(
            file_pattern,
            schema,
            telemetry_descriptors,
            raw_column=raw_record_column_name,
            group=group,
        )


class TFSequenceExampleRecord(_Files):
    """TFRecord files of tf.SequenceExample."""

    _format = "sequence_example"
    _formats = ("tf_sequence_example", "tfrecords_gzip")

    def __init__(
        self,
        file_pattern: str | Sequence[str],
        schema: SchemaLike | None = None,
        raw_record_column_name: str | None = None,
        group: str = "",
        sequence_column_name: str = _SEQUENCE_COLUMN,
        telemetry_descriptors: Sequence[str] | None = None,
    ) -> None:
        super().__init__(
            file_pattern,
            schema,
            telemetry_descriptors,
            raw_column=raw_record_column_name,
            group=group,
            sequence_column=sequence_column_name,
        )


class CsvTFXIO(_Files):
    """CSV files without a header; column_names has the names of the columns, in order. Types are
    lists of int64, float32 and bytes.

    Without a schema, the types are inferred from all files, once. With a schema, the columns are
    its features. raw_record_column_name: adds a last column with the text of each row.
    """

    _format = "csv"
    _formats = ("csv", "text")

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
        group: str = "",
        telemetry_descriptors: Sequence[str] | None = None,
        raw_record_column_name: str | None = None,
    ) -> None:
        self._dialect: dict[str, Any] = {
            "names": tuple(column_names),
            "delimiter": delimiter,
            "keep_blank_lines": not skip_blank_lines,
            "multivalent": tuple(multivalent_columns or ()),
            "skip_lines": skip_header_lines,
            "secondary_delimiter": secondary_delimiter,
        }
        super().__init__(
            file_pattern,
            schema,
            telemetry_descriptors,
            group=group,
            raw_column=raw_record_column_name,
            **self._dialect,
        )
        self._names = tuple(column_names)
        if self._schema is not None:
            self._options["columns"] = self._columns(self._schema)

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        features = [feature.name for feature in schema.features]
        for name in features:
            if name not in self._names:
                raise argument_error(f"the schema's feature {name!r} is none of column_names")
        return tuple(name for name in self._names if name in features)

    def _opening(self) -> _Opening:
        if self._schema is None:
            schema = infer_schema(self._paths, format=self._format, **self._dialect)
            self._options["columns"] = self._columns(schema)
            self._schema = schema
        return super()._opening()


class ParquetTFXIO(_Files):
    """Parquet files; column_names are the columns to read, None: all. The types are those of the
    files."""

    _format = "parquet"
    _formats = ("parquet", "parquet")

    def __init__(
        self,
        file_pattern: str | Sequence[str],
        column_names: Sequence[str] | None = None,
        schema: SchemaLike | None = None,
        group: str = "",
        telemetry_descriptors: Sequence[str] | None = None,
    ) -> None:
        columns = None if column_names is None else tuple(column_names)
        super().__init__(
            file_pattern,
            schema,
            telemetry_descriptors,
            columns=columns,
            group=group,
        )


class RawTFRecord(_Files):
    """TFRecord files whose records are not decoded: one column with their bytes."""

    _format = "raw"
    _formats = ("bytes", "tfrecords_gzip")

    def __init__(
        self,
        file_pattern: str | Sequence[str],
        raw_record_column_name: str,
        telemetry_descriptors: Sequence[str] | None = None,
    ) -> None:
        super().__init__(
            file_pattern, None, telemetry_descriptors, raw_column=raw_record_column_name
        )
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


class _Records(_Files):
    """Records from a PCollection of bytes: there are no files."""

    def _opening(self) -> _Opening:
        return super()._opening()._replace(paths=None)

    def RecordBatches(self, options: RecordBatchesOptions) -> Iterator[pa.RecordBatch]:
        raise self._refusal()

    def TFDataset(self, options: TensorFlowDatasetOptions) -> Any:
        raise self._refusal()

    TensorFlowDataset = TFDataset

    def _refusal(self) -> UnsupportedError:
        return UnsupportedError(f"{type(self).__name__} has no files: its records come from Beam")


class TFExampleBeamRecord(_Records, TFExampleRecord):
    """Serialized tf.Examples from a PCollection of bytes. BeamSource and RawRecordToRecordBatch
    convert them to batches.

    physical_format: their origin, such as "kafka"; it becomes part of the names of metrics.
    """

    def __init__(
        self,
        physical_format: str,
        telemetry_descriptors: Sequence[str] | None = None,
        schema: SchemaLike | None = None,
        raw_record_column_name: str | None = None,
        group: str = "",
    ) -> None:
        TFExampleRecord.__init__(
            self, (), schema, raw_record_column_name, group, telemetry_descriptors
        )
        self._formats = (self._formats[0], physical_format)


class TFSequenceExampleBeamRecord(_Records, TFSequenceExampleRecord):
    """Serialized tf.SequenceExamples from a PCollection of bytes, like TFExampleBeamRecord."""

    def __init__(
        self,
        physical_format: str,
        telemetry_descriptors: Sequence[str] | None = None,
        schema: SchemaLike | None = None,
        raw_record_column_name: str | None = None,
        group: str = "",
    ) -> None:
        TFSequenceExampleRecord.__init__(
            self,
            (),
            schema,
            raw_record_column_name,
            group,
            telemetry_descriptors=telemetry_descriptors,
        )
        self._formats = (self._formats[0], physical_format)


class RawBeamRecord(_Records, RawTFRecord):
    """Records from a PCollection of bytes, as a column of bytes."""

    def __init__(
        self,
        physical_format: str,
        raw_record_column_name: str,
        telemetry_descriptors: Sequence[str] | None = None,
    ) -> None:
        RawTFRecord.__init__(self, (), raw_record_column_name, telemetry_descriptors)
        self._formats = (self._formats[0], physical_format)


class GraphToTensorTFXIO(TFXIO):
    """Records of any kind, such as protobuf messages, as the tensors that a view makes from them.
    Without files, BeamSource takes a PCollection of bytes.

    view: a View, a Query, or the path of a saved view. Or a decoder that is not a view: a function
        that gets a list of bytes and returns a dict of tensors, or the folder of a SavedModel
        written by tfx_bsl's save_decoder (which needs TensorFlow).
    file_pattern: of the files; None: no files, records come from a PCollection.
    params: values of the view's parameters.
    raw_record_column_name: adds a column with this name that contains the records as bytes.
    record_index_tensor_name: for a decoder: the tensor with the number of the record that each row
        comes from; a SavedModel contains this name. In a view, write `output NAME =
        record_index()`.
    telemetry_descriptors: as for TFExampleRecord.
    options: other options of columnstone.open, such as container and on_error.
    """

    _formats = ("tensor", "tfrecords_gzip")

    def __init__(
        self,
        view: ViewLike | Decode,
        file_pattern: str | Sequence[str] | None = None,
        *,
        params: Mapping[str, Any] | None = None,
        raw_record_column_name: str | None = None,
        record_index_tensor_name: str | None = None,
        telemetry_descriptors: Sequence[str] | None = None,
        **options: Any,
    ) -> None:
        self._paths = file_pattern
        if telemetry_descriptors is not None:
            self._descriptors = tuple(telemetry_descriptors)
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

    # The methods of TFXIO

    @property
    def _outputs(self) -> View:
        """The view with only the wanted outputs."""
        return self._view if self._names is None else self._view.select(self._names)

    def _stage(self) -> Decoded:
        assert self._decoder is not None
        return Decoded(self._decoder, self._index, self._raw, self._names)

    def ArrowSchema(self) -> pa.Schema:
        """The Arrow schema of the batches; it is known without reading."""
        pa = need("pyarrow", "tfxio", least=10)
        if self._decoder is not None:
            return to_pyarrow(self._stage().schema)
        schema = to_pyarrow(self._outputs.schema)
        if self._raw is None:
            return schema
        return schema.append(pa.field(self._raw, pa.large_list(pa.large_binary())))

    def TensorRepresentations(self) -> dict[str, TensorRepresentation]:
        if self._decoder is not None:
            return self._stage().layout.representations
        return self._outputs.specs

    def Project(self, tensor_names: Sequence[str]) -> TFXIO:
        """The same input with only these tensors: fields that no other tensor needs are not
        parsed."""
        known = self.TensorRepresentations()
        for name in tensor_names:
            if name not in known:
                raise NotFoundError(f"there is no tensor {name!r}", path=name)
        some = copy.copy(self)
        some._names = tuple(name for name in known if name in tensor_names)
        return some

    def _opening(self) -> _Opening:
        if self._decoder is not None:
            options = {"format": "raw", **self._options}
            return _Opening(self._paths, options, self._stage())
        view = {"view": self._view, "columns": self._names, "raw_column": self._raw}
        return _Opening(self._paths, {**view, **self._options})

    def _open(self, batch_size: int) -> Source:
        if self._paths is None:
            raise argument_error("there are no files", "give file_pattern, or use BeamSource")
        return self._opening().source(batch_size)

    def _tensor_source(self, batch_size: int) -> Source:
        if self._decoder is None:
            return self._open(batch_size)
        specs = self.TensorRepresentations()
        schema = Schema.from_bytes(b"").with_tensor_representations(specs)
        return open_source(self._open(batch_size), schema=schema, batch_size=batch_size)


class _Projected(TFXIO):
    """Some of the tensors of another TFXIO."""

    def __init__(self, whole: TFXIO, names: tuple[str, ...]) -> None:
        self._whole = whole
        self._names = names
        self._formats = whole._formats
        self._descriptors = whole._descriptors

    def _opening(self) -> _Opening | None:
        """None: the original is a user-defined class."""
        opening = self._whole._planned()
        if opening is None:
            return None
        columns = self._columns(self._whole._open(1024))
        return opening._replace(options={**opening.options, "columns": columns})

    def _open(self, batch_size: int) -> Source:
        opening = self._opening()
        if opening is not None and opening.paths is None:
            return opening.source(batch_size)
        return self._select(self._whole._open(batch_size))

    def _tensor_source(self, batch_size: int) -> Source:
        return self._select(self._whole._tensor_source(batch_size))

    def _select(self, source: Source) -> Source:
        return source.select(self._columns(source))

    def _columns(self, source: Source) -> list[str]:
        """The columns of the tensors, in the order of the source."""
        known = self._whole.TensorRepresentations()
        wanted = _columns_of(known[name] for name in self._names)
        return [name for name in source.column_names if name in wanted]

    def TensorRepresentations(self) -> dict[str, TensorRepresentation]:
        known = self._whole.TensorRepresentations()
        return {name: known[name] for name in self._names}

    def Project(self, tensor_names: Sequence[str]) -> TFXIO:
        for name in tensor_names:
            if name not in self._names:
                raise NotFoundError(f"there is no tensor {name!r}", path=name)
        return _Projected(self._whole, tuple(tensor_names))


class _AnyFiles(_Files):
    """Files of any format of `columnstone.open`; the options are those of `open`."""

    def __init__(
        self, paths: Any, format: str, schema: Any, options: dict[str, Any], telemetry: Any
    ) -> None:
        super().__init__(paths, schema, telemetry, **options)
        self._format = format
        self._formats = (format, format)


def make_tfxio(
    examples: Any,
    telemetry_descriptors: Sequence[str] | None = None,
    schema: SchemaLike | Artifact | None = None,
    read_as_raw_records: bool = False,
    raw_record_column_name: str | None = None,
    *,
    view: ViewLike | Artifact | Choice | None = AS_BOUND,
) -> TFXIO:
    """Creates the TFXIO for Examples, for one artifact or for a list that is read together. It
    depends on their content, and on the view that they are bound to. ArgumentError names artifacts
    that need different options: none is preferred, for example by age.

    examples: artifacts of `columnstone.lineage`; or of TFX, or objects with `uri`, `split_names`
        and get_string_custom_property, whose "payload_format" and "data_view_uri" are used.
    schema: to read them with; a view has its own types.
    read_as_raw_records: read one column raw_record_column_name with the records as bytes instead.
    raw_record_column_name: adds a column with this name that contains the records as bytes.
    view: another view to read them through; None: no view.
    """
    options: dict[str, Any]
    given = list(examples) if isinstance(examples, list | tuple) else [examples]
    if given and all(is_tfx(one) for one in given):
        payload = payload_of(given)
        paths, of_view = payload.paths, payload.view if view is AS_BOUND else view
        options = {"format": payload.format, "view": AS_BOUND if of_view is None else of_view}
    elif has_artifacts(given):
        paths, options = given, {"view": view}
    else:
        raise TypeError(
            "examples must be artifacts of columnstone.lineage or of TFX, not "
            f"{type(given[0]).__name__ if given else 'an empty list'}"
        )
    paths, options = settled(paths, {**options, "schema": schema})
    return _tfxio_of(
        paths, options, telemetry_descriptors, read_as_raw_records, raw_record_column_name
    )


def _tfxio_of(
    paths: Any,
    options: dict[str, Any],
    telemetry: Sequence[str] | None,
    is_raw: bool,
    raw: str | None,
) -> TFXIO:
    """With the resolved options of `columnstone.open`."""
    of_view, format = options.pop("view", None), options.pop("format", None)
    schema = options.pop("schema", None)
    if is_raw:
        if raw is None:
            raise argument_error("read_as_raw_records needs raw_record_column_name")
        return RawTFRecord(paths, raw, telemetry)
    if of_view is not None:
        return GraphToTensorTFXIO(
            of_view,
            paths,
            raw_record_column_name=raw,
            telemetry_descriptors=telemetry,
            **options,
        )
    if format is None:
        with open_source(paths, **options) as source:
            format = source._core.format()
    if raw is not None and format in ("example", "sequence_example"):
        options["raw_column"] = raw
    return _by_format(paths, format, schema, options, telemetry)


def _by_format(
    paths: Any, format: str, schema: Any, options: dict[str, Any], telemetry: Any
) -> TFXIO:
    classes: dict[str, type[_Files]] = {
        "example": TFExampleRecord,
        "sequence_example": TFSequenceExampleRecord,
        "parquet": ParquetTFXIO,
    }
    if format not in classes:
        return _AnyFiles(paths, format, schema, options, telemetry)
    made: _Files = classes[format](paths, schema=schema, telemetry_descriptors=telemetry)
    made._options.update(options)
    return made
