/* The plug-in interface, version 1: a shared object that reads or writes a whole format.
 *
 * A plug-in exports one function, `cst_plugin`, and needs only this header and arrow_abi.h: no symbol
 * of the library. Columnstone looks for `columnstone-<format>.so` in the folders of the environment
 * variable COLUMNSTONE_PLUGIN_PATH (separated by ':') and then in its own plug-in folder, and loads
 * it when the format is asked for. A plug-in must never throw, exit, or keep pointers that it was
 * lent after it returned.
 */
#ifndef COLUMNSTONE_FORMAT_H
#define COLUMNSTONE_FORMAT_H

#include <columnstone/arrow_abi.h>
#include <columnstone/sink.h>
#include <columnstone/source.h>
#include <columnstone/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CST_PLUGIN_ABI_VERSION 1

/* What a plug-in's reader is told. */
typedef struct cst_plugin_read_options {
  size_t size;
  const char *const *columns; /* wanted top-level columns in order; NULL: all */
  size_t num_columns;
  int64_t batch_size;         /* rows of a batch, at most */
  int32_t threads;
} cst_plugin_read_options;

/* What a plug-in's writer is told. */
typedef struct cst_plugin_write_options {
  size_t size;
  int32_t level;              /* of compression; 0: the usual one */
  int64_t group_bytes;        /* flush a row group when this much data is pending; 0: the usual */
} cst_plugin_write_options;

/* A format. Functions that it does not have are NULL. All return a cst_status and fill `error` (never
 * NULL) on failure. */
typedef struct cst_plugin_format {
  size_t size;             /* sizeof(cst_plugin_format) of the plug-in */
  uint32_t abi_version;    /* CST_PLUGIN_ABI_VERSION */
  const char *name;        /* "parquet" */
  const char *description; /* one line for --help */
  const char *const *extensions; /* ".parquet", ..., NULL at the end */

  /* True if a file that begins with these bytes (up to 64) is of this format. */
  bool (*sniff)(const uint8_t *head, size_t size);

  /* Opens one local file as a stream of batches, which owns all that it needs. */
  cst_status (*open)(const char *path, const cst_plugin_read_options *options,
                     struct ArrowArrayStream *out, cst_error *error);

  /* Starts writing `path` (a temporary name; Columnstone renames it). *writer is the plug-in's. */
  cst_status (*create)(const char *path, const struct ArrowSchema *schema,
                       const cst_plugin_write_options *options, void **writer, cst_error *error);
  /* Takes the batch (moves it: must release it, also on failure). */
  cst_status (*write)(void *writer, struct ArrowArray *batch, cst_error *error);
  /* Completes the file. */
  cst_status (*finish)(void *writer, cst_error *error);
  /* Frees the writer, finished or not. */
  void (*free)(void *writer);
} cst_plugin_format;

/* The one symbol of a plug-in: its format, static for the life of the process; NULL if it cannot work
 * with a host of this ABI version. */
typedef const cst_plugin_format *(*cst_plugin_function)(uint32_t host_abi_version);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_FORMAT_H */
