/* Indexes of files of records: where each record is, in a file beside the data.
 *
 * The index of "trips.tfrecord" is "trips.tfrecord.cstidx". It contains the identity of the data
 * (its size and a CRC-32C of its first and last 64 KiB), so that an index of another or a changed
 * file is detected. Sources find and use indexes by themselves; without one they make it in memory
 * when they need it.
 */
#ifndef COLUMNSTONE_INDEX_H
#define COLUMNSTONE_INDEX_H

#include <columnstone/source.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable; may be used by many threads. */
typedef struct cst_index cst_index;

/* Options of cst_index_build. */
typedef struct cst_index_options {
  size_t size;           /* sizeof(cst_index_options) */
  const char *container; /* as in cst_source_options */
  cst_progress_callback on_progress;
  void *progress_ctx;
  const cst_allocator *allocator;
} cst_index_options;

#define CST_INDEX_OPTIONS_INIT \
  { sizeof(cst_index_options), NULL, NULL, NULL, NULL }

/* Reads the frames of an uncompressed file of records: checks the CRCs of the lengths and skips
 * the data. CST_UNSUPPORTED for a compressed file, whose records cannot be accessed one by one:
 * the hint says how to rewrite it. options may be NULL. */
CST_API cst_status cst_index_build(const char *path, const cst_index_options *options,
                                   cst_index **out, cst_error *error);

/* Opens the index file beside `path`. CST_NOT_FOUND if there is none, CST_STATE if the data has
 * changed (the hint says `columnstone index`), CST_CORRUPT if the index is damaged. */
CST_API cst_status cst_index_open(const char *path, const cst_allocator *allocator, cst_index **out,
                                  cst_error *error);

/* Writes "<path>.cstidx" beside the data, atomically; a link of this name is replaced. */
CST_API cst_status cst_index_save(const cst_index *index, const char *path, cst_error *error);

/* Saves and opens the text format that DALI and the Python package `tfrecord` read: a line "offset
 * length" per record, the length with the framing. Opening checks that each offset is the start of
 * a record of `path` (CST_CORRUPT with the line). */
CST_API cst_status cst_index_save_text(const cst_index *index, const char *text_path,
                                       cst_error *error);
CST_API cst_status cst_index_open_text(const char *text_path, const char *path,
                                       const cst_allocator *allocator, cst_index **out,
                                       cst_error *error);

/* The number of records in the file. */
CST_API uint64_t cst_index_num_records(const cst_index *index);
/* The offset of the record's first byte in the file, and the size of its payload (of lines: with
 * the line end). 0 and 0 if i is too large. */
CST_API void cst_index_record(const cst_index *index, uint64_t i, uint64_t *offset, uint64_t *size);
/* All records as a record batch of two int64 columns, "offset" and "size". The columns borrow from
 * the index, which they keep alive. The caller releases *schema and *array. */
CST_API cst_status cst_index_batch(const cst_index *index, struct ArrowSchema *schema,
                                   struct ArrowArray *array, cst_error *error);
CST_API void cst_index_free(cst_index *index);

/* ---- sources of plain files of records: all of these are CST_UNSUPPORTED for others, with a hint,
 * but for cst_source_num_rows ---- */

/* The number of records, from the indexes if there are any; otherwise by reading the frames (once)
 * or, for tabular formats, all of the data. */
CST_API cst_status cst_source_num_rows(cst_source *source, uint64_t *rows, cst_error *error);

/* Reads the given rows into one batch, in the given order; rows are numbered through all files,
 * and a row may be repeated. Without rows the batch is empty, for every source.
 * CST_INVALID_ARGUMENT for a row number that is too large. A record that does not decode is a
 * failure; with CST_ON_ERROR_NULL it is a row of nulls, which is not reported. Independent of any
 * pass; many threads may call it. */
CST_API cst_status cst_source_take(cst_source *source, const uint64_t *rows, size_t num_rows,
                                   struct ArrowArray *out, cst_error *error);

/* A source of the rows [begin, end) of this one; its passes read nothing else. An end beyond the
 * last row is the last row's. */
CST_API cst_status cst_source_range(cst_source *source, uint64_t begin, uint64_t end,
                                    cst_source **out, cst_error *error);

/* Part i of n: every record is in exactly one part, and the parts in order give the records in
 * order. With indexes for all files the sizes of the parts differ by at most one record. Without,
 * the bytes are divided, and the start of a record is found by both of its CRCs. Compressed files
 * (except zstd with a seek table, docs/formats.md) and tabular formats are divided by whole files.
 * Needs no index, and makes none. */
CST_API cst_status cst_source_split(cst_source *source, uint32_t i, uint32_t n, cst_source **out,
                                    cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_INDEX_H */
