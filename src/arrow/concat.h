/* Slices and concatenations of Arrow data of any type that cst__view knows.
 */
#ifndef ARROW_CONCAT_H
#define ARROW_CONCAT_H

#include "arrow/concat_parts.h"

/* An imported struct array that several slices may share; counted, released by the last one on
 * whatever thread. */
typedef struct cst__shared cst__shared;

/* Moves `batch` in (its release becomes NULL) on success. */
cst_status cst__shared_new(struct ArrowArray *batch, const cst_allocator *allocator,
                           cst__shared **out, cst_error *error);
void cst__shared_release(cst__shared *shared);

/* Rows [begin, begin + length) as a struct array of its own that keeps the shared one alive: no
 * value is copied; offsets stand in the children, the root's is 0, for consumers that want it so.
 */
cst_status cst__shared_slice(cst__shared *shared, int64_t begin, int64_t length,
                             struct ArrowArray *out, cst_error *error);

/* Whose buffers are shared: counted by every array that points into them. */
typedef struct cst__owner {
  void *object;
  void (*retain)(void *object);
  void (*release)(void *object);
  const cst_allocator *allocator; /* of the arrays that share its buffers */
} cst__owner;

/* The shared batch as the owner of what lies in it. */
cst__owner cst__shared_owner(cst__shared *shared);

/* Slots [begin, begin + length) of an array of the owner's, of any type; no copy. */
cst_status cst__share_slots(const cst__owner *owner, const struct ArrowArray *array, int64_t begin,
                            int64_t length, struct ArrowArray *out, cst_error *error);

/* An array of the owner's without its children; there is room for others. */
cst_status cst__share_alone(const cst__owner *owner, const struct ArrowArray *array,
                            int64_t num_children, struct ArrowArray *out, cst_error *error);

/* Slots of a struct, with offsets in the children and 0 at the root; a bitmap is copied. */
cst_status cst__share_struct(const cst__owner *owner, const struct ArrowArray *array, int64_t begin,
                             int64_t length, struct ArrowArray *out, cst_error *error);

/* Slots [begin, begin + count) of a view of an array of the owner's, of any type; a struct's as
 * above. */
cst_status cst__share_view(const cst__owner *owner, const cst__view *view, int64_t begin,
                           int64_t count, struct ArrowArray *out, cst_error *error);

/* Copies the pieces, which all have the type `schema`, one after the other into a new struct array
 * with buffers of its own. Types stay as they are (views become views into new blocks).
 * CST_UNSUPPORTED, with the column's path, for layouts that cst__view does not know; CST_LIMIT if
 * 32-bit offsets do not suffice. */
cst_status cst__concat(const struct ArrowSchema *schema, const cst__piece *pieces,
                       size_t num_pieces, const cst_allocator *allocator, struct ArrowArray *out,
                       cst_error *error);

/* CST_UNSUPPORTED for a layout that cst__view does not know. */
cst_status cst__fail_layout(const cst__view *view, cst_error *error);

/* How many buffers an array of this layout has; those of binary views vary. */
int64_t cst__layout_buffers(const cst__view *view);

/* Picks columns of a struct by name, in the order given, without a copy: moves them out of *batch
 * (unless it is NULL) and *schema, and releases the others.
 * CST_NOT_FOUND with near names; CST_INVALID_ARGUMENT, with `path`, for a column that is named
 * twice, or whose name two columns have. */
cst_status cst__pick_columns(const char *const *columns, size_t num_columns,
                             struct ArrowSchema *schema, struct ArrowArray *batch,
                             cst_error *error);

/* The two steps of it, for the many batches of one schema: where the columns are (`places` has room
 * for num_columns), and picking those places. */
cst_status cst__find_columns(const char *const *columns, size_t num_columns,
                             const struct ArrowSchema *schema, int64_t *places, cst_error *error);
cst_status cst__pick_fields(const int64_t *places, size_t count, struct ArrowSchema *schema,
                            cst_error *error);
cst_status cst__pick_arrays(const int64_t *places, size_t count, const cst_allocator *allocator,
                            struct ArrowArray *batch, cst_error *error);

#endif /* ARROW_CONCAT_H */
