/* Which columns are wanted, at any depth, where a format says by itself what fields it has: dotted
 * paths as a tree of steps.
 *
 * It is no list of cst_path because its users go down types, and not data: at each type they ask
 * what is wanted below it and in which order, mark what they have found, and refuse a path that is
 * a part of another one. Each would make this tree of such a list. The border is here, too: where
 * a dotted name is cut (not in parentheses) needs no type, as cst_path_parse does.
 */
#ifndef ARROW_RECORDS_WANTED_H
#define ARROW_RECORDS_WANTED_H

#include <columnstone/status.h>

#include "base/alloc.h"

/* A step of the wanted paths, and what is wanted below it. */
typedef struct cst__wanted cst__wanted;
struct cst__wanted {
  const char *name;                 /* one that stands in parentheses: with them */
  bool is_used;                     /* a field of this name was found */
  bool is_nothing;                  /* columns are named, and none of them: the top */
  size_t num_below;                 /* 0: all of it */
  cst__wanted *first, *last, *next; /* those below, in their order; the next beside this one */
};

/* Reads paths (columns NULL: all); *out is the top, which has no name. A path and one that goes
 * deeper are both of it; a path that comes twice is CST_INVALID_ARGUMENT. */
cst_status cst__wanted_parse(const char *const *columns, size_t count, cst__arena *arena,
                             cst__wanted *out, cst_error *error);

#endif /* ARROW_RECORDS_WANTED_H */
