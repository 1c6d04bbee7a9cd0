/* Files, streams and callbacks to record batches: open, iterate, count, verify, infer.
 *
 * Source: RFC "Standardized TFX inputs" (TFXIO); TFRecord framing:
 * tensorflow/core/lib/io/record_writer.
 */
#ifndef COLUMNSTONE_SOURCE_H
#define COLUMNSTONE_SOURCE_H

#include <columnstone/findings.h>
#include <columnstone/format.h>
#include <columnstone/message.h>
#include <columnstone/options.h>
#include <columnstone/records.h>
#include <columnstone/schema.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An input of the caller. `read_at` puts up to `size` (> 0) bytes from `offset` into `buffer` and
 * their number into `*got`; 0 is the end of the input. Offsets grow without gaps, unless
 * `can_seek` is true: then any offset may be asked for at any time, which makes a second pass
 * possible. On failure it returns a status and may fill the error, which is never NULL. `close`
 * (may be NULL) is called once, when the source no longer needs the reader. There is one call at a
 * time per reader, from any thread. A reader that reads its own source gets CST_STATE. */
typedef struct cst_reader {
  size_t size;      /* sizeof(cst_reader) */
  const char *name; /* for errors; copied */
  cst_status (*read_at)(void *ctx, uint64_t offset, void *buffer, size_t size, size_t *got,
                        cst_error *error);
  void (*close)(void *ctx);
  void *ctx;
  bool can_seek;
} cst_reader;

#define CST_READER_INIT \
  { sizeof(cst_reader), NULL, NULL, NULL, NULL, false }

enum {
  CST_SOURCE_SKIP_CRC = 1 << 0, /* do not check the CRCs of the data (lengths are always checked) */
  CST_SOURCE_MEMORY_MAP =
      1 << 1, /* map plain files; a file that shrinks meanwhile kills the process */
  CST_SOURCE_KEEP_RETURNS =
      1 << 2 /* container "lines": the "\r" of an end "\r\n" belongs to the record, for a sink with
                keep_returns, which then writes the lines as they were */
};

/* What happens to a record that is damaged or does not parse. */
typedef enum cst_on_error {
  CST_ON_ERROR_RAISE = 0, /* the pass fails */
  CST_ON_ERROR_SKIP = 1, /* the record is dropped and reported, the pass goes on with the next sound
                            one; records of containers, CSV, JSON lines, and messages in a column:
                            others have no records (CST_UNSUPPORTED) */
  CST_ON_ERROR_NULL = 2  /* a message that does not decode is a row of nulls, or null in its
                            column, and reported as a dropped one is, so that every record has
                            its row; what is damaged so that there is no record (framing,
                            checksums, compression) is dropped as with CST_ON_ERROR_SKIP.
                            Messages only, in a container or a column, and rows of tables that a
                            view refuses: CST_UNSUPPORTED for all else. All columns are nullable
                            then */
} cst_on_error;

/* A record that was dropped, or became a row of nulls (CST_ON_ERROR_NULL: a message that does not
 * decode). Bytes between two records that belong to neither are one dropped record. */
typedef struct cst_dropped {
  const char *kind; /* "length-crc" ("length" of delimited), "data-crc", "truncated", "limit"
                       (max_record_size), "record" (does not parse), "compression", "format" */
  const char *file; /* borrowed for the time of the call */
  int64_t record;   /* number of the record within the file, dropped ones counted; -1: unknown */
  int64_t offset;   /* of its first byte in the uncompressed stream; -1: unknown */
  uint64_t bytes;   /* that are skipped */
  const cst_error *error; /* the error that reading would have reported otherwise */
} cst_dropped;

/* Returns false to stop the pass with CST_CALLBACK. */
typedef bool (*cst_dropped_callback)(void *ctx, const cst_dropped *dropped);

/* Reports a possible loss of data that is not an error: an Arrow stream without an end marker,
 * which the format allows, but which may also have been cut off between two messages. Returns
 * false to stop with CST_CALLBACK. */
