"""open: what its arguments say, for files, globs, file objects, Arrow streams and databases."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .._arrow.objects import is_arrow
from .._base.arguments import positive, proposal, text
from .._base.errors import UnsupportedError
from .._base.files import is_file
from .._base.public import public
from .._lineage.choice import AS_BOUND, Choice, has_artifacts
from .._schema.schema import Schema
from .._source.inputs import Place, resolve
from .artifacts import settled
from .options import message_option, source_options
from .source import Source
from .views import view_option

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias, Unpack

    from .._arrow.objects import Plain
    from .._base.files import Path, ReadableFile
    from .._core import ArrowArrayExportable, ArrowSchemaExportable, ArrowStreamExportable
    from .._formats.options import FormatOptions
    from .._io.cache import CacheLike
    from .._lineage.artifact import Artifact
    from .._message.descriptors import DescriptorsLike
    from .._message.options import MessageLike
    from .._schema.schema import SchemaLike
    from .._source.split import Split
    from .options import OnError
    from .views import ViewLike

    Exportable: TypeAlias = "ArrowStreamExportable | ArrowArrayExportable"
    AnyInput: TypeAlias = (
        Path
        | ReadableFile
        | Exportable
        | Iterable[Path]
        | Iterable[ReadableFile]
        | Iterable[Exportable]
        | Plain
        | Iterable[dict[str, Any]]
        | Split
        | Iterable[Split]
        | Artifact
        | Iterable[Artifact]
    )


@public
def open(
    paths: AnyInput,
    format: str | None = None,
    schema: SchemaLike | None = None,
    columns: Iterable[str] | None = None,
    group: str = "",
    batch_size: int = 1024,
    threads: int = 1,
    *,
    batch_bytes: int | None = None,
    check_crc: bool = True,
    offsets: int = 64,
    binary_views: bool = False,
    fixed_size: bool = False,
    memory_map: bool = False,
    max_record_size: int | None = None,
    max_inflation: int | None = None,
    legacy: bool = False,
    environment: str | None = None,
    nested: bool = False,
    types: ArrowSchemaExportable | None = None,
    raw_column: str | None = None,
    offset_column: str | None = None,
    on_error: OnError = "raise",
    max_errors: int | None = None,
    container: str | None = None,
    flat: bool = False,
    sample_records: int | None = None,
    message: MessageLike | None = None,
    descriptors: DescriptorsLike | None = None,
    message_options: dict[str, Any] | None = None,
    message_column: str | None = None,
    view: ViewLike | Artifact | Choice | None = AS_BOUND,
    params: dict[str, Any] | None = None,
    filesystem: object | None = None,
    schemes: Iterable[str] | None = None,
    hosts: Iterable[str] | None = None,
    cache: CacheLike = None,
    query: str | None = None,
    driver: str | None = None,
    database_options: dict[str, str] | None = None,
    **format_options: Unpack[FormatOptions],
) -> Source:
    """Opens files as a Source of record batches and tensors.

    paths: what to read, one or a list of one kind (the order is kept). A path. A glob with *, ? and
        [ that is not the name of a file; matches are sorted by their bytes. "-" for standard input.
        A binary file object (read or readinto; seek is used if present). An object with
        __arrow_c_stream__: a pyarrow table or reader, a Polars or pandas data frame, a DuckDB
        relation. A Hugging Face dataset. Python data, as `record_batch` accepts it: a list of dicts
        is rows, a dict is columns. A Split of `plan`. Examples of a lineage store, which bring
        their own options (docs/lineage.md). A URL ("s3://...", "https://..."), which fsspec opens.
        The URI of a database ("postgresql://...", "sqlite:///file.db", "duckdb://file.db"),
        together with a query. Compression is detected from the content.
    format: "example" (tf.Example, the default for TFRecords), "sequence_example", "message" (any
        protobuf message), "raw" (one column `record` of undecoded bytes), "csv", "json" (lines),
        "arrow" (file or stream), "parquet" (through pyarrow), "avro", the name of a plug-in, or a
        format registered with `format.register`. None: detected from the content, then from the
        file extension.
    schema: anything that `Schema` accepts. Without one, the schema is inferred from the whole
        input, or for pipes from the first 10,000 records. Give a schema, or sample_records, if
        reading everything twice is too slow.
    columns: the columns to read, in this order; other features are skipped without being parsed.
        For messages they are paths, as for `decoder`.
    group: the tensor_representation_group of the schema that `tensors` uses.
    batch_size: the number of rows of each batch, across files; only the last batch may have fewer.
    threads: how many threads read and decode. The batches do not depend on it.
    batch_bytes: also end a batch when its records reach this many bytes.
    check_crc: verify the CRCs of the data (those of the lengths are always verified).
    offsets, binary_views, fixed_size: the layout of the columns, as for `decoder`. Views need no
        copy for TFRecord blocks below 2 GiB.
    memory_map: memory-map uncompressed files. If such a file shrinks while it is read, the process
        is killed.
    max_record_size: the largest record or row, in bytes; 256 MiB by default.
    max_inflation: the largest ratio of decompressed or decoded size to file size, checked once a
        file has produced 64 MiB; 200 by default.
    legacy: make tensors by the rules of generate_legacy_feature_spec.
    environment: an environment of the schema: features outside it, such as the label when serving,
        make no tensors.
    nested: for tf.Examples: combine a feature and the row lengths of its ragged representation into
        one column of nested lists.
    types: for csv and json: the columns and their types, as anything with __arrow_c_schema__ (such
        as a pyarrow.Schema), instead of `schema` and of inferring them.
    raw_column: for TFRecords and CSV: add a last column of this name with the bytes of each record
        (for CSV, the text of the row without its line end), as large_list<large_binary> with one
        value.
    offset_column: for TFRecords and other containers: add an int64 column of this name, after
        raw_column, with the position of the first byte of each record in its file (in the
        compressed data, if it is compressed), as in Dropped and in errors. It is not a feature and
        makes no tensor.
    on_error: what to do with a record that is damaged or does not parse. "raise" raises the error.
        "skip" drops the record and continues. "null", for messages, makes it a row of nulls and
        also reports it as dropped. A function is called with the Dropped; it stops the pass by
        returning False, and its exceptions are raised by the pass. `dropped` lists all dropped
        records.
    max_errors: unless on_error is "raise": one more dropped record than this is a LimitError.
    container: how records are stored, for "example", "sequence_example", "message" and "raw":
        "tfrecord"; "delimited" (a varint with the size before each record, as protobuf's
        writeDelimitedTo); "lines" (one record per line); "file" (each file is one record). None
        detects it from the content, but never "lines" or "file"; pipes are read as TFRecords.
    flat: make single values instead of lists of one where the schema, given or inferred, fixes the
        number of values to one (nullable if the value may be missing), and strings of bytes that
        are text (by a domain of the schema; if it is inferred, by the content). This is what data
        frames and SQL need. A row that does not fit is handled as on_error says.
    sample_records: infer the schema, the types of csv and json, and the decisions of flat from only
        this many first records, which are kept in memory for that time. A later record that does
        not fit is a SchemaError.
    message: for the format "message", which it implies: the type of the records, as for `decoder`:
        a generated class, or a full name together with descriptors.
    descriptors: anything that `Descriptors` accepts. Without message, the only message type that no
        other message contains is used.
    message_options: further options of `decoder`, such as {"enums": "text"}. offsets and
        binary_views are arguments here too.
    message_column: for formats with columns, such as Parquet: the binary column of this name holds
        messages and becomes a column of structs, null where there is no value. Other columns do not
        change. `columns` can name paths in it: "value.event.query".
    view: read through this view: the batches are its outputs (`columns` selects from them), the
        tensors are its tensors, and only the fields that these need are parsed. A View, a Query,
        the path of a saved view (.cstv) or its bytes, the path of a query (.cstq), or a DataView of
        a lineage store. A view includes the message and its options; for a saved one,
        message_options may still set the "form" of the records. A query in a file takes message,
        descriptors and schema. Artifacts are read through the view that they are bound to, unless
        another view or None is given.
    params: values of the parameters of the view, by name.
    filesystem: an fsspec or pyarrow file system that contains the paths.
    schemes, hosts: what untrusted names may open. schemes=["https"] refuses other URLs, databases
        and local paths ("file"). A host is a name, "*.example.com", or "public", which allows hosts
        whose addresses are all public. Each redirect is checked again. hosts alone allows http and
        https. Anything else is an UnsupportedError. See docs/security.md, also for
        COLUMNSTONE_SCHEMES and COLUMNSTONE_HOSTS, which apply to all URLs of the process.
    cache: a folder for copies of remote files, shared by all processes, or a pair of the folder and
        its maximum size in bytes; the least recently used copies are removed. The server is asked
        for the version of each file. Files without a version or a size are not cached.
    query: for a database: an SQL query whose result is read, once for each pass, through the ADBC
        driver of the database. The driver is a separate package; the error names it.
    driver: the name of the ADBC driver of another database, such as "spanner".
    database_options: passed to the driver.
    format_options: options of the format, by name. CSV: delimiter, names (of the columns, for files
        without a header), skip_lines, comment, keep_blank_lines, multivalent (columns with several
        values in a cell) and secondary_delimiter. Avro: avro_schema, the reader schema (JSON, or a
        file that contains it), avro_enums ("dictionary", "text", "int32" or "binary") and
        avro_recursion (how often a record may contain itself: 2); for Avro records in a container
        also avro_framing, avro_writer_schema and avro_schemas, as for `decoder`. sequence_example:
        sequence_column, the name of the struct column of feature lists. See docs/formats.md.

    Raises immediately: NotFoundError for a missing file, an empty glob or an unknown column (with
    similar names), SchemaError for an invalid schema, ArgumentError or TypeError for invalid
    arguments. Other errors are raised while reading.

    >>> src = cst.open("trips.tfrecord", schema="trips.pbtxt")
    >>> src.head(2).to_pydict()
    {'company': [[b'Blue'], [b'Red']], 'fare': [[9.5], [12.0]], 'zones': [[1, 2], [3]]}
    >>> [len(batch) for batch in src]
    [4]
    """
    given = dict(locals())  # nothing but the arguments
    if isinstance(paths, Iterator) and not is_file(paths) and not is_arrow(paths):
        given["paths"] = paths = list(paths)
    if has_artifacts(paths) or has_artifacts(view) or has_artifacts(schema):
        return _open_artifacts(given)
    if isinstance(view, Choice):
        given["view"] = view = None
    of_records = view is None or message_column is not None
    core = message_option(message, descriptors, message_options) if of_records else None
    if core is not None and format is None and message_column is None:
        format = "message"
    most = None if max_inflation is None else positive("max_inflation", max_inflation)
    place = Place(filesystem, query, driver, database_options)
    if schemes is not None or hosts is not None or most is not None:
        from .._io.rules import rule

        place = place._replace(rule=rule(schemes, hosts, most))
    if cache is not None:
        from .._io.cache import as_cache

        place = place._replace(cache=as_cache(cache))
    inputs = resolve(paths, text("format", format), place)
    given["format"] = inputs.format or format

    def ask(name: str, on_error: OnError) -> Any:
        plain = {"message": core, "columns": None, "view": None, "on_error": on_error}
        with inputs.kept(), Source(inputs, source_options({**given, **plain})) as source:
            return getattr(source, name)

    def without_view(name: str) -> Any:
        """The type of the input: its `schema` or its `arrow_schema`, of the records that on_error
        does not drop."""
        if on_error != "raise":
            with contextlib.suppress(UnsupportedError):  # a format without records to drop
                return ask(name, "skip")
        return ask(name, "raise")

    bound = view_option(given, without_view)
    given["view"] = bound
    if bound is not None and bound.uses_record_index and not inputs.has_numbers:
        raise UnsupportedError(
            "record_index() has no numbers here: a split begins in the middle of a file (read "
            "whole files)",
            hint="read whole files",
        )
    given["message"] = core
    return Source(inputs, source_options(given))


def _open_artifacts(given: dict[str, Any]) -> Source:
    """The options of artifacts, except where the caller's arguments differ from the defaults."""
    from inspect import signature

    usual = {name: one.default for name, one in signature(open).parameters.items()}
    own = {**given.pop("format_options"), **given}
    paths = own.pop("paths")
    own = {name: value for name, value in own.items() if value is not usual.get(name, _NOTHING)}
    held, options = settled(paths, own)
    return open(held, **options)


_NOTHING = object()


@public
def infer_schema(
    paths: AnyInput,
    format: str | None = None,
    *,
    threads: int = 1,
    check_crc: bool = True,
    max_record_size: int | None = None,
    max_inflation: int | None = None,
    on_error: OnError = "raise",
    container: str | None = None,
    filesystem: object | None = None,
    schemes: Iterable[str] | None = None,
    hosts: Iterable[str] | None = None,
    cache: CacheLike = None,
    query: str | None = None,
    driver: str | None = None,
    database_options: dict[str, str] | None = None,
    propose: bool = False,
    group: str = "",
    max_domain: int = 100,
    ragged: bool = False,
    **format_options: Unpack[FormatOptions],
) -> Schema:
    """Infers a schema from all records: types, presence, value counts, and a shape for features
    that have the same number of values in each record. The arguments are those of `open`.

    propose: add what holds for all of these records: int_domain and float_domain (ranges);
        string_domain for strings that repeat and have at most max_domain different values;
        annotations with the tags "constant", "increasing" (never decreases from record to record)
        and "decreasing"; sparse features of columns such as x_index and x_value; and a
        tensor_representation_group named `group`. The group has dense tensors for scalars and
        vectors, dense scalars with a default (-1, -1.0, b"") for features with at most one value,
        sparse tensors, ragged tensors where x_lengths divides x, and varlen sparse tensors (with
        ragged=True, ragged ones) for all other features.

    Raises SchemaError with the record number if a feature changes its type.

    >>> schema = cst.infer_schema("trips.csv")
    >>> [(feature.name, feature.type) for feature in schema.features]
    [('company', 'bytes'), ('fare', 'float32')]
    """
    options = proposal(propose, group, max_domain, ragged)
    with open(
        paths,
        format,
        view=None,
        threads=threads,
        check_crc=check_crc,
        max_record_size=max_record_size,
        max_inflation=max_inflation,
        on_error=on_error,
        container=container,
        filesystem=filesystem,
        schemes=schemes,
        hosts=hosts,
        cache=cache,
        query=query,
        driver=driver,
        database_options=database_options,
        **format_options,
    ) as source:
        core = source._core
        return Schema._wrap(core.infer() if options is None else core.propose(*options))
