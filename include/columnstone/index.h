/* Indexes of files of records: where each record lies, kept in a file beside the data.
 *
 * The index of "trips.tfrecord" is "trips.tfrecord.cstidx". It holds the identity of the data (its
 * size and a CRC-32C over its first and last 64 KiB), so that an index of another or a changed file
 * is noticed. Sources find and use it by themselves; without one they make it in memory when it is
 * needed.
 */
#ifndef COLUMNSTONE_INDEX_H
#define COLUMNSTONE_INDEX_H

#include <columnstone/source.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable; may be used by many threads. */
typedef struct cst_index cst_index;

typedef struct cst_index_options {
  size_t size;           /* sizeof(cst_index_options) */
  const char *container; /* as that of cst_source_options */
  cst_progress_callback on_progress;
  void *progress_ctx;
  const cst_allocator *allocator;
} cst_index_options;

#define CST_INDEX_OPTIONS_INIT \
  { sizeof(cst_index_options), NULL, NULL, NULL, NULL }

/* Reads the frames of a plain file of records (length CRCs are checked, the data is passed over).
 * CST_UNSUPPORTED for a compressed file, whose records cannot be reached one by one: the hint says
 * how to write it anew. options may be NULL. */
CST_API cst_status cst_index_build(const char *path, const cst_index_options *options,
                                   cst_index **out, cst_error *error);

/* The index file that lies beside `path`. CST_NOT_FOUND if there is none, CST_STATE if it is that
 * of another content (the hint says `columnstone index`), CST_CORRUPT if it is damaged. */
CST_API cst_status cst_index_open(const char *path, const cst_allocator *allocator, cst_index **out,
                                  cst_error *error);

/* Writes "<path>.cstidx" beside the data, atomically; a link of this name is replaced. */
CST_API cst_status cst_index_save(const cst_index *index, const char *path, cst_error *error);

/* The text form that DALI and the Python package `tfrecord` read: a line "offset length" per
 * record, the length with the framing. Imported offsets are checked against the data: each has to
 * be the head of a record (CST_CORRUPT with the line). */
CST_API cst_status cst_index_save_text(const cst_index *index, const char *text_path,
                                       cst_error *error);
CST_API cst_status cst_index_open_text(const char *text_path, const char *path,
                                       const cst_allocator *allocator, cst_index **out,
                                       cst_error *error);

CST_API uint64_t cst_index_num_records(const cst_index *index);
/* Offset of the record's first byte in the file, and the size of its payload (of lines: with their
 * end); 0 and 0 for an i that is
 * too large. */
CST_API void cst_index_record(const cst_index *index, uint64_t i, uint64_t *offset, uint64_t *size);
/* All of them as a record batch of two int64 columns, "offset" and "size". The offsets are those of
 * the index, which lives as long as they do. *schema and *array are the caller's to release. */
CST_API cst_status cst_index_batch(const cst_index *index, struct ArrowSchema *schema,
                                   struct ArrowArray *array, cst_error *error);
CST_API void cst_index_free(cst_index *index);

/* ---- sources of plain files of records: all of these are CST_UNSUPPORTED for others, with a hint,
 * but for cst_source_num_rows ---- */

/* The number of records: from the indexes if there are some, else by reading the frames (once) or,
 * for tabular formats, all of the data. */
CST_API cst_status cst_source_num_rows(cst_source *source, uint64_t *rows, cst_error *error);

/* The given rows, numbered through all files, in the given order (a row may come twice), as one
 * batch; no rows are a batch of no rows, of every source. CST_INVALID_ARGUMENT for a row that there
 * is not. A record that does not decode is a failure; with CST_ON_ERROR_NULL it is a row of nulls,
 * of which nobody is told. Independent of any pass; may be called by many threads. */
CST_API cst_status cst_source_take(cst_source *source, const uint64_t *rows, size_t num_rows,
                                   struct ArrowArray *out, cst_error *error);

/* A source of the rows [begin, end) of this one; its passes read nothing else. end is cut at the
 * number of rows. */
CST_API cst_status cst_source_range(cst_source *source, uint64_t begin, uint64_t end,
                                    cst_source **out, cst_error *error);

/* Part i of n: every record is in exactly one part, and the parts in their order give the records
 * in theirs. With indexes for all files the parts differ by at most one record; without, the bytes
 * are divided, and the begin of a record is found by both of its CRCs. Compressed files (but for
 * those of zstd with a seek table, docs/formats.md) and whole formats are divided by whole files.
 * Needs no index, and makes none. */
CST_API cst_status cst_source_split(cst_source *source, uint32_t i, uint32_t n, cst_source **out,
                                    cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_INDEX_H */
