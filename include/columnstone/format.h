/* The list of formats and containers, and the plug-in interface, version 1: a shared object that
 * reads or writes a tabular format.
 *
 * A plug-in needs only this header, arrow_abi.h, options.h and status.h, and no symbol of the
 * library. It defines one function, `cst_plugin`, in a shared object called
 * `columnstone-<format>.so`. Columnstone looks for that file in the folders of the environment
 * variable COLUMNSTONE_PLUGIN_PATH (separated by ':'; "none" switches plug-ins off) and then in
 * its own plug-in folder, loads it when the format is asked for, and never unloads it.
 * docs/plugins.md has an example.
 *
 * Rules for a plug-in: it never throws, exits or prints; it does not keep borrowed pointers after
 * it returns; its errors contain no data. One thread at a time uses a stream or a writer;
 * different threads may use different ones at once.
 */
#ifndef COLUMNSTONE_FORMAT_H
#define COLUMNSTONE_FORMAT_H

#include <columnstone/arrow_abi.h>
#include <columnstone/options.h>
#include <columnstone/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what there is ---- */

/* A format that the library knows by name. Static. */
typedef struct cst_format_info {
  const char *name;              /* the name in options: "example", "csv" */
  const char *description;       /* in a few words: "tf.Example", "CSV" */
  const char *const *extensions; /* endings of file names: ".csv", ..., NULL at the end; for
                                    formats with records, containers have the endings */
  bool reads;
  bool writes;
  bool is_records;   /* the format of the records in a container; otherwise a file format */
  bool is_text;      /* the files are text */
  bool is_plugin;    /* a plug-in of this project, which may or may not be installed */
  bool needs_schema; /* column types come from a schema; if none is given, it is inferred
                        before the first batch (for a pipe, from the first records) */
} cst_format_info;

/* The i-th in the order in which lists for people have them; NULL after the last one. Plug-ins of
 * others are not listed: they are known by name when they are installed. */
CST_API const cst_format_info *cst_format_get(size_t i);

/* A container: how records follow each other in a file. Static. */
typedef struct cst_container_info {
  const char *name;              /* "tfrecord" */
  const char *description;       /* in a few words: "TFRecord" */
  const char *const *extensions; /* endings of file names: ".tfrecord", ..., NULL at the end */
  const char *format;            /* the default format of its records: "example" */
} cst_container_info;

/* As cst_format_get. */
CST_API const cst_container_info *cst_container_get(size_t i);

/* ---- their options (<columnstone/options.h>) ---- */

/* The i-th option of a format ("csv"); NULL after the last one, and for formats without options. A
 * plug-in is loaded for it; programs tell theirs when they are used. */
CST_API const cst_option_info *cst_format_option_get(const char *format, size_t i);

/* ---- plug-ins ---- */

#define CST_PLUGIN_ABI_VERSION 1

/* What a plug-in's reader is told. Later versions add members at the end: `size` tells which there
 * are. The same holds for the other structs. */
typedef struct cst_plugin_read_options {
  size_t size;                /* sizeof(cst_plugin_read_options) of the host */
  const char *const *columns; /* wanted top-level columns in order, without duplicates; NULL:
                                 all */
  size_t num_columns;
  int64_t batch_size; /* approximate rows of a batch (Columnstone splits and joins batches); >
                         0 */
  int32_t threads;    /* that the plug-in may use, the caller's included; >= 1 */
  /* The fields of these columns that are used. Fields that no path leads to may be left out (of
   * structs, or of the items of lists, but never of maps). NULL: all. */
  const cst_path *paths;
  size_t num_paths;
  /* The memory in bytes that the plug-in may use at the same time for this file. If it needs more,
   * it fails with CST_LIMIT, or with EFBIG from the stream. UINT64_MAX: no limit. Columnstone
   * counts the memory of the batches itself. */
  uint64_t max_memory;
  uint64_t max_inflation; /* cst_source_options.max_inflation, from which max_memory is
                             computed */
  /* Options from cst_plugin_format.options: the given ones, checked, and the defaults of the
   * others; each once, in the order of the table. An option without a value is left out. */
  const cst_option *options;
  size_t num_options;
} cst_plugin_read_options;

/* What a plug-in's writer is told. */
typedef struct cst_plugin_write_options {
  size_t size;               /* sizeof(cst_plugin_write_options) of the host */
  int32_t level;             /* of compression; 0: the default */
  int64_t group_bytes;       /* flush a row group when this much data is pending; 0: the
                                default */
  bool lossy;                /* round values that the format cannot hold exactly, instead of
                                failing */
  int32_t threads;           /* that the plug-in may use, the caller's included; >= 1 */
  const cst_option *options; /* as in cst_plugin_read_options */
  size_t num_options;
} cst_plugin_write_options;

/* A format. Functions that it does not have are NULL: `open` of one that is only written, the four
 * of the writer of one that is only read, `sniff`. All return a status and fill `error` (never
 * NULL, of the host's size: a plug-in that was built with a later version may not write members
 * that end after `error->size`; code, message and hint, and record or path where they are known) on
 * failure. */
typedef struct cst_plugin_format {
  size_t size;                   /* sizeof(cst_plugin_format) of the plug-in */
  uint32_t abi_version;          /* CST_PLUGIN_ABI_VERSION */
  const char *name;              /* "parquet": lower-case letters, digits, '-', '_'; as in the name
                                    of the plug-in's file */
  const char *description;       /* one line */
  const char *const *extensions; /* ".parquet", ..., NULL at the end */

  /* True if a file that begins with these bytes (up to 64) is of this format. */
  bool (*sniff)(const uint8_t *head, size_t size);

  /* Opens one local file as a stream of batches (struct arrays), which owns all that it needs. A
   * column that the file does not have is CST_NOT_FOUND with `path` set to its name. Failures of
   * the stream are errno values: ENOMEM, EIO, ENOTSUP (what the format cannot give), EFBIG (see
   * max_memory), everything else is damaged data; get_last_error gives one line without the path of
   * the file. */
  cst_status (*open)(const char *path, const cst_plugin_read_options *options,
                     struct ArrowArrayStream *out, cst_error *error);

  /* Starts to write `path`, which exists and is empty: a temporary name, Columnstone renames it.
   * schema (borrowed) is that of all the batches. *writer is the plug-in's. */
  cst_status (*create)(const char *path, const struct ArrowSchema *schema,
                       const cst_plugin_write_options *options, void **writer, cst_error *error);
  /* Takes one batch: must call its release, also on failure. The memory behind it is lent: it is
   * valid until `write` returns, whenever release was called. */
  cst_status (*write)(void *writer, struct ArrowArray *batch, cst_error *error);
  /* Completes and closes the file. Called at most once, only free comes after it. */
  cst_status (*finish)(void *writer, cst_error *error);
  /* Frees the writer, finished or not. Does not remove the file. */
  void (*free)(void *writer);

  /* The options of the format, at most 64; NULL: none. */
  const cst_option_info *options;
  size_t num_options;
} cst_plugin_format;

#if defined(_WIN32)
#define CST_PLUGIN_EXPORT __declspec(dllexport)
#else
#define CST_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

/* The one function of a plug-in: gives its format, static for the life of the process, or NULL if
 * it cannot work with a host of this ABI version. Called from any thread, any number of times. */
CST_PLUGIN_EXPORT const cst_plugin_format *cst_plugin(uint32_t host_abi_version);

typedef const cst_plugin_format *(*cst_plugin_function)(uint32_t host_abi_version);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_FORMAT_H */