typedef bool (*cst_warning_callback)(void *ctx, const cst_error *warning);

/* Options of the calls that open a source. */
typedef struct cst_source_options {
  size_t size;                /* sizeof(cst_source_options) */
  const char *format;         /* "example", "sequence_example", "raw", "csv", "json", "arrow" or
                                 a plug-in's; NULL: detected from the content, then from the
                                 ending of the name; for TFRecords "example" */
  const cst_schema *schema;   /* NULL: inferred (files: all of the input; pipes: the first 10,000
                                 records or 256 MiB, kept in memory for the pass; or see
                                 sample_records) */
  const char *const *columns; /* wanted columns in the wanted order; NULL: all */
  size_t num_columns;
  const char *group;        /* the tensor_representation_group of the schema; NULL: "" */
  int64_t batch_size;       /* rows of every batch but the last; 0: 1024 */
  int64_t batch_bytes;      /* a batch also ends when its records reach this size; 0: no limit */
  int32_t threads;          /* threads for reading and decoding, including the caller's; 0: 1 */
  uint32_t flags;           /* CST_SOURCE_... */
  uint32_t column_flags;    /* CST_COLUMNS_... */
  uint64_t max_record_size; /* bytes of a record, a line or a row; more is CST_LIMIT. 0: 256 MiB */
  uint64_t max_inflation;   /* the largest ratio of the decompressed or decoded size to the
                               size of the file; more is CST_LIMIT, checked after 64 MiB. 0:
                               200 */
  bool legacy_specs;        /* see cst_specs_options.legacy */
  const cst_allocator *allocator;
  const char *raw_column; /* containers, csv: adds a last column with this name that contains
                             the bytes of each record (for csv the text of each row, without
                             its line end): large_list<large_binary> with one value, like a
                             feature. For the format raw it is the only column. NULL: none */
  const cst_option *format_options; /* of the format, by name: see cst_format_option_get */
  size_t num_format_options;
  const struct ArrowSchema *types; /* csv, json: the columns and their types, instead of
                                      `schema` and of inference; NULL: none */
  cst_on_error on_error;
  uint64_t max_errors; /* with CST_ON_ERROR_SKIP and _NULL: one more dropped record or row of nulls
                          than this is CST_LIMIT; 0: no limit */
  cst_dropped_callback on_dropped; /* called by the thread that calls cst_pass_next, in the
                                      order of the input, before the next batch; may be NULL */
  void *dropped_ctx;               /* has to live as long as the source */
  const char *environment;         /* the environment whose features become tensors: see
                                      cst_specs_options.environment */
  cst_warning_callback on_warning; /* called at most once per file, by the thread that reads
                                      it: that of cst_pass_next, cst_source_count, ...; for
                                      cst_source_verify, these are faults instead. May be NULL */
  void *warning_ctx;               /* has to live as long as the source and its parts */
  const char *container;           /* the container of the records, for formats with records:
                                      "tfrecord", "delimited" (protobuf's writeDelimitedTo),
                                      "lines", "file" (each file is one record); NULL: detected
                                      from the content, but never lines or file; for pipes
                                      "tfrecord" */
  bool flat; /* features with exactly one value in the schema become columns of values instead
                of lists, nullable if the value may be missing. Bytes that are text (by a
                domain of the schema or, for an inferred schema, by their content) become
                strings. A row that does not fit is CST_SCHEMA, or dropped by on_error */
  int64_t sample_records; /* infer everything (the schema, the types of csv and json, the
                             decisions of flat) from only this many first records, which are
                             kept in memory meanwhile; a later record that does not fit is
                             CST_SCHEMA. In a container, the sample ends before the first
                             record that cannot be read or does not fit the previous ones
                             (unless it is the very first); the pass then fails at that
                             record. 0: as described at `schema` */
  const cst_message_options *message; /* options of the format "message", which requires them.
                                         With them, the default format of records is
                                         "message", and `columns` are paths, see
                                         cst_decoder_new. Or options for message_column.
                                         Copied */
  const char *message_column;         /* the column with this name contains the messages that
                                         `message` describes, as binary or text values. It is
                                         replaced by a column of structs, null where there is
                                         no value, and `columns` may name paths in it
                                         ("value.event.query"). Other columns, and the format,
                                         do not change. NULL: none */
  const struct cst_view
      *view; /* a view to read through: batches contain its outputs, of which `columns`
                selects some, and tensors are its tensors; only the fields that they need are
                parsed. A view of messages reads records of these messages, with its own
                message options (`message` is NULL). A view of examples uses its own schema,
                unless `schema` is given; a view of a table uses its types for csv and json.
                `raw_column` and `offset_column` come after the outputs. Counted. NULL: none */
  const char *offset_column; /* containers: adds an int64 column with this name, after that of
                                raw_column, with the position of the first byte of each record in
                                its (uncompressed) stream, including the framing, as in errors and
                                cst_dropped: together with the file, it identifies the record. It is
                                ignored by tensors and inference. CST_UNSUPPORTED for other formats.
                                NULL: none */
} cst_source_options;

