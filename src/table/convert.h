/* Views of arrays as views of a promoted type.
 */
#ifndef TABLE_CONVERT_H
#define TABLE_CONVERT_H

#include <columnstone/arrow_abi.h>

#include "arrow/view.h"

/* What views of a new type borrow from, besides what they were made of. */
typedef struct cst__conversion {
  cst__arena arena;
  struct cst__converted_copy *copied; /* arrays that were made on the way */
  int64_t given;                      /* slots of list views and their items, as they came */
  int64_t shared;                     /* items that had to be copied more than once */
  int within;                         /* list views above: what lies below is a copy already */
  const struct cst__above *above;     /* what the view at hand lies in */
  cst_error *error;
} cst__conversion;

void cst__conversion_init(cst__conversion *c, const cst_allocator *allocator, cst_error *error);
void cst__conversion_reset(cst__conversion *c);

/* Makes a view of the type of `target` (cst__view_init_schema of a type that cst__merge_finish
 * made) with the values of `view`, which has the type `schema`. Only what its slots reach is looked
 * at, and only what has another layout is written anew. CST_LIMIT if list views share their items
 * too often; CST_SCHEMA, with the row, for an integer that its float type does not hold. */
cst_status cst__view_convert(cst__conversion *c, const struct ArrowSchema *schema,
                             const cst__view *view, const cst__view *target, cst__view *out);

#endif /* TABLE_CONVERT_H */
