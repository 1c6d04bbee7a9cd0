/* The handle of <columnstone/array.h>, and how operations look at one and make another.
 *
 * An operation opens a cst__view per argument in an arena of its own (cst__array_view), which costs
 * nothing per slot, and makes an ArrowArray: with buffers of its own (arrow/owned.h), with those of
 * an argument (cst__take), or both, child by child. cst__array_result then makes the handle.
 */
#ifndef TABLE_ARRAY_H
#define TABLE_ARRAY_H

#include <columnstone/array.h>

#include "arrow/concat.h"
#include "table/array_type.h"

struct cst_array {
  cst__refcount owners;
  cst_allocator allocator;
  cst__array_type *type;
  const struct ArrowSchema *schema; /* of the type, or of a part of it */
  struct ArrowArray array;          /* valid; without dictionaries, unless it came so by
                                       cst__array_result_as: then it is only taken from, by rows
                                       that there are, sliced and exported */
};

/* ---- for operations ---- */

/* Arguments: a path with all its steps, and several of them. */
cst_status cst__check_path(const cst_path *path, cst_error *error);
cst_status cst__check_paths(const cst_path *paths, size_t count, cst_error *error);

/* Looks at the array; the arena (of the array's allocator, for one) holds the views. */
cst_status cst__array_view(const cst_array *array, cst__view *view, cst__arena *arena,
                           cst_error *error);

/* The array as the owner of what lies in it. It may keep the array alive longer than this. */
cst__owner cst__array_owner(const cst_array *array);

/* A handle of `made`, whose type is a part of the type of `like`, and whose allocator that of
 * `like`. Takes `made` over: on failure it is released. */
cst_status cst__array_result(const cst_array *like, const struct ArrowSchema *schema,
                             struct ArrowArray *made, cst_array **out, cst_error *error);

/* The same with a new type: the schema is copied (see cst__array_type_field). */
cst_status cst__array_result_as(const cst_allocator *allocator, const struct ArrowSchema *schema,
                                struct ArrowArray *made, cst_array **out, cst_error *error);

#endif /* TABLE_ARRAY_H */