#define CST_SOURCE_OPTIONS_INIT                                                                    \
  {                                                                                                \
    sizeof(cst_source_options), NULL, NULL, NULL, 0, NULL, 0, 0, 0, 0, 0, 0, 0, false, NULL, NULL, \
        NULL, 0, NULL, CST_ON_ERROR_RAISE, 0, NULL, NULL, NULL, NULL, NULL, NULL, false, 0, NULL,  \
        NULL, NULL, NULL                                                                           \
  }

/* The i-th option that can be set by name, as messages, command lines and packages do: texts,
 * numbers, switches and words; NULL after the last one. Static. Options are named as their
 * members, except for the bits of flags ("memory_map"; "check_crc" is the opposite of
 * CST_SOURCE_SKIP_CRC; "offsets" is 32 or 64) and "legacy". `schema`, `types`, `columns`,
 * `format_options`, `message`, `view` and callbacks cannot be set by name. */
CST_API const cst_option_info *cst_source_option_get(size_t i);
/* Sets an option by its name. Text values are borrowed. CST_INVALID_ARGUMENT for an unknown name,
 * with near names, and for a value that the option does not accept. */
CST_API cst_status cst_source_options_set(cst_source_options *options, const char *name,
                                          const char *value, cst_error *error);

/* A set of inputs. Immutable and counted. Passes over it are independent. */
typedef struct cst_source cst_source;

/* Opens files in the given order. A path with *, ? or [ that is not an existing file is a glob,
 * whose matches are sorted bytewise; "-" is standard input; a URL is opened by a plug-in program
 * (docs/plugins.md), "file://" without one. CST_NOT_FOUND for a missing file, an empty glob, and
 * an unknown column. options may be NULL; they are copied or counted. Without paths (num_paths 0;
 * paths may be NULL then) the source has no rows, and the columns of the schema, if any; asking
 * for the columns of a tabular format, which only a file can tell, is CST_INVALID_ARGUMENT then. */
CST_API cst_status cst_source_open(const char *const *paths, size_t num_paths,
                                   const cst_source_options *options, cst_source **out,
                                   cst_error *error);

/* Opens readers of the caller, which belong to the source from here on: each is closed exactly
 * once, on success and on failure (none is closed if `readers` is NULL or the `size` of a reader
 * is unknown). The array itself is copied. */
CST_API cst_status cst_source_open_readers(const cst_reader *readers, size_t num_readers,
                                           const cst_source_options *options, cst_source **out,
                                           cst_error *error);

