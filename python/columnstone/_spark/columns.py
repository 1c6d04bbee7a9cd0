"""Columns of serialized records in Spark's data frames: the functions of columnstone.spark for
them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base.errors import argument_error
from .._base.optional import need
from .._base.public import public_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Literal

    from .._message.descriptors import DescriptorsLike
    from .._message.options import MessageLike
    from .._schema.schema import SchemaLike
    from .records import Decoding

_public = public_in("columnstone.spark")


@_public
def decode_examples(
    column: Any,
    schema: SchemaLike,
    columns: Iterable[str] | None = None,
    *,
    nested: bool = False,
    on_error: Literal["raise", "null"] = "raise",
) -> Any:
    """Decodes a binary column of serialized tf.Examples to a column of structs, for `select`:

        kafka.select(cst.spark.decode_examples("value", schema="schema.pbtxt").alias("trip"))

    column: its name, or a Column.
    schema, columns, nested: as for `decoder`; each field is an array, as features are lists.
    on_error: for a record that cannot be decoded: "raise" fails the task, "null" makes the struct
        null. A null stays null.

    Needs Spark 4.1. Raises the errors of `decoder` at once, and UnsupportedError for a type that
    Spark does not have.
    """
    from .records import decode_column

    decoding = _of_examples(column, schema, columns, nested, _policy(on_error, "raise", "null"))
    return decode_column(decoding, column)


@_public
def decode_messages(
    column: Any,
    message: MessageLike | None = None,
    columns: Iterable[str] | None = None,
    *,
    descriptors: DescriptorsLike | None = None,
    on_error: Literal["raise", "null"] = "raise",
    **options: Any,
) -> Any:
    """Like decode_examples, for a column of serialized protobuf messages. message, columns,
    descriptors and all other options are those of `decoder`."""
    from .records import decode_column

    policy = _policy(on_error, "raise", "null")
    decoding = _of_messages(column, message, columns, descriptors, policy, options)
    return decode_column(decoding, column)


@_public
def encode_examples(*columns: Any, schema: SchemaLike | None = None, lossy: bool = False) -> Any:
    """Encodes columns to a binary column of tf.Examples; the features have the names of the
    columns:

        trips.select(cst.spark.encode_examples("fare", "company").alias("value"))

    columns: names or Columns; "trip.*" for the fields of a struct.
    schema, lossy: as for `encoder`. A null becomes a feature without values.
    """
    need("pyspark", "columnstone.spark.encode_examples")
    from .._api.codec import encoder
    from .records import Encoding, encode_columns

    if not columns:
        raise argument_error(
            "encode_examples needs at least one column", "for all columns: *frame.columns"
        )
    return encode_columns(Encoding(encoder("example", schema, lossy=lossy)), columns)


@_public
def map_examples(
    frame: Any,
    column: str,
    schema: SchemaLike,
    columns: Iterable[str] | None = None,
    *,
    nested: bool = False,
    keep: Sequence[str] = (),
    on_error: Literal["raise", "null", "skip"] = "raise",
) -> Any:
    """Decodes a binary column of tf.Examples to a data frame with a column for each feature, with
    mapInArrow.

    keep: columns of the frame to keep; they come before the decoded ones.
    on_error: as for decode_examples; "skip" drops nulls and the rows that cannot be decoded. With
        "null", their features are null.
    """
    from .records import decode_frame

    policy = _policy(on_error, "raise", "null", "skip")
    decoding = _of_examples(column, schema, columns, nested, policy)
    return decode_frame(decoding, frame, column, list(keep), policy)


@_public
def map_messages(
    frame: Any,
    column: str,
    message: MessageLike | None = None,
    columns: Iterable[str] | None = None,
    *,
    descriptors: DescriptorsLike | None = None,
    keep: Sequence[str] = (),
    on_error: Literal["raise", "null", "skip"] = "raise",
    **options: Any,
) -> Any:
    """Like expand_examples, for serialized protobuf messages; options are those of
    decode_messages."""
    from .records import decode_frame

    policy = _policy(on_error, "raise", "null", "skip")
    decoding = _of_messages(column, message, columns, descriptors, policy, options)
    return decode_frame(decoding, frame, column, list(keep), policy)


def _of_examples(
    column: Any, schema: SchemaLike, columns: Iterable[str] | None, nested: bool, on_error: str
) -> Decoding:
    need("pyspark", "decoding a column")
    from .._api.codec import decoder
    from .records import Decoding

    if schema is None:
        raise argument_error("a column of tf.Examples needs a schema", "schema=")
    made = decoder("example", schema, columns, offsets=32, nested=nested)
    return Decoding(made, str(column), on_error)


def _of_messages(
    column: Any,
    message: MessageLike | None,
    columns: Iterable[str] | None,
    descriptors: DescriptorsLike | None,
    on_error: str,
    options: dict[str, Any],
) -> Decoding:
    need("pyspark", "decoding a column")
    from .._api.codec import decoder
    from .records import Decoding

    given = {"descriptors": descriptors, "columns": columns, "offsets": 32, **options}
    return Decoding(decoder("message", message=message, **given), str(column), on_error)


def _policy(on_error: str, *known: str) -> str:
    if on_error not in known:
        said = ", ".join(known)
        raise argument_error(f"on_error must be one of {said}, not {ascii(on_error)[:40]}")
    return on_error
