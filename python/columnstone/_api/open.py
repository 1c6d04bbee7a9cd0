"""open: what its arguments say, for files, globs, file objects, Arrow streams and databases."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature
from typing import TYPE_CHECKING, Any

from .._arrow.objects import is_arrow
from .._base.arguments import positive, proposal, text
from .._base.errors import UnsupportedError
from .._base.files import is_file
from .._base.public import public
from .._io.cache import as_cache
from .._io.rules import rule
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

    paths: a path, a glob (*, ?, [ in a name that is not a file; matches sorted bytewise), "-" for
        standard input, a binary file object (read or readinto; seek if it has it), or an object
        with __arrow_c_stream__ (a table or reader of pyarrow, a data frame of Polars or pandas, a
        relation of DuckDB); or a list of one kind of these, whose order is kept; or a dataset of
        Hugging Face; or Python's own data, as `record_batch` takes it: a list of dicts is rows, a
        dict is columns; or a Split, or several, of `plan`; or Examples of a store of lineage, one
        or several, which say themselves how they are read (docs/lineage.md). Compression (gzip,
        zlib, zstd) is found from the bytes. A URL ("s3://...", "https://...") is opened by fsspec.
        The URI of a database ("postgresql://...", "sqlite:///file.db", "duckdb://file.db") needs a
        query.
    format: "example" (tf.Example, the default for TFRecords), "sequence_example", "message" (any
        protobuf message), "raw" (one column `record` of undecoded bytes), "csv", "json" (lines),
        "arrow" (file or stream), "parquet" (through pyarrow), the name of a plug-in, or one that
        was registered with `format.register`. None goes by the bytes, then by the ending of the
        name.
    schema: anything that Schema takes. Without one, the schema is inferred: over all input for
        files, over the first 10,000 records for pipes; give one, or sample_records, where reading
        everything twice is too slow.
    columns: the wanted columns in the wanted order; other features are skipped, unseen. Of messages
        they are paths, as for `decoder`.
    group: the schema's tensor_representation_group for `tensors`.
    batch_size: rows of every batch but the last one, across files.
    threads: that read and decode; the batches are the same for every number.
    batch_bytes: ends a batch also when its records reach this many bytes.
    check_crc: check the CRCs of the data (those of the lengths always are).
    offsets, binary_views, fixed_size: the columns' layout, as for `decoder`; views are
        zero-copy for TFRecord blocks below 2 GiB.
    memory_map: map plain files; a file that shrinks meanwhile kills the process.
    max_record_size: of a record or a row, in bytes; 256 MiB by default.
    max_inflation: what a file may become, inflated or as values of columns, as a ratio to its size,
        once it has given 64 MiB; 200 by default.
    legacy: derive tensors by the rules of generate_legacy_feature_spec.
    environment: of the schema: features that are not in it, such as the label in serving, make no
        tensors.
    nested: tf.Examples: a feature and the row lengths of its ragged representation become one
        column of nested lists.
    types: csv, json: the columns and their types, as anything with __arrow_c_schema__ (such as a
        pyarrow.Schema), instead of `schema` and of inferring them.
    raw_column: TFRecords, CSV: one more column of this name, the last one, with each record's bytes
        (of CSV each row's text, without its line end), as large_list<large_binary> of one value.
    offset_column: TFRecords and other containers: one more int64 column of this name, after the raw
        one, with the place of each record's first byte in its file (of a compressed file: in what
        is compressed), as Dropped and errors have it. It is no feature: tensors leave it out.
    on_error: what happens with a record that is damaged or does not parse. "raise"; "skip" drops it
        and goes on after it; "null", for messages, makes it a row of nulls, and is told of as one
        that was dropped; a function is called with the Dropped before it goes on, and stops
        the pass by returning False (what it raises comes out of the pass). `dropped` has all that
        were dropped, with no limit on their number but max_errors.
    max_errors: unless on_error is "raise": one more dropped record than this is a LimitError.
    container: how records follow each other, for "example", "sequence_example", "message" and
        "raw": "tfrecord", "delimited" (a varint with the size before each, as protobuf's
        writeDelimitedTo has it), "lines" (a record per line) or "file" (each file is a record).
        None goes by the bytes, which never mean lines or files; pipes are TFRecords then.
    flat: what the schema, given or inferred, fixes to one value becomes a column of values instead
        of lists of one, nullable where it may be missing; and bytes that are text (by a domain of
        the schema; where it is inferred, by a look at them) become strings. What data frames and
        SQL want. A row that does not fit raises, or is dropped as on_error says.
    sample_records: the schema, the types of csv and json, and what flat asks are inferred from this
        many first records only, which are held in memory meanwhile. A later record that does not
        fit is a SchemaError.
    message: of the format "message", which it implies: the type of the records, as for
        `decoder`: a generated class, or a full name and the descriptors.
    descriptors: anything that `Descriptors` takes. Without a message: the only one of these that no
        other one holds.
    message_options: further options of `decoder`, such as {"enums": "text"}; offsets and
        binary_views are arguments here, too.
    message_column: of any format with columns, such as Parquet: the binary column of this name
        holds the messages, and becomes a column of structs in its place, null where there is no
        value. The other columns stay what they are; `columns` may name paths in it:
        "value.event.query".
    view: what is read goes through this view: the batches are its outputs, of which `columns` then
        names some, and the tensors are its tensors; only what these need is parsed. A View, a
        Query, the path of a saved view (.cstv) or its bytes, or the path of a query (.cstq). It
        brings the message and its options along; message_options may still say the "form" of the
        records for a saved one. A query in a file takes message, descriptors and schema. Or a
        DataView of a store of lineage; artifacts are read through the view that they are bound to,
        unless another one, or None, is given here.
    params: values of the view's parameters, by name.
    filesystem: a file system of fsspec or of pyarrow in which the paths are.
    schemes, hosts: which names may be opened, where they come from strangers: schemes=["https"]
        refuses other URLs, databases and paths of this machine ("file"). A host is a name, or
        "*.example.com", or "public": any whose addresses are public. Each request that a server
        redirects is checked again. Hosts alone allow http and https. UnsupportedError for others;
        docs/security.md has more, and COLUMNSTONE_SCHEMES and COLUMNSTONE_HOSTS, which hold for all
        URLs of the process.
    cache: a folder for copies of remote files, which are fetched once for all processes, or a pair
        of it and of the bytes that it may have: what was not used for the longest time goes. The
        server is asked for the version of each file; what tells none, or no size, is not copied.
    query: of a database: SQL whose result is read, once per pass, through the database's ADBC
        driver, which is a package of its own; the error says which one.
    driver: name of the ADBC driver of another database, such as "spanner"; database_options are
        handed to the driver.
    format_options: of the format, by name: of CSV delimiter, names (of the columns, where the files
        have no header), skip_lines, comment, keep_blank_lines, multivalent (columns whose cells
        hold several values) and secondary_delimiter; of avro avro_schema, the schema that files are
        read as (JSON, or a file that has it), avro_enums ("dictionary", "text", "int32" or
        "binary") and avro_recursion (how often a record may stand within itself: 2), and for
        records in a container avro_framing, avro_writer_schema and avro_schemas, as for `decoder`;
        of sequence_example sequence_column, the name of the struct column of feature lists.
        docs/formats.md has more.

    Raises at once NotFoundError for a missing file, an empty glob or an unknown column (with near
    names), SchemaError for a bad schema, ArgumentError or TypeError for wrong arguments; everything
    else when it is met while reading.

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
    allowed = rule(schemes, hosts, most)
    place = Place(filesystem, query, driver, database_options, allowed, as_cache(cache))
    inputs = resolve(paths, text("format", format), place)
    given["format"] = inputs.format or format

    def without_view(name: str) -> Any:
        """What the input is by itself: its `schema` or its `arrow_schema`."""
        plain = {"message": core, "columns": None, "view": None, "on_error": "raise"}
        with inputs.kept(), Source(inputs, source_options({**given, **plain})) as source:
            return getattr(source, name)

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
    """The same of what artifacts say, but for the arguments that are not the usual ones."""
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
