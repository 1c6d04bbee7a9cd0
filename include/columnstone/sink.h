/* Record batches and records to files: TFRecord, Arrow, JSON lines, and what plug-ins add.
 */
#ifndef COLUMNSTONE_SINK_H
#define COLUMNSTONE_SINK_H

#include <columnstone/arrow_abi.h>
#include <columnstone/message.h>
#include <columnstone/schema.h>
#include <columnstone/source.h>
#include <columnstone/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cst_compression {
  CST_COMPRESSION_BY_NAME = 0, /* by the path: .gz, .zlib or .zz, .zst; else none */
  CST_COMPRESSION_NONE = 1,
  CST_COMPRESSION_GZIP = 2,
  CST_COMPRESSION_ZLIB = 3,
  CST_COMPRESSION_ZSTD = 4
} cst_compression;

/* A caller's output, the twin of cst_reader. `write` takes all of the bytes or fails. `close` (may
 * be NULL) is called once; `commit` says whether the output is complete. `name` is for errors and
 * copied; NULL is fine. The error is never NULL. One call at a time, with `threads` from a thread
 * of the sink's own. */
typedef struct cst_writer {
  size_t size; /* sizeof(cst_writer) */
  const char *name;
  cst_status (*write)(void *ctx, const void *data, size_t size, cst_error *error);
  cst_status (*close)(void *ctx, bool commit, cst_error *error);
  void *ctx;
} cst_writer;

#define CST_WRITER_INIT \
  { sizeof(cst_writer), NULL, NULL, NULL, NULL }

typedef struct cst_sink_options {
  size_t size;        /* sizeof(cst_sink_options) */
  const char *format; /* "example", "sequence_example", "message", "raw", "csv", "json", "arrow",
                         "arrows" (the stream format) or a plug-in's; NULL: by the path's ending
                         (the endings that a sink knows, below); what a TFRecord holds, the options
                         and the columns tell: `message` makes messages, one binary column `record`
                         is raw, and a struct column of feature lists makes sequence examples */
  cst_compression compression; /* of the container; for formats that have none of their own */
  int32_t level;               /* 0: the codec's usual one; gzip, zlib: 1 to 9, zstd: -100 to 22 */
  const cst_schema *schema;    /* for formats that need it; NULL is fine */
  bool lossy;                  /* round what the format cannot hold exactly, instead of failing */
  const cst_allocator *allocator;
  const cst_option *format_options; /* of the format, by name: see cst_format_option_get */
  size_t num_format_options;
  int32_t threads;      /* 2 or more: compression and writing run beside the caller; 0: 1 */
  uint32_t num_shards;  /* 0: one file of the path's name; else files "<path>-00000-of-00010" (the
                           number stands before the last endings where there are some:
                           "a-00000-of-00010.tfrecord.gz"); batches go to them in turn */
  uint64_t shard_bytes; /* 0: no limit; else a new such file begins when one has reached this size;
                           rows keep their order. Not both. */
  uint64_t expected_rows; /* with num_shards: if the number of rows is known, each file gets as many
                             of them, and they keep their order; 0: not known */
  bool overwrite; /* cst_convert: replace files that exist. Sinks and writers that a program opens
                     replace them in any case, as files opened for writing are. */
  const char *container; /* of formats of records: "tfrecord", "delimited", "lines", "file" (for
                            exactly one row, else CST_UNSUPPORTED); NULL: by the
                            path's ending, else "tfrecord". With one, and without a format, what it
                            holds is found as for TFRecords */
  const cst_message_options *message; /* of the format "message", and needed by it: see
                                         cst_encoder_new. Copied */
  bool keep_existing; /* a file that has come to be under the output's name, or a link, stays:
                         cst_sink_finish is CST_IO then. Of two that write one output, the first
                         wins. cst_convert does so unless `overwrite` is set */
  bool keep_returns;  /* container "lines": a record may end with "\r", see CST_SOURCE_KEEP_RETURNS;
                         without, that is CST_UNSUPPORTED, since reading takes it for the line's */
} cst_sink_options;

#define CST_SINK_OPTIONS_INIT                                                                     \
  {                                                                                               \
    sizeof(cst_sink_options), NULL, CST_COMPRESSION_BY_NAME, 0, NULL, false, NULL, NULL, 0, 0, 0, \
        0, 0, false, NULL, NULL, false, false                                                     \
  }

/* The i-th of the options that are set by name, as command lines and packages do: texts, numbers,
 * switches and words; NULL after the last one. Static. They are called as their members are; the
 * other members are the program's own business. */
CST_API const cst_option_info *cst_sink_option_get(size_t i);
/* Sets an option by its name. A text is borrowed. CST_INVALID_ARGUMENT, with near names, for a name
 * that no option has, and for a value that it does not take. */
CST_API cst_status cst_sink_options_set(cst_sink_options *options, const char *name,
                                        const char *value, cst_error *error);

