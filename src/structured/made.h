/* Putting an array together out of parts of another one, which are shared, and of new ones.
 *
 * What is put together is an array beside a schema that borrows: from the types of what is shared,
 * and from an arena. The end of it copies the schema, once. Parts are numbered as the slots of the
 * view that they stand for are.
 */
#ifndef STRUCTURED_MADE_H
#define STRUCTURED_MADE_H

#include "structured/structured.h"

typedef struct cst__made {
  const struct ArrowSchema *schema; /* borrows */
  struct ArrowArray array;
} cst__made;

typedef struct cst__assembly {
  cst__owner owner;  /* whose buffers are shared */
  cst__arena *arena; /* of the schemas */
  cst_error *error;
} cst__assembly;

/* The slots, null where a struct above hides them; shared where they lie in one run. */
cst_status cst__made_share(const cst__assembly *a, const cst__slots *slots, cst__made *out);

/* The lists (of any layout) of a view with other items, which stand for all slots of its
 * child and are taken over, also on failure. They are all slots of the view. */
cst_status cst__made_list(const cst__assembly *a, const cst__slots *lists, cst__made *items,
                          cst__made *out);

/* New lists for the slots, null where those are. Their items begin at the splits and
 * are taken over, also on failure. They are large lists; or of fixed size, if those of the view are
 * and every one holds as many. */
cst_status cst__made_new_list(const cst__assembly *a, const cst__slots *lists,
                              const int64_t *splits, cst__made *items, cst__made *out);

/* Large lists whose offsets[0 .. count] are to be filled, and whose items are still to come. */
cst_status cst__made_offsets(const cst__assembly *a, int64_t count, int64_t **offsets,
                             struct ArrowArray *lists);

/* Puts such lists, or (size >= 0) lists of fixed size, around all slots of a part, which is their
 * "item". Both are taken over, also on failure. */
cst_status cst__made_wrap(const cst__assembly *a, struct ArrowArray *lists, int64_t size,
                          cst__made *made);

/* Puts lists like these around a part: of fixed size, if they say so and none is null. The part is
 * released on failure. */
cst_status cst__made_around(const cst__assembly *a, const cst__lists *lists, cst__made *made);

/* What makes a part of the slots, and of all that lies below; `how` is its own.
 */
typedef cst_status (*cst__made_function)(const cst__assembly *a, cst__slots *at, const void *how,
                                         cst__made *out);

/* The same lists with what `make` makes of their items. They are all slots of the view. */
cst_status cst__made_lists(const cst__assembly *a, const cst__slots *lists, cst__made_function make,
                           const void *how, cst__made *out);

/* A struct of other fields for the slots, null where those are. Fields have their names
 * in their schemas, stand for the same slots, and are taken over, also on failure. */
cst_status cst__made_struct(const cst__assembly *a, const cst__slots *structs, cst__made *fields,
                            size_t count, cst__made *out);

/* Gives a part another name. */
cst_status cst__made_name(const cst__assembly *a, const char *name, cst__made *made);

/* An array of all slots of an array of somebody else, without a copy; that is kept alive. */
cst_status cst__made_array(const cst__assembly *a, const cst_array *array, cst__made *out);

/* The tensor of it; *made is taken over, also on failure. */
cst_status cst__made_tensor(const cst__assembly *a, cst__made *made, bool is_row,
                            cst_structured **out);

/* The tensor that `make` makes of all slots of another one's array. */
cst_status cst__made_of(const cst_structured *tensor, cst__made_function make, const void *how,
                        cst_structured **out, cst_error *error);

/* Releases what is not taken over. */
void cst__made_release(cst__made *made);
void cst__made_release_all(cst__made *parts, size_t count);

#endif /* STRUCTURED_MADE_H */
