"""Decoders and encoders of data in memory: one class each, for all formats."""

from __future__ import annotations

import functools
import io
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from .. import _core
from .._arrow.pointers import exported
from .._base.errors import UnsupportedError, argument_error
from .._base.files import in_memory
from .._base.markup import facts, or_text, titled
from .._base.public import public, public_in
from .._formats import registry
from .._formats.avro_options import avro_schema
from .._formats.options import KINDS, core_options, refuse
from .._message.options import OPTIONS, core_message, encoding_message, message_of
from .._message.plain import PlainData
from .._schema.schema import Schema, as_column_flags, as_columns, as_core
from .._sink.writer import Writer
from .avro_lookup import AvroLookup
from .open import open as open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from typing import Literal, Self, TypeAlias, Unpack

    from .._arrow.objects import Plain
    from .._core import (
        ArrowArrayExportable,
        ArrowSchema,
        ArrowSchemaExportable,
        ArrowStreamExportable,
        Buffer,
    )
    from .._formats.avro_options import AvroSchema
    from .._formats.options import CoreFormatOptions
    from .._message.descriptors import Descriptors, DescriptorsLike
    from .._message.options import CoreMessage, Form, MessageLike, MessageOptions
    from .._schema.schema import SchemaLike
    from .._sink.writer import Batches

    Records: TypeAlias = "Iterable[Buffer] | ArrowArrayExportable | ArrowStreamExportable"
    Told: TypeAlias = "tuple[_core.Schema | None, CoreMessage | None, CoreFormatOptions]"

_Encoded = TypeVar("_Encoded")

_ALL_ROWS = 2**31 - 1  # of one batch
# options for Avro's records, but not for its files: with one of them, or with a schema, records are
# meant
_AVRO = {"avro_framing", "avro_writer_schema", "avro_schemas", "avro_schema_id"}
_LAYOUT = {"offsets": 64, "binary_views": False, "fixed_size": False, "nested": False}


def _is_of_records(format: str) -> bool:
    """False for formats of files. NotFoundError for an unknown format."""
    if not isinstance(format, str):
        raise TypeError(f"a format must be named by a str, not {type(format).__name__}")
    if format in _core.FORMATS:
        return _core.FORMATS[format][2]
    if registry.by_name(format) is None:
        try:
            _core.Decoder(format, None, None, 0, None, ())
        except UnsupportedError:  # a plug-in
            return False
    return False


def _is_buffer(data: object) -> bool:
    try:
        memoryview(data)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


class _Codec:
    """The common part of decoders and encoders: the arguments they were created with, which are
    also their pickled form."""

    __slots__ = ("_format", "_given", "_of_records")

    def __init__(self, format: str, schema: Any, options: Mapping[str, Any]) -> None:
        is_avro = format == "avro" and (schema is not None or not _AVRO.isdisjoint(options))
        self._of_records = is_avro or _is_of_records(format)
        self._format = format
        self._given: dict[str, Any] = {}
        if is_avro:
            if schema is not None and options.get("avro_schema") is not None:
                raise argument_error("the schema is given twice", "leave avro_schema out")
            self._given["schema"] = None if schema is None else avro_schema("schema", schema)
        elif "schema" in _core.FORMAT_OPTIONS.get(
            format, {}
        ):  # not one of TFMD: an option of its own
            self._given["schema"] = schema
        elif schema is not None:
            core = as_core(schema)
            self._given["schema"] = None if core is None else Schema._wrap(core)

    def _keep(self, options: dict[str, Any], usual: Collection[str]) -> None:
        """Stores the options for files: those of the format, and the general ones."""
        self._given.update((name, value) for name, value in options.items() if value is not None)
        usual = {*usual, "descriptors", "message_options"}
        of_format = {name: value for name, value in options.items() if name not in usual}
        told = core_options(type(self).__name__.lower(), of_format, self._format)
        if self._format in _core.FORMATS:
            own = _core.FORMAT_OPTIONS.get(self._format, {})
            refuse(self._format, tuple(option for option in told if option[0] not in own))

    def _told(self, options: dict[str, Any], message: Callable[..., CoreMessage]) -> Told:
        """Stores the options for records, and returns them for the compiled part."""
        given = self._given.get("schema")
        schema = given if isinstance(given, Schema) else None
        core, own = None, {}
        if self._format == "message":
            kind = options.pop("message", None), options.pop("descriptors", None)
            descriptors, name = message_of(*kind)
            core = message(name, descriptors, options)
            self._given.update(options, message=name, descriptors=descriptors)
        else:
            for name in options.keys() & {*OPTIONS, "message", "descriptors"} - KINDS.keys():
                raise argument_error(
                    f"the format {self._format} has no option {name!r}",
                    "it belongs to the format message",
                )
            self._given.update(options)
            name = "avro_schema" if self._format == "avro" else "schema"
            own = {name: None if schema else self._given.get("schema"), **options}
            own = {name: value for name, value in own.items() if value is not None}
        return (
            None if schema is None else as_core(schema),
            core,
            core_options(type(self).__name__.lower(), own),
        )

    @property
    def format(self) -> str:
        """The name of the format it was created with."""
        return self._format

    @property
    def schema(self) -> Schema | str | None:
        """The schema it was created with; for Avro records, its JSON."""
        return self._given.get("schema")

    @property
    def message(self) -> str | None:
        """The full name of the message type, if it is for messages."""
        return self._given.get("message")

    @property
    def descriptors(self) -> Descriptors | None:
        """The set of message types, if it is for messages."""
        return self._given.get("descriptors")

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[Any, ...]]:
        return functools.partial(type(self), **self._given), (self._format,)

    def __repr__(self) -> str:
        what = self._format if self.message is None else f"{self._format} {self.message}"
        return f"<{type(self).__module__}.{type(self).__name__}: {what}>"


