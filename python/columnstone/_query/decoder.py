"""Decoders that are no views: functions of Python's, and SavedModels of tfx_bsl, from records to
tensors. As a stage they stand between the records of files and the batches."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .._arrow.table import array, record_batch
from .._base.errors import SchemaError, argument_error
from .._base.optional import need
from .._tensor.encoder import TensorEncoder
from .._tensor.tensor import RaggedTensor, SparseTensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from .._core import Array, ArrowSchema, RecordBatch
    from .._schema.spec import TensorRepresentation

    Decode: TypeAlias = Callable[[list[bytes]], Mapping[str, Any]]

# How tfx_bsl's save_decoder tells the name of the tensor with the records' numbers.
_INDEX_SIGNATURE = "__record_index_tensor_name__:"


class SavedDecoder:
    """A SavedModel that tfx_bsl's save_decoder has written: its decode_fun takes a vector of
    strings and gives a dict of tensors. It pickles by its path."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fsdecode(path)
        self._load()

    def _load(self) -> None:
        self._tf = need("tensorflow", "a decoder that is a SavedModel")
        module = self._tf.saved_model.load(self.path)
        if not hasattr(module, "decode_fun"):
            raise argument_error(
                f"{self.path}: the SavedModel has no decode_fun",
                "tfx_bsl.coders.tf_graph_record_decoder.save_decoder writes one",
            )
        self._module = module  # which holds what the function needs
        self._decode = module.decode_fun
        if not isinstance(self._decode.structured_outputs, Mapping):
            raise argument_error(f"{self.path}: the SavedModel gives no dict of tensors")

    @property
    def record_index(self) -> str | None:
        """The tensor with the number of the record of each row, if the model names one."""
        names = [str(name) for name in getattr(self._module, "signatures", {})]
        found = [name for name in names if name.startswith(_INDEX_SIGNATURE)]
        return found[0].removeprefix(_INDEX_SIGNATURE) if found else None

    def __call__(self, records: list[bytes]) -> dict[str, Any]:
        return dict(self._decode(self._tf.constant(records, self._tf.string, [len(records)])))

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.path = state["path"]
        self._load()


def is_decoder(what: object) -> bool:
    """True for functions, and for folders of SavedModels."""
    return callable(what) or (isinstance(what, str | os.PathLike) and os.path.isdir(what))


class Layout(NamedTuple):
    """What a decoder's tensors become."""

    representations: dict[str, TensorRepresentation]
    encoder: TensorEncoder
    empty: RecordBatch