/* The request to a stream of the caller. */
typedef struct cst_stream_request {
  size_t size;                /* sizeof(cst_stream_request) */
  const char *const *columns; /* wanted columns in their order; NULL: all */
  size_t num_columns;
  int64_t batch_size; /* rows that the source's batches will have: a hint */
  int32_t threads;    /* threads that may be used */
} cst_stream_request;

/* Opens an input as an Arrow C stream: a format in the caller's own code. Called once per pass and
 * input, and once more for the schema, by one thread at a time. */
typedef struct cst_stream_opener {
  size_t size;      /* sizeof(cst_stream_opener) */
  const char *name; /* for errors; copied */
  cst_status (*open)(void *ctx, const cst_stream_request *request, struct ArrowArrayStream *out,
                     cst_error *error);
  void (*close)(void *ctx); /* called once, when the source does not need it any more; may be
                               NULL */
  void *ctx;
  bool once;         /* can be opened only once */
  bool projects;     /* returns exactly the wanted columns, in their order; otherwise it
                        returns all columns, and the library selects */
  int64_t file_size; /* bytes of the file that is read, for max_inflation and max_record_size;
                        0: not a file, and the output is not limited */
} cst_stream_opener;

#define CST_STREAM_OPENER_INIT \
  { sizeof(cst_stream_opener), NULL, NULL, NULL, NULL, false, false, 0 }

/* Opens streams of the caller, which belong to the source from here on, as readers do. Batches are
 * validated, then split and joined to batch_size rows. `format` is only used in errors. */
CST_API cst_status cst_source_open_streams(const cst_stream_opener *openers, size_t num_openers,
                                           const cst_source_options *options, cst_source **out,
                                           cst_error *error);
CST_API cst_source *cst_source_retain(const cst_source *source);
CST_API void cst_source_release(cst_source *source);

/* The schema, given or inferred; NULL for formats without one. Borrowed. The first call may read
 * the input to infer the schema. cst_source_arrow_schema returns the schema of the batches, which
 * the caller releases. */
CST_API cst_status cst_source_schema(cst_source *source, const cst_schema **out, cst_error *error);
CST_API cst_status cst_source_arrow_schema(cst_source *source, struct ArrowSchema *out,
                                           cst_error *error);

/* The tensors that the source's batches become (projected to the columns), of the schema, which is
 * inferred if need be. Nested columns of a source without one (structs, lists of structs, lists of
 * lists) are no features: the types of all columns say then what they are, without reading, structs
 * and lists of them being structured tensors. *out: cst_specs_release. */
CST_API cst_status cst_source_specs(cst_source *source, cst_specs **out, cst_error *error);

/* The name of the format, given or found: "example", "csv", ... Borrowed. */
CST_API const char *cst_source_format(const cst_source *source);
/* That of the container; NULL for formats that are not of records. */
CST_API const char *cst_source_container(const cst_source *source);

/* How the i-th file is compressed, by a look at its first bytes: "gzip", "zlib", "zstd", or NULL
 * for not at all. CST_STATE for inputs that can be read once only. */
CST_API cst_status cst_source_compression(cst_source *source, size_t i, const char **out,
                                          cst_error *error);

/* The number of files, their names (borrowed; NULL for an i that is too large), and the bytes that
 * they hold together, as they lie on disk (-1: unknown). */
CST_API size_t cst_source_num_files(const cst_source *source);
CST_API const char *cst_source_file(const cst_source *source, size_t i);
/* The same for all files that were opened, whatever part of them the source is. */
CST_API size_t cst_source_num_opened(const cst_source *source);
CST_API const char *cst_source_opened(const cst_source *source, size_t i);
CST_API int64_t cst_source_total_bytes(const cst_source *source);

/* One pass over the input, which keeps the source. Used by one thread at a time; a source may have
 * several passes at once. One whose first next came before a fork is CST_STATE in the child.
 * Batches are the same for every number of threads. Threads start with the first next. */
typedef struct cst_pass cst_pass;

/* CST_STATE for a second pass over an input that cannot be read twice. */
CST_API cst_status cst_pass_new(cst_source *source, cst_pass **out, cst_error *error);

