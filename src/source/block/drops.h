/* Records that are dropped under CST_ON_ERROR_SKIP, on their way from where they are found to the
 * caller: as few bytes as will do, because a damaged file may have very many.
 */
#ifndef SOURCE_BLOCK_DROPS_H
#define SOURCE_BLOCK_DROPS_H

#include <columnstone/source.h>

#include "base/alloc.h"
#include "format/container/container.h"

/* An error without a place, in one piece of memory; cst__delete. */
typedef struct cst__kept_error {
  cst_status code;
  int64_t line;
  int64_t column;
  const char *path;
  const char *message;
  const char *hint;
} cst__kept_error;

/* NULL: no memory. */
cst__kept_error *cst__error_keep(const cst_allocator *allocator, const cst_error *error);

typedef enum cst__drop_kind {
  CST__DROP_DAMAGE,      /* of the container's: see `damage` */
  CST__DROP_RECORD,      /* does not parse, or does not fit the schema */
  CST__DROP_COMPRESSION, /* the rest of a file */
} cst__drop_kind;

typedef struct cst__drop {
  cst__drop_kind kind;
  cst__damage damage;
  cst__kept_error *error; /* unless DAMAGE; owned by the list */
  size_t before; /* number of the sound record of the block (row of the unit) that it precedes */
  size_t file;
  uint64_t record;
  uint64_t offset;
  uint64_t bytes;
} cst__drop;

typedef struct cst__drops {
  cst__drop *items;
  size_t count;
  size_t capacity;
} cst__drops;

/* Moves a drop in, also on failure (no memory). */
bool cst__drops_add(cst__drops *drops, const cst_allocator *allocator, const cst__drop *drop);
/* Forgets the drops from `first` on; keeps the storage. */
void cst__drops_clear(cst__drops *drops, size_t first);
void cst__drops_reset(cst__drops *drops);

/* "length-crc", ..., as cst_dropped has it. */
const char *cst__drop_name(const cst__drop *drop, const cst_source *source);

/* The error that reading would have failed with, its place included. */
void cst__drop_explain(const cst__drop *drop, const cst_source *source, cst_error *error);

#endif /* SOURCE_BLOCK_DROPS_H */
