/* Random access: rows of plain TFRecord files by their numbers.
 */
#ifndef SOURCE_INDEX_ACCESS_H
#define SOURCE_INDEX_ACCESS_H

#include "io/raw.h"
#include "source/block/block.h"
#include "source/index/index.h"
#include "source/input/source.h"

typedef struct cst__access_file {
  cst_index *index;
  uint64_t first;       /* number in the index of the first record that is the source's */
  uint64_t count;       /* records that are */
  uint64_t rows;        /* of the source before this file */
  int64_t record;       /* number in the file of the first record; -1: unknown */
  cst__raw raw;         /* open if `is_open`; guarded by the lock until then, unchanged after */
  _Atomic bool is_open; /* stays so */
} cst__access_file;

/* A source's files with their indexes. Does not change once it is made, but for the files that are
 * opened and the scratches that wait. */
typedef struct cst__take_scratch cst__take_scratch;
struct cst__access {
  cst_allocator allocator;
  cst__access_file *files;
  size_t num_files;
  size_t most_open; /* files that stay open */
  uint64_t num_rows;
  cst__pool *pool;
  cst__mutex lock; /* guards all below */
  cst__take_scratch *idle;
  size_t num_open;
};

/* ---- access.c, for its neighbours ---- */

/* The indexes of all files, made or loaded with the first call; lives as long as the source.
 * CST_UNSUPPORTED, with a hint, where records cannot be reached one by one. */
cst_status cst__source_access(cst_source *source, cst__access **out, cst_error *error);
/* The same where rows are not asked for, but records: stages may have other rows. */
cst_status cst__source_access_records(cst_source *source, cst__access **out, cst_error *error);

/* Gives a source of the same parts the indexes that the other one has by now. */
void cst__source_share_indexes(const cst_source *source, cst_source *other);

/* True in *all if every file has a sound index file beside it. */
cst_status cst__source_has_sidecars(cst_source *source, bool *all, cst_error *error);

/* The file that has a row of all the source's (row < num_rows). */
size_t cst__access_find(const cst__access *access, uint64_t row);

/* Says which row an error is about: its file, record and offset instead of what it names. error may
 * be NULL. */
void cst__access_locate(const cst__access *access, const cst_source *source, uint64_t row,
                        cst_error *error);

void cst__access_free(cst__access *access); /* NULL is allowed */

/* ---- take.c ---- */

/* Reads bytes that the index says are there; CST_IO if they are not. */
cst_status cst__access_read(cst__access *access, const cst_source *source, size_t file,
                            uint64_t begin, uint8_t *buffer, size_t size, cst_error *error);

/* What is in memory of the records that are taken. */
typedef struct cst__kept_records {
  const struct cst__region *const *regions; /* region.h */
  size_t num_regions;
  cst__record_cache *cache; /* NULL: none */
} cst__kept_records;

/* cst_source_take, with the bytes that are in memory taken from there. */
cst_status cst__source_take_from(cst_source *source, const cst__kept_records *kept,
                                 const uint64_t *rows, size_t num_rows, struct ArrowArray *out,
                                 cst_error *error);

void cst__take_scratch_free(cst__take_scratch *scratch); /* and those after it in the list */

#endif /* SOURCE_INDEX_ACCESS_H */
