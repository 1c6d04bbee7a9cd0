/* A feed: the blocks of all files, in order or in turns, cut into units. Nothing here locks: in a
 * pass with threads, everything but cst__feed_fill runs under the pass's lock, and cst__feed_fill
 * runs for each file on one thread at a time.
 */
#ifndef SOURCE_PASS_FEED_H
#define SOURCE_PASS_FEED_H

#include "source/block/cursor.h"
#include "source/block/unit.h"
#include "source/pass/turns.h"

typedef struct cst__feed_file {
  cst__cursor *cursor; /* NULL before the first fill, and when all is cut */
  cst__block *first;   /* blocks that are not wholly cut */
  cst__block *last;
  size_t num_blocks;
  size_t taken;       /* records of the first block that are cut */
  size_t taken_drops; /* the same of its dropped ones */
  bool busy;          /* being filled */
  bool ended;         /* no block will follow those in the list; cursor->framing.failure says why */
} cst__feed_file;

struct cst__feed {
  const cst_source *source; /* borrowed */
  cst__pool *pool;
  cst__feed_file *files;
  cst__at_once at_once;
  cst__group group;     /* of files that are cut at once; all files before it are cut */
  cst__turns turns;     /* of the group */
  size_t front;         /* the file of the group that is cut next */
  cst__unit partial;    /* the unit that is being cut */
  uint64_t ready_bytes; /* of blocks that wait to be cut */
  uint64_t consumed;    /* bytes taken from the files */
  uint64_t framed;      /* records found so far */
  bool compressed;      /* some file is: reading ahead saves time */
  bool finished;        /* the end or a failure has been cut */
};

/* NULL: no memory. */
cst__feed *cst__feed_new(const cst_source *source);
/* Has several files cut at once, instead of one after the other; before the first cut. False: no
 * memory. */
bool cst__feed_cut_at_once(cst__feed *feed, const cst__at_once *at_once);
void cst__feed_free(cst__feed *feed);

/* A file that can be filled now, or SIZE_MAX: the one that is cut next if `ahead` is 1; else one of
 * its group, or of the `ahead` - 1 files after that. */
size_t cst__feed_fillable(const cst__feed *feed, size_t ahead);

/* Fills one block, in three steps: mark, fill, add. A failure shows when it is cut. */
void cst__feed_begin(cst__feed *feed, size_t file);
void cst__feed_fill(cst__feed *feed, size_t file, cst__block **block);
void cst__feed_end(cst__feed *feed, size_t file, cst__block *block);

typedef enum cst__cut {
  CST__CUT_UNIT,  /* *unit is the next unit */
  CST__CUT_WAIT,  /* the front file has to be filled first */
  CST__CUT_END,   /* all is cut */
  CST__CUT_FAILED /* the input fails here; what did not fill a unit before it is dropped */
} cst__cut;

/* Cuts the next unit of `rows` records (less when `bytes` are reached, or very many are dropped, or
 * at the end; none if there are only dropped ones). *unit has to
 * be clear; its storage is used again. */
cst__cut cst__feed_cut(cst__feed *feed, size_t rows, uint64_t bytes, cst__unit *unit,
                       cst_status *failure, cst_error *error);

#endif /* SOURCE_PASS_FEED_H */
