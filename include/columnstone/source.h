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
  CST_ON_ERROR_NULL = 2  /* a message that does not decode is a row of nulls, or null in its column,
                            and reported as  a dropped one is, so that every record has its row; what
                            is damaged so that there is no  record (framing, checksums, compression)
                            is dropped as with CST_ON_ERROR_SKIP. Messages  only, in a container or a
                            column, and rows of tables that a view refuses: CST_UNSUPPORTED for all
                            else. All columns are nullable  then */
} cst_on_error;

/* A record that was dropped, or became a row of nulls (CST_ON_ERROR_NULL: a message that does not
 * decode). Bytes between two records that belong to neither are one dropped record. */
typedef struct cst_dropped {
  const char *kind; /* "length-crc" ("length" of delimited), "data-crc", "truncated", "limit"
                       (max_record_size), "record" (does not parse), "compression", "format" */
  const char *file; /* borrowed for the time of the call */
  int64_t record;   /* number of the record within the file, dropped ones counted; -1: unknown */
  int64_t offset;   /* of its first byte in the uncompressed stream; -1: unknown */
  uint64_t bytes;   /* that are passed over */
  const cst_error *error; /* what reading would have failed with */
} cst_dropped;

/* Returns false to stop the pass with CST_CALLBACK. */
typedef bool (*cst_dropped_callback)(void *ctx, const cst_dropped *dropped);

/* Reports a possible loss of data that is not an error: an Arrow stream without an end marker,
 * which the format allows, but which may also have been cut off between two messages. Returns
 * false to stop with CST_CALLBACK. */
typedef bool (*cst_warning_callback)(void *ctx, const cst_error *warning);

/* Options of the calls that open a source. */
typedef struct cst_source_options {
  size_t size; /* sizeof(cst_source_options) */
  const char
      *format; /* "example", "sequence_example", "raw", "csv", "json", "arrow" or a plug-in's;
                  NULL: by the bytes, then by the ending of the name; for TFRecords "example"
                */
  const cst_schema *schema;   /* NULL: inferred (files: all of the input; pipes: the first 10,000
                                 records or 256 MiB, kept in memory for the pass; or see
                                 sample_records) */
  const char *const *columns; /* wanted columns in the wanted order; NULL: all */
  size_t num_columns;
  const char *group;        /* of the schema's representations; NULL: "" */
  int64_t batch_size;       /* rows of every batch but the last; 0: 1024 */
  int64_t batch_bytes;      /* a batch also ends when its records reach this; 0: no limit */
  int32_t threads;          /* that read and decode, the caller's included; 0: 1 */
  uint32_t flags;           /* CST_SOURCE_... */
  uint32_t column_flags;    /* CST_COLUMNS_... */
  uint64_t max_record_size; /* bytes of a record, a line or a row; more is CST_LIMIT. 0: 256 MiB */
  uint64_t max_inflation;   /* what a file becomes when it is inflated or decoded to columns, as a
                               ratio; more is CST_LIMIT, after 64 MiB. 0: 200 */
  bool legacy_specs;        /* see cst_specs_options.legacy */
  const cst_allocator *allocator;
  const char *raw_column; /* containers, csv: one more column of this name, the last one, with each
                             record's bytes (of csv each row's text, without its line end):
                             large_list<large_binary> of one value, as features are; for `raw` it
                             is the only one. NULL: none */
  const cst_option *format_options; /* of the format, by name: see cst_format_option_get */
  size_t num_format_options;
  const struct ArrowSchema *types; /* csv, json: the columns and their types, instead of `schema`
                                      and instead of inferring them; NULL: none */
  cst_on_error on_error;
  uint64_t max_errors; /* with CST_ON_ERROR_SKIP and _NULL: one more dropped record or row of nulls
                          than this is CST_LIMIT; 0: no limit */
  cst_dropped_callback on_dropped; /* told by the thread that calls cst_pass_next, in the order of
                                      the input, before the batch after it; may be NULL */
  void *dropped_ctx;               /* has to live as long as the source */
  const char *environment; /* whose features make tensors: see cst_specs_options.environment */
  cst_warning_callback on_warning; /* told at most once per file, by the thread that reads it: that
                                      of cst_pass_next, cst_source_count, ...; cst_source_verify
                                      calls these faults instead. May be NULL */
  void *warning_ctx;               /* has to live as long as the source and its parts */
  const char *container; /* how records follow each other, if the format is one of records:
                            "tfrecord", "delimited" (protobuf's writeDelimitedTo), "lines", "file"
                            (each file is one record); NULL: by the bytes, which never mean lines or
                            file; pipes: "tfrecord" */
  bool flat; /* what the schema fixes to one value becomes a column of values instead of lists of
                one, nullable where it may be missing, and bytes that are text (by a domain of the
                schema, or, where the schema is inferred, by a look at them) become strings. A row
                that does not fit is CST_SCHEMA, or dropped by on_error */
  int64_t sample_records; /* what is inferred (schema, types of csv and json, what flat asks) is
                             inferred from this many first records only, which are held in memory
                             meanwhile; a later one that does not fit is CST_SCHEMA. A record among
                             them, but for the first, that cannot be read or does not fit those
                             before it ends the sample of a container: the pass fails where it
                             comes to it. 0: as `schema` says */
  const cst_message_options *message; /* of the format "message", and needed by it: with them, the
                                         format of records that is not named is that; `columns` are
                                         paths then, see cst_decoder_new. Or of
                                         message_column. Copied */
  const char *message_column;         /* the column of this name holds the messages that `message`
                                         describes, as binary or text values: it becomes a column of structs
                                         in its place, null where there is no value, and `columns` may name
                                         paths in it ("value.event.query"). The other columns, and the
                                         format, stay what they are. NULL: none */
  const struct cst_view
      *view; /* what is read goes through it: batches are its outputs, of which `columns`
         names some then, and tensors are its tensors; only what these need is
         parsed. A view of messages reads records of them, and has their options
         (`message` is NULL); one of examples has their schema, unless `schema`
         gives another, and one of a table the types of csv and json. `raw_column`
         and `offset_column` stand after the outputs. Counted. NULL: none */
  const char
      *offset_column; /* containers: one more column of this name, int64, after that of
                         raw_column, with the place of each record's first byte in its
                         (uncompressed) stream, framing included, as errors and cst_dropped
                         have it: with the file, it says which record it is. Tensors and
                         inference leave it out. CST_UNSUPPORTED for other formats. NULL: none
                       */
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
  int32_t threads;    /* that may be used */
} cst_stream_request;