/* The endings that a sink knows: .tfrecord, .tfrecords, .tfrec; .csv, .tsv; .jsonl, .ndjson, .json;
 * .arrow, .feather, .ipc; .arrows; .parquet, .pq with the plug-in for Parquet; and those of other
 * plug-ins. The endings of a compression come after it: .gz, .zlib, .zz, .zst. Any other is
 * CST_NOT_FOUND, unless the options name a format. */

/* ---- TFRecord files ---- */

/* Writes a TFRecord file under a temporary name beside `path` and renames it on finish, so that no
 * half file ever has the final name. Used by one thread at a time. One that was opened before a
 * fork is CST_STATE in the child, with its finish at the latest. */
typedef struct cst_tfrecord_writer cst_tfrecord_writer;

/* path "-" is standard output. Of the options, compression, level, container (not found by the
 * path: NULL is "tfrecord") and allocator count; they may be NULL. */
CST_API cst_status cst_tfrecord_writer_open(const char *path, const cst_sink_options *options,
                                            cst_tfrecord_writer **out, cst_error *error);
/* To a caller's output, which the writer owns from here on: success or failure, it is closed
 * exactly once (not at all, if its `size` is none that a version has). */
CST_API cst_status cst_tfrecord_writer_open_writer(const cst_writer *writer,
                                                   const cst_sink_options *options,
                                                   cst_tfrecord_writer **out, cst_error *error);
/* One record; the bytes are copied or written. After a failure only free is allowed. */
CST_API cst_status cst_tfrecord_writer_write(cst_tfrecord_writer *writer, const void *record,
                                             size_t size, cst_error *error);
/* All slots of a binary-like Arrow array without nulls, or of the only column of a batch (borrowed,
 * fully validated). */
CST_API cst_status cst_tfrecord_writer_write_arrow(cst_tfrecord_writer *writer,
                                                   const struct ArrowSchema *schema,
                                                   const struct ArrowArray *records,
                                                   cst_error *error);
/* Flushes, syncs nothing, renames. Afterwards only free is allowed. */
CST_API cst_status cst_tfrecord_writer_finish(cst_tfrecord_writer *writer, cst_error *error);
/* Without a finish before: removes the temporary file; in a child of fork, that is left as it is.
 * NULL is allowed. */
CST_API void cst_tfrecord_writer_free(cst_tfrecord_writer *writer);

/* ---- any format ---- */

/* Takes record batches of one schema and writes a file, atomically as above. One that was opened
 * before a fork is CST_STATE in the child, with and without threads: both would write to one file.
 */
typedef struct cst_sink cst_sink;

/* path "-" is standard output (then `format` must be given). schema (borrowed, copied) is that of
 * all batches; options may be NULL. CST_NOT_FOUND for an unknown format, with the known ones and,
 * for parquet, how to get the plug-in. */
CST_API cst_status cst_sink_open(const char *path, const struct ArrowSchema *schema,
                                 const cst_sink_options *options, cst_sink **out, cst_error *error);
/* The same to a caller's output, which the sink owns from here on: success or failure, it is closed
 * exactly once. `format` must be given; CST_UNSUPPORTED for shards, and for plug-ins, which write
 * files by themselves. */
CST_API cst_status cst_sink_open_writer(const cst_writer *writer, const struct ArrowSchema *schema,
                                        const cst_sink_options *options, cst_sink **out,
                                        cst_error *error);
/* Borrows the batch, which is fully validated. After a failure only free is allowed; CST_STATE
 * tells of other calls. */
CST_API cst_status cst_sink_write(cst_sink *sink, const struct ArrowArray *batch, cst_error *error);
/* Writes what is pending, closes and renames. Afterwards only free is allowed. */
CST_API cst_status cst_sink_finish(cst_sink *sink, cst_error *error);
/* Without a finish before: removes what was written; in a child of fork, all is left as it is. NULL
 * is allowed. */
CST_API void cst_sink_free(cst_sink *sink);

/* The name of the format that the options and the path mean; writes nothing. For an early answer,
 * before a long read: fails as cst_sink_open would, for an unknown format or an option that it does
 * not have. *out (may be NULL) is static; NULL where records are written, and the columns will tell
 * what they are. */
CST_API cst_status cst_sink_format(const char *path, const cst_sink_options *options,
                                   const char **out, cst_error *error);

/* True if `path` is a file that exists, or a link that leads nowhere, or, with shards in the
 * options (may be NULL), such a file's first shard, of however many. Devices, pipes and "-" are
 * meant to be written to: false. */
CST_API bool cst_sink_exists(const char *path, const cst_sink_options *options);

/* Reads all of `source` and writes it to `path`. If cst_sink_exists, that is CST_IO, unless the
 * options say `overwrite`: then the file is replaced when the new one is complete. on_progress (may
 * be NULL) is called after every batch. *rows may be NULL. */
CST_API cst_status cst_convert(cst_source *source, const char *path,
                               const cst_sink_options *options, cst_progress_callback on_progress,
                               void *ctx, uint64_t *rows, cst_error *error);

/* Removes the temporary files of all outputs of this process that are not finished. For the handler
 * of a signal that ends the process: it is async-signal-safe. These outputs cannot be finished
 * afterwards. */
CST_API void cst_temporaries_remove(void);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_SINK_H */
