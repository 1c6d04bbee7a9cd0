/* The Arrow schema of what is decoded: found once, by the plan of records or by asking a tabular
 * format. */
#include "source/pass/arrow_schema.h"

#include <string.h>

#include "arrow/concat.h"
#include "arrow/view.h"
#include "source/block/decoder.h"
#include "source/input/discovery.h"
#include "source/input/prepare.h"
#include "source/pass/tabular.h"

static bool knows_arrow_schema(const cst_source *source) {
  return source->found.arrow_schema.release != NULL;
}

static void adopt_arrow_schema(cst_source *source, struct ArrowSchema *found) {
  cst__mutex_lock(&source->lock);
  struct ArrowSchema extra = *found;
  if (!knows_arrow_schema(source)) {
    source->found.arrow_schema = *found;
    extra.release = NULL;
  }
  cst__mutex_unlock(&source->lock);
  if (extra.release != NULL) {
    extra.release(&extra);
  }
}

static cst_status find_tabular_schema(cst_source *source, cst_error *error) {
  struct ArrowSchema found = {.release = NULL};
  CST__TRY(cst__tabular_schema(source, &found, error));
  adopt_arrow_schema(source, &found);
  return CST_OK;
}

static cst_status find_arrow_schema(cst_source *source, cst_error *error) {
  struct ArrowSchema found = {.release = NULL};
  if (source->inputs->format.payload == NULL) {
    return cst__source_discover(source, &source->found.schema_discovery, knows_arrow_schema,
                                find_tabular_schema, error);
  }
  cst__record_plan *plan;
  CST__TRY(cst__source_prepare(source, error));
  CST__TRY(cst__source_plan(source, &plan, error));
  CST__TRY(cst__schema_copy(cst__record_plan_schema(plan), &found, error));
  adopt_arrow_schema(source, &found);
  return CST_OK;
}

cst_status cst__source_decoded_schema(cst_source *source, struct ArrowSchema *out,
                                      cst_error *error) {
  cst__mutex_lock(&source->lock);
  bool known = knows_arrow_schema(source);
  cst__mutex_unlock(&source->lock);
  if (!known) {
    CST__TRY(find_arrow_schema(source, error));
  }
  return cst__schema_copy(&source->found.arrow_schema, out,
                          error); /* which does not change any more */
}

/* True for the name of a column that is none of the data's. */
static bool is_beside(const cst__reading_options *options, const char *name) {
  const char *offsets = options->values.offset_column;
  const char *const *ids = options->ids != NULL ? options->ids->names : NULL;
  return (offsets != NULL && strcmp(name, offsets) == 0) ||
         (ids != NULL && (strcmp(name, ids[0]) == 0 || strcmp(name, ids[1]) == 0));
}

cst_status cst__source_leave_beside_out(const cst_source *source, struct ArrowSchema *schema,
                                        int64_t **places, cst_error *error) {
  const cst__reading_options *options = &source->options;
  size_t size = (size_t)schema->n_children * sizeof **places;
  size_t count = 0;
  if (places != NULL) {
    *places = NULL;
  }
  if (options->values.offset_column == NULL && options->ids == NULL) {
    return CST_OK;
  }
  int64_t *kept = cst__new(&source->allocator, size);
  if (kept == NULL) {
    return cst__fail_memory(error, size);
  }
  for (int64_t i = 0; i < schema->n_children; i++) {
    if (!is_beside(options, schema->children[i]->name)) {
      kept[count++] = i;
    }
  }
  cst_status status = cst__pick_fields(kept, count, schema, error);
  if (status == CST_OK && places != NULL) {
    *places = kept;
  } else {
    cst__delete(kept);
  }
  return status;
}
