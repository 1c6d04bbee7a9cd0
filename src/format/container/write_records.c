/* Arrays of records into a container. */
#include "arrow/view.h"
#include "format/container/container.h"

static cst_status write_view(const cst__container *container, cst__output *output,
                             const cst__view *view, cst_error *error) {
  for (int64_t i = 0; i < view->length; i++) {
    cst_bytes record = cst__view_bytes(view, i);
    cst_status status = container->write(output, record.data, record.size, error);
    if (status == CST_UNSUPPORTED) {
      cst__error_add_record(error, i, -1);
    }
    CST__TRY(status);
  }
  return CST_OK;
}

cst_status cst__container_write_arrow(const cst__container *container, cst__output *output,
                                      const struct ArrowSchema *schema,
                                      const struct ArrowArray *records,
                                      const cst_allocator *allocator, cst_error *error) {
  cst__arena arena;
  cst__view view; /* all that could be wrong is looked at before the first record is written */
  cst__arena_init(&arena, allocator);
  cst_status status = cst__view_init_records(&view, schema, records, &arena, error);
  if (status == CST_OK) {
    status = write_view(container, output, &view, error);
  }
  cst__arena_reset(&arena);
  return status;
}