/* The next batch (a struct array), which the caller releases, and which may outlive the pass; at
 * the end, and with every further call, CST_OK with out->release == NULL. A failure (out->release
 * is NULL then, too) comes where the input has it: after all batches that are full before it
 * (rows before it that do not fill a batch are not delivered). It names file, record and
 * offset, is the same for every number of threads, and comes again with every further call. A
 * feature or type that the sample of a pipe (or sample_records) did not show is CST_SCHEMA. */
CST_API cst_status cst_pass_next(cst_pass *pass, struct ArrowArray *out, cst_error *error);

/* The progress of the pass: bytes read from the files (compressed, if they are) and rows
 * delivered. Either output may be NULL. Any thread may call this while another one is in
 * cst_pass_next. */
CST_API void cst_pass_progress(const cst_pass *pass, uint64_t *bytes_read, uint64_t *rows);

/* The number of records dropped or made rows of nulls so far (CST_ON_ERROR_SKIP, _NULL) that have
 * been reported. */
CST_API uint64_t cst_pass_dropped(const cst_pass *pass);

/* Stops and joins the threads. In a child of fork, nothing is touched. NULL is allowed. */
CST_API void cst_pass_free(cst_pass *pass);

/* A new pass as an ArrowArrayStream, which owns it and keeps the source. get_last_error gives
 * cst_error_format's text, valid until the next call on the stream. */
CST_API cst_status cst_source_stream(cst_source *source, struct ArrowArrayStream *out,
                                     cst_error *error);

/* ---- stages: what stands between decoding and delivery ---- */

/* A stage of the caller: it turns each batch into another one. Several stages run one after the
 * other. The decoding threads call them, several at the same time (for tabular formats, the thread
 * of cst_pass_next). A failure of a callback ends the pass. The callback may fill the error, which
 * is never NULL, and may set `record` to the row of its batch that caused the failure. */
typedef struct cst_stage {
  size_t size;                /* sizeof(cst_stage) */
  const char *name;           /* for errors; copied; NULL: "stage" */
  const char *const *columns; /* the columns that it needs, in this order; NULL: all. If it is
                                 the first stage, the others are not decoded. Copied */
  size_t num_columns;
  /* Returns the type of its batches, a struct, for batches of the type `input`, which is borrowed
   * for the call; the library releases `output`. Called before the first batch, and again for parts
   * of the source, from any thread. NULL: the type of the input. */
  cst_status (*bind)(void *ctx, const struct ArrowSchema *input, struct ArrowSchema *output,
                     cst_error *error);
  /* Takes over `batch`, even on failure, and fills `out`, which is validated. Unless the rows are
   * kept, it may also fill `origin`: one int64 per row of `out`, the row of `batch` that it comes
   * from. Without it (release stays NULL), errors about these rows name no record. NULL: batches
   * are passed on unchanged. */
  cst_status (*run)(void *ctx, struct ArrowArray *batch, struct ArrowArray *out,
                    struct ArrowArray *origin, cst_error *error);
  void (*close)(void *ctx); /* called once, when no source needs it any more; may be NULL */
  void *ctx;
  bool keeps_rows; /* every returned batch has the rows of its input in the same order, each
                      computed from that row alone; rows then keep their numbers. Otherwise
                      cst_source_take and cst_source_range are CST_UNSUPPORTED, and batches
                      are split and joined to batch_size rows again */
} cst_stage;

#define CST_STAGE_INIT \
  { sizeof(cst_stage), NULL, NULL, 0, NULL, NULL, NULL, NULL, false }

/* Returns a source with the same inputs and options, and one more stage after the existing ones.
 * Its schema, passes, rows and parts are those of the last stage's batches. Tensors are derived
 * from the columns of these batches if they are not the decoded ones. Inference, proposals,
 * validation and accumulators process these batches, too; count and verify process the records. An
 * input that can be read only once is shared with `source`. The stage belongs to the library: it is
 * closed exactly once, on success and on failure. */
