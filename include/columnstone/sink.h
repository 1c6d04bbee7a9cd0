/* Writes record batches and records to files: TFRecord, Arrow, JSON lines, and the formats of
 * plug-ins.
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

/* The compression of an output. */
typedef enum cst_compression {
  CST_COMPRESSION_BY_NAME = 0, /* from the path: .gz, .zlib or .zz, .zst; otherwise none */
  CST_COMPRESSION_NONE = 1,
  CST_COMPRESSION_GZIP = 2,
  CST_COMPRESSION_ZLIB = 3,
  CST_COMPRESSION_ZSTD = 4
} cst_compression;

/* An output of the caller, the counterpart of cst_reader. `write` takes all of the bytes or fails.
 * `close` (may be NULL) is called once; `commit` says whether the output is complete. `name` is
 * for errors and copied; it may be NULL. The error is never NULL. There is one call at a time;
 * with `threads`, from a thread of the sink. */
typedef struct cst_writer {
  size_t size; /* sizeof(cst_writer) */
  const char *name;
  cst_status (*write)(void *ctx, const void *data, size_t size, cst_error *error);
  cst_status (*close)(void *ctx, bool commit, cst_error *error);
  void *ctx;
} cst_writer;

#define CST_WRITER_INIT \
  { sizeof(cst_writer), NULL, NULL, NULL, NULL }

/* Options of sinks and TFRecord writers. */
typedef struct cst_sink_options {
  size_t size;                 /* sizeof(cst_sink_options) */
  const char *format;          /* "example", "sequence_example", "message", "raw", "csv", "json",
                                  "arrow", "arrows" (the stream format) or a plug-in's; NULL:
                                  from the ending of the path (see the list below). The content
                                  of TFRecords depends on the options and the columns: `message`
                                  selects messages, a single binary column `record` is raw, and a
                                  struct column of feature lists selects sequence examples */
  cst_compression compression; /* of the container; for formats without a compression of their
                                  own */
  int32_t level;               /* 0: the codec's default; gzip, zlib: 1 to 9, zstd: -100 to 22 */
  const cst_schema *schema;    /* for formats that need one; may be NULL */
  bool lossy;                  /* round values that the format cannot hold exactly, instead of
                                  failing */
  const cst_allocator *allocator;
  const cst_option *format_options; /* of the format, by name: see cst_format_option_get */
  size_t num_format_options;
  int32_t threads;        /* 2 or more: compression and writing run in the background; 0: 1 */
  uint32_t num_shards;    /* 0: one file with the name of the path; otherwise files
                             "<path>-00000-of-00010" (the number comes before the last endings,
                             if there are any: "a-00000-of-00010.tfrecord.gz"); batches are
                             distributed to them in turn */
  uint64_t shard_bytes;   /* 0: no limit; otherwise a new file of this kind starts when one has
                             reached this size; rows keep their order. Not together with
                             num_shards. */
  uint64_t expected_rows; /* with num_shards: the number of rows, if it is known: each file
                             gets an equal part of them, and rows keep their order; 0: unknown */
  bool overwrite;         /* cst_convert: replace existing files. (Sinks and writers that a program
                             opens always replace them, like files opened for writing.) */
  const char *container;  /* for formats with records: "tfrecord", "delimited", "lines", "file"
                             (for exactly one row, otherwise CST_UNSUPPORTED); NULL: from the
                             ending of the path, otherwise "tfrecord". With a container and
                             without a format, the content is chosen as for TFRecords */
  const cst_message_options *message; /* options of the format "message", which requires them:
                                         see cst_encoder_new. Copied */
  bool keep_existing; /* keep a file or link that has appeared meanwhile under the name of the
                         output: cst_sink_finish is CST_IO then. If two processes write the
                         same output, the first one wins. cst_convert does this unless
                         `overwrite` is set */
  bool keep_returns;  /* container "lines": allow records that end with "\r", see
                         CST_SOURCE_KEEP_RETURNS; otherwise this is CST_UNSUPPORTED, because
                         readers take it for a part of the line end */
} cst_sink_options;

#define CST_SINK_OPTIONS_INIT                                                                     \
  {                                                                                               \
    sizeof(cst_sink_options), NULL, CST_COMPRESSION_BY_NAME, 0, NULL, false, NULL, NULL, 0, 0, 0, \
        0, 0, false, NULL, NULL, false, false                                                     \
  }

/* The i-th option that can be set by name, as command lines and packages do: texts, numbers,
 * switches and words; NULL after the last one. Static. Options are named as their members; the
 * other members cannot be set by name. */
CST_API const cst_option_info *cst_sink_option_get(size_t i);
/* Sets an option by its name. Text values are borrowed. CST_INVALID_ARGUMENT, with near names, for
 * an unknown name, and for a value that the option does not accept. */
CST_API cst_status cst_sink_options_set(cst_sink_options *options, const char *name,
                                        const char *value, cst_error *error);