/* Opens an input as an Arrow C stream: a format in the caller's own code. Called once per pass and
 * input, and once more for the schema, by one thread at a time. */
typedef struct cst_stream_opener {
  size_t size;      /* sizeof(cst_stream_opener) */
  const char *name; /* for errors; copied */
  cst_status (*open)(void *ctx, const cst_stream_request *request, struct ArrowArrayStream *out,
                     cst_error *error);
  void (*close)(void *ctx); /* once, when the source needs it no more; may be NULL */
  void *ctx;
  bool once;         /* can be opened once only */
  bool projects;     /* gives the wanted columns, in their order; else all, and they are picked */
  int64_t file_size; /* bytes of the file that is read, for max_inflation and max_record_size; 0: it
                        is none, and what it gives is not limited */
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

/* A stage of the caller's own: a batch in, a batch out. Several of them stand one after another;
 * the threads that decode call them, several at once (for tabular formats the thread of
 * cst_pass_next does). What a callback fails with ends the pass; it may fill the error, which is
 * never NULL, and may give the row of its batch that is to blame as `record`. */
typedef struct cst_stage {
  size_t size;                /* sizeof(cst_stage) */
  const char *name;           /* for errors; copied; NULL: "stage" */
  const char *const *columns; /* that it wants to be given, in this order; NULL: all. Where it is
                                 the first stage, the others are not decoded. Copied */
  size_t num_columns;
  /* The type of its batches, a struct, for batches of the type `input`, which is borrowed for the
   * call; the library releases `output`. Called before the first batch, and again for parts of
   * the source, from any thread. NULL: the type of the input. */
  cst_status (*bind)(void *ctx, const struct ArrowSchema *input, struct ArrowSchema *output,
                     cst_error *error);
  /* Takes `batch` over, also on failure, and fills `out`, which is validated. It may fill `origin`
   * too unless the rows are kept: one int64 per row of `out`, the row of `batch` that it comes
   * from; without it (release stays NULL) errors about these rows name no record. NULL: batches go
   * on as they are. */
  cst_status (*run)(void *ctx, struct ArrowArray *batch, struct ArrowArray *out,
                    struct ArrowArray *origin, cst_error *error);
  void (*close)(void *ctx); /* once, when no source needs it any more; may be NULL */
  void *ctx;
  bool keeps_rows; /* every batch that it gives has the rows that it was given, in their order, each
                      made of that row alone: rows can be reached by their numbers. Else
                      cst_source_take and cst_source_range are CST_UNSUPPORTED, and batches are cut
                      and joined to batch_size rows again */
} cst_stage;

#define CST_STAGE_INIT \
  { sizeof(cst_stage), NULL, NULL, 0, NULL, NULL, NULL, NULL, false }

/* A source of the same inputs and options with one more stage after those that it has. Its schema,
 * passes, rows and parts are those of the last stage's batches; its tensors are derived from their
 * columns where these are not the decoded ones; infer, propose, validate and accumulators look at
 * these batches, too; count and verify at the records. An input that can be read only once is
 * shared with `source`. The stage belongs to the library: success or failure, it is closed exactly
 * once. */
CST_API cst_status cst_source_with_stage(cst_source *source, const cst_stage *stage,
                                         cst_source **out, cst_error *error);

/* Two columns that identify the record of each row. */
typedef struct cst_id_columns {
  size_t size;         /* sizeof(cst_id_columns) */
  const char *file;    /* name of the column of file numbers; NULL: "__file__" */
  const char *record;  /* and of that of record numbers; NULL: "__record__" */
  uint64_t first_file; /* number of the first file that was opened */
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
  uint64_t max_faults; /* that are told of, the first ones; all are counted. 0: 1000 */
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