CST_API cst_status cst_source_with_stage(cst_source *source, const cst_stage *stage,
                                         cst_source **out, cst_error *error);

/* Two columns that identify the record of each row. */
typedef struct cst_id_columns {
  size_t size;         /* sizeof(cst_id_columns) */
  const char *file;    /* the name of the column with file numbers; NULL: "__file__" */
  const char *record;  /* the name of the column with record numbers; NULL: "__record__" */
  uint64_t first_file; /* the number of the first opened file */
} cst_id_columns;

#define CST_ID_COLUMNS_INIT \
  { sizeof(cst_id_columns), NULL, NULL, 0 }

/* A source of the same inputs and options with two int64 columns after those of all stages, and two
 * dense tensors: the number of the file that a row comes from, among those that were opened (parts
 * of a source keep them), and that of its record in this file, or row in a file of a tabular
 * format, from 0, dropped ones counted. -1 where that is not known: in CSV and JSON, where a pass
 * reads several files as one (a dataset does not); in parts that begin within a file without an
 * index, records. A row that a stage makes of several has the ids that its origin names.
 * columns may be NULL; CST_INVALID_ARGUMENT, when batches are asked for, if one of the names is
 * taken. */
CST_API cst_status cst_source_with_ids(cst_source *source, const cst_id_columns *columns,
                                       cst_source **out, cst_error *error);

/* ---- looking at files without decoding them into columns ---- */

/* Called about every 16 MiB with the bytes and records read so far. Returns false to stop with
 * CST_CALLBACK. */
typedef bool (*cst_progress_callback)(void *ctx, uint64_t bytes, uint64_t records);

/* Counts the records of each file: checks length CRCs and that the file ends at a record's end,
 * does not look at the payload (and does not read it where it is large and the file is plain).
 * Stops at the first failure. Files of tabular formats are read; their rows have no bytes of their
 * own, and those are 0. *files: a row per file, and their sums, as "files" (docs/cli.md has the
 * tables of columns); after a failure, those before it, or NULL. on_progress may be NULL. */
CST_API cst_status cst_source_count(cst_source *source, cst_progress_callback on_progress,
                                    void *ctx, cst_findings **files, cst_error *error);

/* Options of cst_source_verify. */
typedef struct cst_verify_options {
  size_t size;         /* sizeof(cst_verify_options) */
  uint64_t max_faults; /* the number of faults to report, from the first on; all are counted.
                          0: 1000 */
  cst_progress_callback on_progress; /* may be NULL */
  void *progress_ctx;
} cst_verify_options;

#define CST_VERIFY_OPTIONS_INIT \
  { sizeof(cst_verify_options), 0, NULL, NULL }

/* Checks everything: compression, both CRCs, and that every record parses (and fits the schema, if
 * one was given); goes on after each fault as CST_ON_ERROR_SKIP does (a damaged compression ends
 * the file, and so does the first fault of a file of a tabular format). CST_OK even if faults were
 * found. Fails if a file cannot be read at all. *faults: a row per fault, as "faults", whose total
 * "num_faults" is how many there are, and "left_out" how many of them have no row; *files (may be
 * NULL): as cst_source_count. After a failure, both have what was found before it, or are NULL.
 * options may be NULL. */
CST_API cst_status cst_source_verify(cst_source *source, const cst_verify_options *options,
                                     cst_findings **faults, cst_findings **files, cst_error *error);

/* Infers a schema from all records of the source: types, presence, value counts, and a shape for
 * features that have the same number of values everywhere. *out: cst_schema_release. A source that
 * was opened without a schema keeps the result, so that its passes do not infer again. */
CST_API cst_status cst_source_infer(cst_source *source, cst_progress_callback on_progress,
                                    void *ctx, cst_schema **out, cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_SOURCE_H */
