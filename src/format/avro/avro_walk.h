/* The files of a source, block by block as they lie there.
 */
#ifndef FORMAT_AVRO_AVRO_WALK_H
#define FORMAT_AVRO_AVRO_WALK_H

#include "base/thread.h"
#include "format/avro/avro_plan.h"

/* The schema that files were written with; counted. */
typedef struct cst__avro_written {
  cst__refcount owners;
  cst__text text;
  cst__avro_schema schema;
} cst__avro_written;

cst__avro_written *cst__avro_written_retain(cst__avro_written *written);
void cst__avro_written_release(cst__avro_written *written); /* NULL is allowed */

/* What is known of a file when it is open. */
typedef struct cst__avro_opened {
  cst__avro_written *written; /* borrowed from the walk, until the next file */
  const cst__avro_codec *codec;
  size_t number;
  int64_t record; /* number of its first one that is read; -1: not known */
} cst__avro_opened;

typedef struct cst__avro_walk {
  const cst__avro_plan *plan;
  bool skips; /* what is damaged is told, and passed */
  size_t next_file;
  cst__input *input;    /* of the open file, */
  cst__avro_file *file; /* NULL: between files */
  cst__avro_opened opened;
  uint64_t begin;    /* of what is read of the file */
  uint64_t consumed; /* of the files before */
} cst__avro_walk;

typedef enum cst__avro_found {
  CST__AVRO_OPENED, /* a file: walk->opened */
  CST__AVRO_BLOCK,
  CST__AVRO_LOST, /* a stretch that is damaged: block.offset and block.size, and why */
  CST__AVRO_CLOSED
} cst__avro_found;

/* The next of what the files have; there is one unless cst__avro_walk_has_ended. A failure is that
 * of the file number next_file - 1, whose name it has. */
cst_status cst__avro_walk_next(cst__avro_walk *walk, cst__avro_found *found, cst__avro_block *block,
                               cst_error *why);
static inline bool cst__avro_walk_has_ended(const cst__avro_walk *walk) {
  return walk->file == NULL && walk->next_file == walk->plan->files->count;
}
uint64_t cst__avro_walk_consumed(const cst__avro_walk *walk);
void cst__avro_walk_reset(cst__avro_walk *walk);

#endif /* FORMAT_AVRO_AVRO_WALK_H */
