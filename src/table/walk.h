/* Walks through one array, for the operations on columns and lists: from its rows down through
 * structs and lists, to values as an array and the row of each.
 */
#ifndef TABLE_WALK_H
#define TABLE_WALK_H

#include "nested/slots.h"
#include "table/array.h"

/* The views of an array, and the slots that the walk has come to: all rows at first. */
typedef struct cst__walk {
  const cst_array *root;
  cst__arena arena; /* of the array's allocator; holds all of the walk */
  cst__view view;
  cst__slots slots;
  int64_t *splits; /* [rows + 1]: where the slots of each row begin; NULL: as many as rows */
  bool with_rows;  /* splits are wanted */
} cst__walk;

/* To be ended if it succeeds. */
cst_status cst__walk_begin(cst__walk *walk, const cst_array *array, bool with_rows,
                           cst_error *error);
void cst__walk_end(cst__walk *walk);

/* Goes from lists to their items. */
cst_status cst__walk_open(cst__walk *walk, cst_error *error);

/* Goes down by the names of fields, through lists as well; failures have the path. */
cst_status cst__walk_path(cst__walk *walk, const cst_path *path, cst_error *error);

/* The slots that it has come to, and the row of each (int64) unless `rows` is NULL. */
cst_status cst__walk_finish(const cst__walk *walk, cst_array **out, cst_array **rows,
                            cst_error *error);

/* An int64 array without nulls; NULL: no memory, and *error is filled. */
int64_t *cst__new_int64(const cst_allocator *allocator, int64_t length, struct ArrowArray *out,
                        cst_error *error);

/* Gives an array of as many slots as the view the same nulls, in a bitmap of its own from bit 0 on;
 * nothing if there are none. */
cst_status cst__copy_validity(const cst__view *view, struct ArrowArray *out, cst_error *error);

/* A handle of such an array, which is taken over. */
cst_status cst__int64_result(const cst_allocator *allocator, struct ArrowArray *made,
                             cst_array **out, cst_error *error);

/* CST_SCHEMA: the array is of a type that an operation does not take. */
cst_status cst__fail_type(const cst__view *view, const char *wanted, cst_error *error);

#endif /* TABLE_WALK_H */
