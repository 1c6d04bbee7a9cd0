"""Decoders that are not views: Python functions, and SavedModels of tfx_bsl, that turn records into
tensors. They are a stage between the records of files and the batches."""

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

# The attribute in which tfx_bsl's save_decoder stores the name of the tensor with the record
# numbers.
_INDEX_SIGNATURE = "__record_index_tensor_name__:"


class SavedDecoder:
    """A SavedModel written by tfx_bsl's save_decoder: its decode_fun takes a vector of strings and
    returns a dict of tensors. It pickles as its path."""

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
            raise argument_error(f"{self.path}: the SavedModel does not return a dict of tensors")

    @property
    def record_index(self) -> str | None:
        """The tensor with the record number of each row, if the model has one."""
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
    """How the tensors of a decoder become columns."""

    representations: dict[str, TensorRepresentation]
    encoder: TensorEncoder
    empty: RecordBatch


class Decoded:
    """A stage that decodes batches with one column of records: the tensors of the decoder become
    columns.

    decode: gets a list of bytes and returns a dict of tensors, as TensorEncoder.encode takes them.
        It is called once with an empty list to find out the tensors. A tensor without dimensions
        has the same value in every row.
    record_index: the tensor with the number (in the list) of the record of each row; None: row i
        comes from record i.
    raw_column: an additional column with the records.
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
        """Determined by decoding an empty list."""
        if self._layout is None:
            try:
                tensors = self._tensors([])
            except Exception as error:
                error.add_note(
                    "the decoder was called with an empty list of records, to find out its tensors"
                )
                raise
            specs = _specs_of(tensors)
            if self.record_index is not None and self.record_index not in tensors:
                raise argument_error(
                    f"record_index: the decoder does not return the tensor {self.record_index!r}"
                )
            wanted = self._wanted(specs)
            encoder = TensorEncoder(wanted)
            empty = encoder.encode({name: tensors[name] for name in wanted})
            self._layout = Layout(wanted, encoder, empty)
        return self._layout

    def _wanted(self, specs: dict[str, TensorRepresentation]) -> dict[str, TensorRepresentation]:
        return specs if self.names is None else {name: specs[name] for name in self.names}

    def _tensors(self, records: list[bytes]) -> dict[str, Any]:
        """The tensors as TensorEncoder takes them."""
        given = self.decode(records)
        if not isinstance(given, Mapping):
            raise TypeError(
                f"the decoder returned {type(given).__name__}, expected a dict of tensors"
            )
        if not given:
            raise argument_error("the decoder returned no tensors")
        tensors = {name: _with_rows(value) for name, value in given.items()}
        rows = next((_num_rows(t) for t in tensors.values() if t is not None), len(records))
        return {
            name: _repeated(given[name], rows) if value is None else value
            for name, value in tensors.items()
        }

    # The stage

    @property
    def schema(self) -> ArrowSchema:
        """The schema of the batches that it returns."""
        empty = self.layout.empty
        return (empty if self.raw_column is None else self._with_raw(empty, [])).schema

    def bind(self, schema: ArrowSchema) -> object:
        return self.schema

    def run(self, batch: RecordBatch) -> tuple[RecordBatch, Array | None]:
        return self.decoded(batch.column(0).to_pylist())

    def decoded(self, records: list[bytes]) -> tuple[RecordBatch, Array | None]:
        """The batch of some records, and the record number of each row, if it differs from the row
        number."""
        wanted = self.layout.representations
        tensors = self._tensors(records)
        made = self.layout.encoder.encode({name: tensors[name] for name in wanted})
        rows = None
        if self.record_index is not None:
            rows = array(_numbers(tensors[self.record_index], len(made)))
        elif len(made) != len(records):
            raise argument_error(
                f"the decoder returned {len(made)} rows for {len(records)} records",
                "record_index= names the tensor with the records' numbers",
            )
        if self.raw_column is not None:
            numbers = range(len(records)) if rows is None else rows.to_pylist()
            made = self._with_raw(made, [records[i] for i in numbers])
        return made, rows

    def _with_raw(self, batch: RecordBatch, records: list[bytes]) -> RecordBatch:
        pa = need("pyarrow", "a column of raw records")
        if self.raw_column in batch.schema.names:
            raise argument_error(
                f"the raw column {self.raw_column!r} has the same name as a tensor"
            )
        kind = pa.large_list(pa.large_binary())
        column = pa.array([[record] for record in records], kind)
        made: Any = pa.record_batch(batch).append_column(self.raw_column, column)
        return record_batch(made)

    def refuse(self, schema: ArrowSchema, batch: Any) -> None:
        raise SchemaError(
            f"the decoder returned the columns {record_batch(batch).schema}, but {schema} for an "
            "empty list of records: types and dimensions of tensors must not change"
        )


def _with_rows(value: Any) -> Any:
    """The tensor unchanged; None for one without dimensions."""
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
    """The record numbers: one in each row of a dense, a sparse or a ragged tensor."""
    np = need("numpy", "a decoder with records' numbers")
    values = getattr(tensor, "flat_values", getattr(tensor, "values", tensor))
    found = np.asarray(values).reshape(-1).astype("int64")
    if len(found) != rows:
        raise SchemaError(f"found {len(found)} record numbers for {rows} rows")
    return found


def _specs_of(tensors: Mapping[str, Any]) -> dict[str, TensorRepresentation]:
    """The representations of the tensors. Sparse tensors are written with their positions, because
    an empty list of records does not show whether there are gaps."""
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
