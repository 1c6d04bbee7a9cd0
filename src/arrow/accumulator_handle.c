/* Accumulators that callers drive: what comes from outside is checked here, once for all of them.
 */
#include "arrow/accumulator_handle.h"

#include "base/arguments.h"

cst_status cst__accumulator_handle_new(const cst__accumulator *accumulator,
                                       const cst__owned_plan *plan, const cst_allocator *allocator,
                                       cst_accumulator **out, cst_error *error) {
  cst_accumulator *made = cst__new_zero(allocator, sizeof *made);
  cst_status status = made != NULL ? accumulator->create(plan->plan, allocator, &made->state, error)
                                   : cst__fail_memory(error, sizeof *made);
  if (status != CST_OK) {
    cst__delete(made);
    if (plan->free != NULL) {
      plan->free(plan->plan);
    }
    return status;
  }
  made->accumulator = accumulator;
  made->plan = *plan;
  made->allocator = cst__allocator_of(allocator);
  *out = made;
  return CST_OK;
}

void cst_accumulator_free(cst_accumulator *accumulator) {
  if (accumulator != NULL) {
    accumulator->accumulator->free(accumulator->state);
    if (accumulator->plan.free != NULL) {
      accumulator->plan.free(accumulator->plan.plan);
    }
    cst__delete(accumulator);
  }
}

static cst_status check_unbroken(const cst_accumulator *handle, cst_error *error) {
  return !handle->is_broken
             ? CST_OK
             : cst__fail(error, CST_STATE, "make a new accumulator, and add all rows again",
                         "the accumulator failed in the middle of a batch before");
}

/* Failures of the data are found before anything is counted. */
static cst_status note_broken(cst_accumulator *handle, cst_status status) {
  handle->is_broken = status != CST_OK && status != CST_SCHEMA && status != CST_UNSUPPORTED;
  return status;
}

/* ---- adding ---- */

static cst__place place_from_first(const void *ctx, int64_t row) {
  cst__place place = *(const cst__place *)ctx;
  place.record += place.record >= 0 ? row : 0;
  return place;
}

typedef struct handle_add {
  cst_accumulator *handle;
  const cst__place *first;
} handle_add;

static cst_status add_to_handle(void *ctx, const cst__view *batch, cst_error *error) {
  const handle_add *add = ctx;
  cst_accumulator *handle = add->handle;
  cst__origin origin = {place_from_first, add->first};
  CST__TRY(cst__view_refuse_nulls(batch, "the row", error));
  return note_broken(handle, handle->accumulator->add(handle->state, batch, &origin, error));
}

/* Fields of one name would be counted as one: in the batch, and in structs. */
static cst_status check_field_names(const struct ArrowSchema *schema, cst_error *error) {
  if (strcmp(schema->format, "+s") != 0) {
    return CST_OK;
  }
  CST__TRY(cst__schema_check_names(schema, error));
  for (int64_t i = 0; i < schema->n_children; i++) {
    const struct ArrowSchema *child = schema->children[i];
    cst_status status = check_field_names(child, error);
    if (status != CST_OK) {
      cst__error_add_path(error, child->name, child->name != NULL ? strlen(child->name) : 0);
      return status;
    }
  }
  return CST_OK;
}

cst_status cst_accumulator_add(cst_accumulator *accumulator, const struct ArrowSchema *schema,
                               const struct ArrowArray *batch, const char *file,
                               int64_t first_record, cst_error *error) {
  if (accumulator == NULL || schema == NULL || batch == NULL) {
    return cst__missing(accumulator == NULL ? "accumulator"
                        : schema == NULL    ? "schema"
                                            : "batch",
                        error);
  }
  const cst__place first = {file != NULL ? file : "", first_record < 0 ? -1 : first_record, -1};
  CST__TRY(check_unbroken(accumulator, error));
  CST__TRY(cst__schema_check_whole(schema, error));
  CST__TRY(cst__schema_check_types(schema, error));
  CST__TRY(check_field_names(schema, error));
  handle_add add = {accumulator, &first};
  const cst__batch_look look = {
      .allocator = &accumulator->allocator, .use = add_to_handle, .ctx = &add};
  return cst__batch_view(&look, schema, batch, error);
}

cst_status cst_accumulator_merge(cst_accumulator *accumulator, const cst_accumulator *other,
                                 cst_error *error) {
  if (accumulator == NULL || other == NULL) {
    return cst__missing(accumulator == NULL ? "accumulator" : "other", error);
  }
  CST__TRY(check_unbroken(accumulator, error));
  CST__TRY(check_unbroken(other, error));
  if (accumulator == other) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "an accumulator cannot be merged with itself");
  }
  if (accumulator->accumulator != other->accumulator) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "accumulators of two kinds cannot be merged: found %s, expected %s",
                     other->accumulator->name, accumulator->accumulator->name);
  }
  if (accumulator->plan.mark != other->plan.mark) {
    return cst__fail(
        error, CST_INVALID_ARGUMENT, "make both with the same schema and the same options",
        "accumulators (%s) of different options cannot be merged", accumulator->accumulator->name);
  }
  return note_broken(accumulator,
                     accumulator->accumulator->merge(accumulator->state, other->state, error));
}

/* ---- saving, loading, finishing ---- */

cst_status cst_accumulator_to_bytes(const cst_accumulator *accumulator, char **bytes, size_t *size,
                                    cst_error *error) {
  CST__CLEAR(bytes);
  CST__CLEAR(size);
  if (accumulator == NULL || bytes == NULL || size == NULL) {
    return cst__missing(accumulator == NULL ? "accumulator"
                        : bytes == NULL     ? "bytes"
                                            : "size",
                        error);
  }
  CST__TRY(check_unbroken(accumulator, error));
  return cst__accumulator_save(accumulator->accumulator, accumulator->state, bytes, size, error);
}

cst_status cst_accumulator_from_bytes(cst_accumulator *accumulator, const void *bytes, size_t size,
                                      cst_error *error) {
  if (accumulator == NULL || (bytes == NULL && size > 0)) {
    return cst__missing(accumulator == NULL ? "accumulator" : "bytes", error);
  }
  void *state;
  CST__TRY(check_unbroken(accumulator, error));
  CST__TRY(cst__accumulator_load(accumulator->accumulator, accumulator->plan.plan,
                                 (cst_bytes){bytes, size}, &accumulator->allocator, &state, error));
  accumulator->accumulator->free(accumulator->state);
  accumulator->state = state;
  return CST_OK;
}

cst_status cst__accumulator_handle_finish(const cst_accumulator *handle,
                                          const cst__accumulator *accumulator, void *out,
                                          cst_error *error) {
  CST__TRY(cst__check_given(handle, "accumulator", out, error));
  CST__TRY(check_unbroken(handle, error));
  if (handle->accumulator != accumulator) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "the accumulator is of another kind: found %s, expected %s",
                     handle->accumulator->name, accumulator->name);
  }
  return accumulator->finish(handle->state, out, error);
}
