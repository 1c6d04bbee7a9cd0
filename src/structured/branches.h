/* Paths that have come to one struct, sorted by their next steps: so that a walk enters every field
 * once, however many paths lead through it. */
#ifndef STRUCTURED_BRANCHES_H
#define STRUCTURED_BRANCHES_H

#include "structured/structured.h"

/* Some of many paths, which have their first `depth` steps in common. */
typedef struct cst__path_set {
  const cst_path *paths;
  const size_t *members; /* which of them */
  size_t count;
  size_t depth;
} cst__path_set;

/* All of `count` paths, which have nothing in common. */
cst_status cst__path_set_make(const cst_path *paths, size_t count, cst__arena *arena,
                              cst__path_set *out, cst_error *error);

/* The paths that go on with one step. */
typedef struct cst__branch {
  const char *step;
  int64_t place;       /* of the field of that name; -1: there is none */
  cst__path_set below; /* one step deeper, in the order in which they are given */
  const size_t *end;   /* the first of them that ends here; NULL: all go on */
} cst__branch;

typedef struct cst__branches {
  cst__branch *items; /* in the order of their first paths */
  size_t count;
} cst__branches;

/* The paths, each of which has another step. CST_INVALID_ARGUMENT for a step that is the name of
 * two fields. */
cst_status cst__branches_make(const cst__path_set *set, const struct ArrowSchema *structs,
                              cst__arena *arena, cst__branches *out, cst_error *error);

/* That there is a field at a path, of which the first steps lead to the structs of the view. */
cst_status cst__field_check(const cst__view *structs, const cst_path *path, size_t depth,
                            cst_error *error);

/* CST_NOT_FOUND: the struct has no such field; CST_SCHEMA: there is no struct, but a value of
 * another type, for a step to go on from. The step becomes the path. */
cst_status cst__fail_field(const struct ArrowSchema *structs, const char *step, cst_error *error);
cst_status cst__fail_step(const cst__view *view, const char *step, cst_error *error);

/* CST_SCHEMA: a leaf tensor has no fields. */
cst_status cst__fail_leaf(const cst_structured *tensor, cst_error *error);

#endif /* STRUCTURED_BRANCHES_H */
