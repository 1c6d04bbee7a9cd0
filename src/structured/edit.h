/* A walk down to the structs whose fields change, and back up with new structs and lists around
 * them; whatever lies beside it is shared.
 *
 * At each struct on the way, the walk stands at slots: all that its array has, or, where one of the
 * changes needs to know them, those that the lists above reach, in their order. Lists whose slots
 * are not all of their child's, one after the other, are made anew then.
 */
#ifndef STRUCTURED_EDIT_H
#define STRUCTURED_EDIT_H

#include "structured/branches.h"
#include "structured/made.h"

/* Slots of the structs at the end of a path, and those of the structs above. */
typedef struct cst__edit_place {
  const cst__slots *structs;
  const struct cst__edit_place *above; /* one step less; NULL at the top */
} cst__edit_place;

typedef struct cst__edit cst__edit;

/* Makes a field of as many slots as the structs have at the place. */
typedef cst_status (*cst__field_maker)(const cst__assembly *a, const cst__edit *edit,
                                       const cst__edit_place *at, cst__made *out);

/* One field that comes, or goes; its path is the member of the same number of a path set. */
struct cst__edit {
  cst__field_maker make; /* NULL: the field is removed */
  bool is_new;           /* CST_INVALID_ARGUMENT if there is such a field */
  bool needs_slots;      /* that the lists reach */
  const cst_path *path;
  const cst_structured *tensor;
  const void *source; /* what `make` makes it of */
};

/* The tensor with other fields. No path may be empty, none lead to, or below, what another one
 * changes: CST_INVALID_ARGUMENT. */
cst_status cst__structured_edit(const cst_structured *tensor, const cst_path *paths,
                                const cst__edit *edits, size_t count, cst_structured **out,
                                cst_error *error);

#endif /* STRUCTURED_EDIT_H */