/* File endings that a sink knows: .tfrecord, .tfrecords, .tfrec; .csv, .tsv; .jsonl, .ndjson,
 * .json; .arrow, .feather, .ipc; .arrows; .parquet, .pq with the Parquet plug-in; and those of
 * other plug-ins. The ending of a compression follows: .gz, .zlib, .zz, .zst. Any other ending is
 * CST_NOT_FOUND, unless the options name a format. */

/* ---- TFRecord files ---- */

/* Writes a TFRecord file under a temporary name beside `path`, and renames it at the end: an
 * incomplete file never has the final name. Used by one thread at a time. In a child of fork,
 * writing and finishing are CST_STATE. */
typedef struct cst_tfrecord_writer cst_tfrecord_writer;

/* Opens a TFRecord file; path "-" is standard output. These options count: compression, level,
 * container (not found by the path: NULL is "tfrecord") and allocator. options may be NULL. */
CST_API cst_status cst_tfrecord_writer_open(const char *path, const cst_sink_options *options,
                                            cst_tfrecord_writer **out, cst_error *error);
/* Writes to an output of the caller, which belongs to the writer from here on: it is closed
 * exactly once, on success and on failure (not at all if its `size` is unknown). */
CST_API cst_status cst_tfrecord_writer_open_writer(const cst_writer *writer,
                                                   const cst_sink_options *options,
                                                   cst_tfrecord_writer **out, cst_error *error);
/* Writes one record. The bytes are copied or written. After a failure only free is allowed. */
CST_API cst_status cst_tfrecord_writer_write(cst_tfrecord_writer *writer, const void *record,
                                             size_t size, cst_error *error);
/* Writes all values of a binary or text Arrow array without nulls, or of the only column of a
 * batch (borrowed, fully validated). */
CST_API cst_status cst_tfrecord_writer_write_arrow(cst_tfrecord_writer *writer,
                                                   const struct ArrowSchema *schema,
                                                   const struct ArrowArray *records,
                                                   cst_error *error);
/* Flushes and renames, without a sync to disk. Afterwards only free is allowed. */
CST_API cst_status cst_tfrecord_writer_finish(cst_tfrecord_writer *writer, cst_error *error);
/* Frees the writer. Without a finish, removes the temporary file; in a child of fork, nothing is
 * touched. NULL is allowed. */
CST_API void cst_tfrecord_writer_free(cst_tfrecord_writer *writer);

/* ---- any format ---- */

/* Writes record batches of one schema to a file, atomically as above. In a child of fork all calls
 * but free are CST_STATE: both processes would write to one file. */
typedef struct cst_sink cst_sink;

/* Opens a sink; path "-" is standard output (then `format` must be given). schema (borrowed,
 * copied) is that of all batches; options may be NULL. CST_NOT_FOUND for an unknown format, with
 * the known ones and, for Parquet, how to get the plug-in. */
CST_API cst_status cst_sink_open(const char *path, const struct ArrowSchema *schema,
                                 const cst_sink_options *options, cst_sink **out, cst_error *error);
/* Writes to an output of the caller, which belongs to the sink from here on: it is closed exactly
 * once, on success and on failure. `format` must be given. CST_UNSUPPORTED for shards, and for
 * plug-ins, which write files themselves. */
CST_API cst_status cst_sink_open_writer(const cst_writer *writer, const struct ArrowSchema *schema,
                                        const cst_sink_options *options, cst_sink **out,
                                        cst_error *error);
/* Writes a batch, which is borrowed and fully validated. After a failure only free is allowed;
 * other calls are CST_STATE. */
CST_API cst_status cst_sink_write(cst_sink *sink, const struct ArrowArray *batch, cst_error *error);
/* Writes pending rows, closes and renames. Afterwards only free is allowed. */
CST_API cst_status cst_sink_finish(cst_sink *sink, cst_error *error);
/* Frees the sink. Without a finish, removes its files; in a child of fork, nothing is touched.
 * NULL is allowed. */
CST_API void cst_sink_free(cst_sink *sink);

/* The name of the format that the options and the path select. Writes nothing: this is a check
 * before a long read, and fails like cst_sink_open for an unknown format or an option that the
 * format does not have. *out (may be NULL) is static; NULL if records are written, whose format
 * depends on the columns. */
CST_API cst_status cst_sink_format(const char *path, const cst_sink_options *options,
                                   const char **out, cst_error *error);

/* True if `path` is a file that exists or a dangling link, or, with shards in the options (may be
 * NULL), if a first shard of `path` exists. False for devices, pipes and "-". */
CST_API bool cst_sink_exists(const char *path, const cst_sink_options *options);

/* Writes all of `source` to `path`. If cst_sink_exists, this is CST_IO, unless the options have
 * `overwrite`: then the file is replaced when the new one is complete. on_progress (may be NULL)
 * is called after every batch. *rows may be NULL. */
CST_API cst_status cst_convert(cst_source *source, const char *path,
                               const cst_sink_options *options, cst_progress_callback on_progress,
                               void *ctx, uint64_t *rows, cst_error *error);

/* Removes the temporary files of all unfinished outputs of this process, which can no longer be
 * finished. For the handler of a signal that ends the process: it is async-signal-safe. */
CST_API void cst_temporaries_remove(void);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_SINK_H */
