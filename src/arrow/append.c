/* Appending a column: a new struct takes the children over. */
#include "arrow/append.h"

#include <nanoarrow/nanoarrow.h>

#include "arrow/owned.h"
#include "base/error.h"

static void move_array(struct ArrowArray *from, struct ArrowArray *to) {
  *to = *from;
  from->release = NULL;
}

static void move_field(struct ArrowSchema *from, struct ArrowSchema *to) {
  to->release(to);
  *to = *from;
  from->release = NULL;
}

cst_status cst__append_arrays(struct ArrowArray *batch, struct ArrowArray *from,
                              const cst_allocator *allocator, cst_error *error) {
  struct ArrowArray joined;
  int64_t count = batch->n_children;
  CST__TRY(cst__owned_new(allocator, 1, count + from->n_children, false, &joined, error));
  joined.length = batch->length;
  for (int64_t i = 0; i < count; i++) {
    move_array(batch->children[i], joined.children[i]);
  }
  for (int64_t i = 0; i < from->n_children; i++) {
    move_array(from->children[i], joined.children[count + i]);
  }
  batch->release(batch);
  from->release(from);
  *batch = joined;
  return CST_OK;
}

cst_status cst__append_fields(struct ArrowSchema *schema, struct ArrowSchema *from,
                              cst_error *error) {
  struct ArrowSchema joined;
  int64_t count = schema->n_children;
  ArrowSchemaInit(&joined);
  if (ArrowSchemaSetTypeStruct(&joined, count + from->n_children) != NANOARROW_OK) {
    joined.release(&joined);
    return cst__fail_memory(error, sizeof joined);
  }
  for (int64_t i = 0; i < count; i++) {
    move_field(schema->children[i], joined.children[i]);
  }
  for (int64_t i = 0; i < from->n_children; i++) {
    move_field(from->children[i], joined.children[count + i]);
  }
  schema->release(schema);
  from->release(from);
  *schema = joined;
  return CST_OK;
}