class Decoded:
    """A stage: batches of records in one column become the tensors that a decoder makes of them,
    as columns.

    decode: gets a list of bytes and gives a dict of tensors, as TensorEncoder.encode takes them. It
        is asked once for no records, to know them. What has no dimension is the same in every row.
    record_index: the tensor with the number (in the list) of the record of each row; None: row i is
        of record i.
    raw_column: one more column of the records.
    names: the wanted tensors; None: all.
    """

    def __init__(
        self,
        decode: Decode,
        record_index: str | None = None,
        raw_column: str | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self.decode = decode
        self.record_index = record_index
        self.raw_column = raw_column
        self.names = None if names is None else tuple(names)
        self._layout: Layout | None = None

    @property
    def keeps_rows(self) -> bool:
        return self.record_index is None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_layout": None}

    @property
    def layout(self) -> Layout:
        """Found out by decoding no records."""
        if self._layout is None:
            try:
                tensors = self._tensors([])
            except Exception as error:
                error.add_note("the decoder was called with no records, to know its tensors")
                raise
            specs = _specs_of(tensors)
            if self.record_index is not None and self.record_index not in tensors:
                raise argument_error(
                    f"the decoder gives no tensor {self.record_index!r} with the records' numbers"
                )
            wanted = self._wanted(specs)
            encoder = TensorEncoder(wanted)
            empty = encoder.encode({name: tensors[name] for name in wanted})
            self._layout = Layout(wanted, encoder, empty)
        return self._layout

    def _wanted(self, specs: dict[str, TensorRepresentation]) -> dict[str, TensorRepresentation]:
        return specs if self.names is None else {name: specs[name] for name in self.names}

    def _tensors(self, records: list[bytes]) -> dict[str, Any]:
        """As TensorEncoder takes them."""
        given = self.decode(records)
        if not isinstance(given, Mapping):
            raise TypeError(f"a decoder gives a dict of tensors, not {type(given).__name__}")
        if not given:
            raise argument_error("the decoder gives no tensors")
        tensors = {name: _with_rows(value) for name, value in given.items()}
        rows = next((_num_rows(t) for t in tensors.values() if t is not None), len(records))
        return {
            name: _repeated(given[name], rows) if value is None else value
            for name, value in tensors.items()
        }

    # The stage

    @property
    def schema(self) -> ArrowSchema:
        """Of the batches that it gives."""
        empty = self.layout.empty
        return (empty if self.raw_column is None else self._with_raw(empty, [])).schema

    def bind(self, schema: ArrowSchema) -> object:
        return self.schema

    def run(self, batch: RecordBatch) -> tuple[RecordBatch, Array | None]:
        return self.decoded(batch.column(0).to_pylist())

    def decoded(self, records: list[bytes]) -> tuple[RecordBatch, Array | None]:
        """The batch of some records, and the record of each row, if these differ."""
        wanted = self.layout.representations
        tensors = self._tensors(records)
        made = self.layout.encoder.encode({name: tensors[name] for name in wanted})
        rows = None
        if self.record_index is not None:
            rows = array(_numbers(tensors[self.record_index], len(made)))
        elif len(made) != len(records):
            raise argument_error(
                f"the decoder gave {len(made)} rows for {len(records)} records",
                "record_index= names the tensor with the records' numbers",
            )
        if self.raw_column is not None:
            numbers = range(len(records)) if rows is None else rows.to_pylist()
            made = self._with_raw(made, [records[i] for i in numbers])
        return made, rows

    def _with_raw(self, batch: RecordBatch, records: list[bytes]) -> RecordBatch:
        pa = need("pyarrow", "a column of raw records")
        if self.raw_column in batch.schema.names:
            raise argument_error(f"a tensor has the name of the raw column {self.raw_column!r}")
        kind = pa.large_list(pa.large_binary())
        column = pa.array([[record] for record in records], kind)
        made: Any = pa.record_batch(batch).append_column(self.raw_column, column)
        return record_batch(made)

    def refuse(self, schema: ArrowSchema, batch: Any) -> None:
        raise SchemaError(
            f"the decoder gave the columns {record_batch(batch).schema}, and {schema} for no "
            "records: tensors keep their types and their dimensions"
        )


def _with_rows(value: Any) -> Any:
    """A tensor as it is; None for one without dimensions."""
    if isinstance(value, list | tuple | Mapping | SparseTensor | RaggedTensor):
        return value
    shape = getattr(value, "shape", None)
    if shape is None and not hasattr(value, "__len__"):
        return None  # a number of Python's
    return (
        None if isinstance(value, str | bytes) or (shape is not None and len(shape) == 0) else value
    )


def _num_rows(value: Any) -> int:
    if isinstance(value, Mapping):
        return _num_rows(next(iter(value.values())))
    if hasattr(value, "dense_shape"):
        return int(_numpy_of(value.dense_shape)[0])
    if isinstance(value, RaggedTensor):
        return value.num_rows
    if hasattr(value, "nrows"):
        return int(value.nrows())
    return int(value.shape[0]) if hasattr(value, "shape") else len(value)


def _numpy_of(value: Any) -> Any:
    np = need("numpy", "a decoder")
    return np.asarray(value)


def _repeated(value: Any, rows: int) -> Any:
    """A scalar as a vector."""
    np = need("numpy", "a decoder that gives scalars")
    if isinstance(value, str | bytes):
        return [value] * rows
    return np.full(rows, np.asarray(value))


def _numbers(tensor: Any, rows: int) -> Any:
    """The records' numbers: one in each row of a dense, a sparse or a ragged tensor."""
    np = need("numpy", "a decoder with records' numbers")
    values = getattr(tensor, "flat_values", getattr(tensor, "values", tensor))
    found = np.asarray(values).reshape(-1).astype("int64")
    if len(found) != rows:
        raise SchemaError(f"there are {len(found)} numbers of records for {rows} rows")
    return found


def _specs_of(tensors: Mapping[str, Any]) -> dict[str, TensorRepresentation]:
    """What the tensors ask for. Sparse ones are written with their positions: of no records nobody
    knows whether there are gaps."""
    specs = TensorEncoder.of(tensors).representations
    return {
        name: _with_positions(spec) if spec.kind == "varlen_sparse" else spec
        for name, spec in specs.items()
    }


def _with_positions(spec: TensorRepresentation) -> TensorRepresentation:
    return dataclasses.replace(
        spec,
        kind="sparse",
        path=(f"{spec.name}$values",),
        shape=(-1,),
        index_columns=(f"{spec.name}$index0",),
    )
