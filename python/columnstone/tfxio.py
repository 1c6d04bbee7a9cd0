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

import json
import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ._api.open import infer_schema
from ._api.open import open as open_source
from ._api.source import Source
from ._base.errors import NotFoundError, argument_error
from ._base.optional import need
from ._core import arrow_schema
from ._formats.csv import CsvOptions
from ._schema.schema import Schema
from ._schema.spec import RowLengths
from ._tensor.adapter import TensorAdapter as Adapter
from ._tensor.conversion import framework

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

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