@public_in("columnstone.codec")
class Decoder(_Codec):
    """Decodes data in memory into record batches. `columnstone.decoder` creates it. It pickles."""

    __slots__ = ("_core", "_lookup", "_make", "_own")
    _lookup: AvroLookup | None

    def __init__(
        self,
        format: str,
        schema: SchemaLike | AvroSchema | None = None,
        columns: Iterable[str] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(format, schema, options)
        names = as_columns(columns)
        self._core = self._lookup = None
        self._given["columns"] = names
        if not self._of_records:
            if "batch_size" in options:
                raise argument_error(
                    "a decoder returns all rows in one batch", "leave batch_size out"
                )
            self._keep(options, _core.SOURCE_OPTIONS.keys() | {"params"})
            return
        layout = {name: options.pop(name, usual) for name, usual in _LAYOUT.items()}
        flags = as_column_flags(**layout)
        find = options.get("avro_schemas")
        if callable(find):
            self._lookup = AvroLookup(find, options.get("avro_framing"))
            options["avro_schemas"] = []
        of_schema, message, own = self._told(options, core_message)
        self._make = functools.partial(_core.Decoder, format, of_schema, names, flags, message)
        self._core = self._make(own)
        self._given.update(layout)
        if self._lookup is not None:
            self._given["avro_schemas"] = find
            self._own = own

    def decode(self, records: Buffer | Records) -> _core.RecordBatch:
        """Decodes records into one batch, with one row each, or files in memory into all their
        rows.

        records: a list (or any iterable) of bytes or other buffers, or an Arrow array of binary,
            string or their large and view variants without nulls. A batch with one such column is
            accepted, too; a table or other object with __arrow_c_stream__ is decoded completely.
            For formats of files: the bytes of a file, or a list or tuple of them; for JSON, for
            example, one object each.

        Decoding releases the GIL. One thread uses a decoder at a time (others wait). A decoder
        stays usable after an error: CorruptError or SchemaError with the record's number, and the
        path of the column; TypeError for a record that is not bytes. For files, raises the errors
        of `cst.open` and its passes, with the record's number and position.

        >>> records = [b"a,1", b"b,2"]
        >>> cst.decoder("raw").decode(records).to_pydict()
        {'record': [b'a,1', b'b,2']}
        """
        if self._core is None:
            return self._decode_files(records)
        if self._lookup is not None:
            records, is_new = self._lookup.add(records)
            if is_new:
                table = core_options("decoder", {"avro_schemas": self._lookup.table})
                rest = tuple(option for option in self._own if option[0] != "avro_schemas")
                self._core = self._make((*rest, *table))
        return self._core.decode(exported(records))

    def _decode_files(self, data: Any) -> _core.RecordBatch:
        name = f"{self._format} data"
        files: Any
        if isinstance(data, list | tuple) and len(data) > 0:
            for i, item in enumerate(data):
                if not _is_buffer(item):
                    raise TypeError(f"records[{i}] is {type(item).__name__}, not bytes")
            if self._format == "json" and all(bytes(memoryview(item)[:1]) == b"{" for item in data):
                data = [b"\n".join(data)]  # lines are records: as one file it is faster
            files = [in_memory(name, item) for item in data]
        elif _is_buffer(data):
            files = in_memory(name, data)
        else:
            raise TypeError(
                f"{type(data).__name__} is neither the bytes of a file nor a list of such"
                " (of values of Arrow: column.to_pylist())"
            )
        with open_source(files, self._format, batch_size=_ALL_ROWS, **self._given) as source:
            for batch in source:
                return batch
            return source.empty_batch()

    @property
    def arrow_schema(self) -> ArrowSchema | None:
        """The schema of the batches; None if it depends on the data of each call, that is, without
        a schema or descriptors, and for files."""
        return None if self._core is None else self._core.arrow_schema

    def __repr__(self) -> str:
        what = "any schema" if self.arrow_schema is None else repr(self.arrow_schema)
        return f"{super().__repr__()[:-1]}, {what}>"

    @or_text
    def _repr_html_(self) -> str:
        from .._arrow.show import schema_html

        known = facts([("format", self._format), ("message", self.message)])
        schema = self.arrow_schema
        return titled("Decoder", known, *([] if schema is None else [schema_html(schema)]))


@public_in("columnstone.codec")
class Encoder(_Codec, Generic[_Encoded]):
    """Encodes record batches. `columnstone.encoder` creates it. It pickles."""

    __slots__ = ("_core", "_plain")

    def __init__(
        self, format: str, schema: SchemaLike | AvroSchema | None = None, **options: Any
    ) -> None:
        super().__init__(format, schema, options)
        self._core: _core.Encoder | None = None
        self._plain: PlainData | None = None
        if not self._of_records:
            self._keep(options, _core.SINK_OPTIONS.keys())
            return
        lossy = bool(options.pop("lossy", False))
        of_schema, message, own = self._told(options, encoding_message)
        flags = _core.ENCODE_LOSSY if lossy else 0
        self._core = _core.Encoder(format, of_schema, flags, message, own)
        self._plain = None if message is None else PlainData(message)
        self._given["lossy"] = lossy

    def encode(
        self,
        batch: ArrowArrayExportable | ArrowStreamExportable | Plain | Batches,
        arrow_schema: ArrowSchemaExportable | ArrowSchema | None = None,
    ) -> _Encoded:
        """Encodes a batch into an Array of large_binary with one record per row or, for a format of
        files, batches into the bytes of a file.

        batch: a RecordBatch of this package, pyarrow or Polars, or any object with
            __arrow_c_array__. A table or other object with __arrow_c_stream__ is encoded
            completely, and so are plain Python rows and columns, as for `record_batch`; for
            messages, maps in these are dicts. For files, an iterable of batches is accepted, too.
        arrow_schema: for files: the schema of the batches, needed if there may be no batch.

        Raises UnsupportedError with row and column for a value that a record or the file cannot
        hold: for tf.Example a null inside a list, an integer above 2**63 - 1, a float64 that
        float32 cannot hold exactly. NotFoundError for a column that a message does not have.

        >>> cst.encoder("csv").encode(cst.record_batch({"id": [1, 2], "name": ["a", "b"]})).split()
        [b'id,name', b'1,a', b'2,b']
        """
        encoded: Any
        if self._core is None:
            encoded = self._encode_file(batch, arrow_schema)
        elif arrow_schema is not None:
            raise argument_error("records need no Arrow schema", "leave arrow_schema out")
        else:
            encoded = self._core.encode(
                batch if self._plain is None else self._plain.prepared(batch)
            )
        return encoded  # type: ignore[no-any-return]

    def _encode_file(self, batches: Any, arrow_schema: Any) -> bytes:
        file = io.BytesIO()
        with Writer(file, self._format, **self._given) as writer:
            if arrow_schema is not None:
                writer.begin(arrow_schema)
            writer.write(batches)
        return file.getvalue()

    @or_text
    def _repr_html_(self) -> str:
        known = [("format", self._format), ("message", self.message)]
        schema = self.schema
        parts = [schema._repr_html_() or ""] if isinstance(schema, Schema) else []
        return titled("Encoder", facts([*known, ("lossy", self._given.get("lossy"))]), *parts)


# ---- creating them ----


@overload
def decoder(
    format: Literal["example"],
    schema: SchemaLike | None = None,
    columns: Iterable[str] | None = None,
    *,
    offsets: int = 64,
    binary_views: bool = False,
    fixed_size: bool = False,
    nested: bool = False,
) -> Decoder: ...
@overload
def decoder(
    format: Literal["sequence_example"],
    schema: SchemaLike | None = None,
    columns: Iterable[str] | None = None,
    *,
    sequence_column: str | None = None,
    offsets: int = 64,
    binary_views: bool = False,
) -> Decoder: ...
@overload
def decoder(
    format: Literal["message"],
    *,
    message: MessageLike | None = None,
    columns: Iterable[str] | None = None,
    descriptors: DescriptorsLike | None = None,
    offsets: int = 64,
    binary_views: bool = False,
    **options: Unpack[MessageOptions],
) -> Decoder: ...
@overload
def decoder(
    format: Literal["raw"],
    *,
    columns: Iterable[str] | None = None,
    offsets: int = 64,
    binary_views: bool = False,
) -> Decoder: ...
@overload
def decoder(
    format: Literal["avro"],
    schema: AvroSchema | None = None,
    columns: Iterable[str] | None = None,
    *,
    offsets: int = 64,
    binary_views: bool = False,
    **options: Any,
) -> Decoder: ...
@overload
def decoder(
    format: str,
    schema: SchemaLike | None = None,
    columns: Iterable[str] | None = None,
    **options: Any,
) -> Decoder: ...
@public
def decoder(
    format: str,
    schema: SchemaLike | AvroSchema | None = None,
    columns: Iterable[str] | None = None,
    **options: Any,
) -> Decoder:
    """Creates a Decoder, which converts data in memory, such as messages of Kafka or gRPC, to
    record batches.

    format: the format of the data. Records: "example" (tf.Example), "sequence_example", "message"
        (any protobuf message), "raw" (one column `record` with the unchanged records), "avro" with
        a schema. Files: "csv", "json" (lines), "avro" without a schema, "arrow" (file or stream),
        "parquet", the name of a plug-in, or a format registered with `format.register`.
    schema: for example, sequence_example and files: anything that `Schema` accepts. Without one,
        the types come from the data of each call and the columns are sorted by name. A feature that
        never has a type is a column of type null, and so is a feature of TYPE_UNKNOWN. The feature
        lists of a sequence_example are the struct_domain of the schema feature of type STRUCT with
        the name of the struct column. For Avro: the reader schema, as JSON or as the result of
        json.loads.
    columns: the columns to decode, in this order; the bytes of others are skipped. For messages
        they are paths: "id"; "event.query" (of all events); "labels.key" and "labels.value" of a
        map; "(shop.extra)" for an extension; "payload.(shop.Event).id" for the content of an Any of
        that type. For the feature lists of a sequence_example: "<struct column>.name".

    For records:

    offsets: 64 for large_list, large_utf8 and large_binary; 32 for list, utf8 and binary.
    binary_views: make strings and bytes string_view and binary_view. Nothing is copied if the input
        is an Arrow binary array, which then lives as long as the batch.
    fixed_size: for examples: features of a fixed shape become fixed_size_list.
    nested: for examples: combine a feature and the row lengths of its ragged representation into
        one column of nested lists.
    sequence_column: the name of the struct column with the feature lists of a sequence_example, as
        list<list<T>>; it comes after the columns of the context. A missing feature list is null;
        one without features is empty. A feature without a kind is a null inner list; one without
        values is an empty inner list.

    For messages:

    message: a generated class, a message, its DESCRIPTOR; or a full name such as "shop.Session"
        together with descriptors. None: the only message type that no other message contains.
    descriptors: anything that `Descriptors` accepts. Next to a class: the source of its extensions
        and of the types of its Any fields.
    form: the encoding of a record: "binary" (the wire format), "text" or "json" (those of
        protobuf), or "confluent" (the wire format after the prefix of Confluent's schema registry;
        "confluent_plain" for a prefix without message indexes).
    enums: "dictionary" of names, names as "text" or "binary", or "int32".
    defaults: use the default value of an absent optional field instead of null.
    nullable_lists: make empty repeated fields and maps null.
    nullable_items: declare list items and map values nullable.
    plain_types: keep google.protobuf.Timestamp and other well-known types as the structs of their
        files.
    binary_strings: make strings binary columns, which need not be UTF-8.
    maps_as_lists: make maps lists of structs.
    ignore_unknown: for the form "json": skip unknown fields and enum names, as protobuf's
        `ignore_unknown_fields` does.
    timestamp_unit, duration_unit, time_unit: "ns", "us", "ms" or "s", for Timestamp, Duration and
        google.type.TimeOfDay; smaller parts are truncated.
    time_zone: of timestamps; None: none.
    recursion: how often a message may contain its own type; deeper ones are bytes.
    unknown_fields: the name of an additional binary field, the last one of each message, with the
        bytes of the fields that its type lacks.
    list_item, map_key, map_value: the field names within lists and maps.
    field_number_key: the metadata key that gets the number of each field: "PARQUET:field_id" for
        Parquet and Iceberg.

    For Avro records:

    avro_framing: the prefix of each value. "plain": none. "single_object": the mark C3 01 and the
        fingerprint of the schema. "confluent" and "apicurio": the number of the schema in a
        registry. "auto": a single object if its fingerprint is that of a given schema, otherwise
        plain.
    avro_schemas: the schemas that records refer to: a dict of numbers (or bytes of fingerprints) to
        schemas; a list of schemas, found by their fingerprints; or a function that is called with
        each new number, or bytes of a fingerprint, and returns the schema or None.
    avro_writer_schema: the writer schema of records that do not refer to one; None: `schema`.
    avro_enums, avro_recursion: as enums and recursion of messages.

    For files, the options are those of `cst.open`, such as types, and delimiter for CSV.

    Raises NotFoundError for an unknown format, column, message or path, SchemaError for a schema
    that does not fit, such as a feature of type STRUCT for examples, ArgumentError for an option
    that the format does not have.

    >>> decoder = cst.decoder("json")
    >>> decoder.decode([b'{"id": 1, "tags": ["a"]}', b'{"id": 2, "tags": []}']).to_pydict()
    {'id': [1, 2], 'tags': [['a'], []]}
    """
    return Decoder(format, schema, columns, **options)


@overload
def encoder(
    format: Literal["example"], schema: SchemaLike | None = None, *, lossy: bool = False
) -> Encoder[_core.Array]: ...
@overload
def encoder(
    format: Literal["sequence_example"],
    schema: SchemaLike | None = None,
    *,
    sequence_column: str | None = None,
    lossy: bool = False,
) -> Encoder[_core.Array]: ...
@overload
def encoder(
    format: Literal["message"],
    *,
    message: MessageLike | None = None,
    descriptors: DescriptorsLike | None = None,
    form: Form = "binary",
    unknown_fields: str | None = None,
    lossy: bool = False,
) -> Encoder[_core.Array]: ...
@overload
def encoder(format: Literal["raw"]) -> Encoder[_core.Array]: ...
@overload
def encoder(
    format: Literal["avro"], schema: AvroSchema | None = None, **options: Any
) -> Encoder[Any]: ...
@overload
def encoder(
    format: Literal["csv", "json", "arrow", "arrows", "parquet"],
    schema: SchemaLike | None = None,
    **options: Any,
) -> Encoder[bytes]: ...
@overload
def encoder(format: str, schema: SchemaLike | None = None, **options: Any) -> Encoder[Any]: ...
@public
def encoder(
    format: str, schema: SchemaLike | AvroSchema | None = None, **options: Any
) -> Encoder[Any]:
    """Creates an Encoder, which converts record batches to records, or to the bytes of a file.
    Equal batches give equal bytes, and decoding them gives the same batch.

    format: as for `decoder`.
    schema: for example and sequence_example: the types of the columns are checked against it, and
        columns of nested lists become the features of its ragged tensors.
    lossy: round values that a record cannot represent exactly, such as a float64 that does not fit
        float32, instead of raising an error.
    sequence_column: the name of the struct column of a sequence_example, which may be missing.
    message, descriptors, form: as for `decoder`.
    unknown_fields: the name of the binary fields with unknown fields, as decoders of messages make
        them.
    avro_framing: for Avro records: as for `decoder` ("auto" is "plain"). With it and a schema, the
        encoder of "avro" makes records; otherwise a file.
    avro_schema_id: the number of the schema, which "confluent" and "apicurio" write.

    Examples: keys are sorted by their bytes and values are packed. A null is a key with an empty
    Feature; an empty list is a typed empty list. Columns are lists (of any list type) or single
    values of integers, floats, strings or bytes. For sequence examples, this holds for the columns
    of the context; the struct column has list<list<T>>.

    Messages use protobuf's deterministic form: fields by number, maps by key, unknown fields last.
    Columns and struct fields are message fields by name, extensions as "(full.name)". All results
    of a decoder are accepted, whatever its options, and so is every Arrow type with the same
    values. Null is an absent field.

    Files: the options are those of `cst.Writer`, such as delimiter for CSV.

    >>> encoder = cst.encoder("example")
    >>> records = encoder.encode(cst.record_batch({"id": [1, 2]}))
    >>> cst.decoder("example").decode(records).to_pydict()
    {'id': [[1], [2]]}
    """
    return Encoder(format, schema, **options)
