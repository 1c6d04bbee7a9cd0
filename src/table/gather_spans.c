/* Gathering stretches of slots: values of fixed width, bytes and list items are copied span by
 * span; what that cannot be done with is gathered slot by slot. */
#include <string.h>

#include "arrow/owned.h"
#include "base/interrupt.h"
#include "table/gather.h"

static int64_t spans_total(const cst__spans *spans) { return spans->ends[spans->count]; }

static cst_status gather_each(const cst_array *owner, const cst__node *node,
                              const cst__spans *spans, struct ArrowArray *out, cst_error *error) {
  size_t size = SIZE_MAX;
  int64_t total = spans_total(spans);
  int64_t *slots =
      cst__mul((size_t)total + 1, sizeof *slots, &size) ? cst__new(&owner->allocator, size) : NULL;
  if (slots == NULL) {
    return cst__fail_memory(error, size);
  }
  for (int64_t i = 0; i < spans->count; i++) {
    int64_t slot = spans->begins[i];
    for (int64_t k = spans->ends[i]; k < spans->ends[i + 1]; k++, slot += spans->step) {
      slots[k] = slot;
    }
  }
  const cst__chosen chosen = {slots, total, false};
  cst_status status = cst__gather(owner, node, &chosen, false, out, error);
  cst__delete(slots);
  return status;
}

cst_status cst__gather_spans(const cst_array *owner, const cst__node *node, const cst__spans *spans,
                             struct ArrowArray *out, cst_error *error) {
  return gather_each(owner, node, spans, out, error);
}
