/* Several threads that read the text of files, each a part of its own: the rows come in the order
 * of the files.
 *
 * A part is a stretch of text that ends where a record does (cst__table_format.cut). Whoever is
 * free takes the next one out of the files and makes rows of it. This is for text in which nothing
 * is wrong. Where something is, the rows of the parts before are delivered, and one thread reads
 * the files again and goes on after these rows: it alone tells of each fault as it is. A limit on
 * what a batch may hold counts for a part.
 */
#ifndef FORMAT_TABLE_TEXT_CREW_H
#define FORMAT_TABLE_TEXT_CREW_H

#include "format/table/table.h"

typedef struct cst__text_crew cst__text_crew;

/* The format has `cut`, and the plan was made of these files, which can be read again. `threads`
 * counts the caller's. All that is given is borrowed. `drop` (NULL: a fault is a failure) is called
 * by the caller's thread. */
typedef struct cst__text_crew_options {
  const cst__table_format *format;
  const void *plan;
  const cst__table_files *files;
  int32_t threads;
  cst__table_drop drop;
  void *drop_ctx;
  const cst_allocator *allocator;
} cst__text_crew_options;

/* True if the files of a plan of this format can be read so, and are worth it. */
bool cst__text_crew_fits(const cst__table_format *format, const cst__table_files *files,
                         int32_t threads);

cst_status cst__text_crew_new(const cst__text_crew_options *options, cst__text_crew **out,
                              cst_error *error);
/* The next rows, in batches of any size; out->release is NULL at the end. */
cst_status cst__text_crew_next(cst__text_crew *crew, struct ArrowArray *out, cst_error *error);
/* Bytes taken from the files for what has been delivered. */
uint64_t cst__text_crew_consumed(const cst__text_crew *crew);
void cst__text_crew_free(cst__text_crew *crew); /* NULL is allowed */

/* Something else than rows that is made of each part. */
typedef struct cst__text_fold {
  /* On any thread, the `thread`-th of the crew: *made is handed to `take` (NULL: it is not called).
   * Parts come to a thread in their order. False: something is wrong with the part. */
  bool (*run)(void *ctx, int32_t thread, const cst__table_files *file, void **made);
  /* On the caller's thread, in the order of the parts. False: something is wrong with the part. */
  bool (*take)(void *ctx, void *made);
  void (*drop)(void *made);
  void *ctx;
} cst__text_fold;

/* Goes through all of the text. *sound is false, and nothing of what was made counts, if something
 * is wrong with a part. */
cst_status cst__text_crew_fold(const cst__text_crew_options *options, const cst__text_fold *fold,
                               bool *sound, cst_error *error);

/* After the last line end in the text; 0: there is none. */
size_t cst__text_last_line_end(const uint8_t *data, size_t size);

/* For tests: bytes of a part (0: as usual), and whether one thread goes on because of a fault. */
void cst__text_crew_set_part_size(size_t size);
bool cst__text_crew_is_alone(const cst__text_crew *crew);

#endif /* FORMAT_TABLE_TEXT_CREW_H */
