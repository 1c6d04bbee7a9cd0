/* What has to be settled before a source is read: whose turn it is, and by which schema. */
#include "source/input/prepare.h"

#include <columnstone/source.h>

#include "base/arguments.h"
#include "schema/schema.h"
#include "source/input/discovery.h"

/* ---- inputs that can be read once ---- */

static cst_status fail_acquired(cst_error *error) {
  return cst__fail(error, CST_STATE, "open it again, or save it to a file first",
                   "the input can be read only once, and was already read");
}

cst_status cst__source_acquire(cst_source *source, cst_error *error) {
  cst__inputs *inputs = source->inputs;
  bool taken = !inputs->rereadable && atomic_exchange(&inputs->acquired, true);
  return taken ? fail_acquired(error) : CST_OK;
}

/* Holds the lock. */
static cst_status acquire_all(cst_source *source, cst_error *error) {
  cst__inputs *inputs = source->inputs;
  const cst__found *found = &source->found;
  CST__TRY(cst__source_await(source, &found->schema_discovery, error));
  if (atomic_load(&inputs->acquired)) {
    return fail_acquired(error);
  }
  if (found->sample != NULL || found->sample_status != CST_OK) {
    return cst__fail(error, CST_STATE, "open it again, or save it to a file first",
                     "the input can be read only once, and its beginning was read for the schema");
  }
  if (atomic_exchange(&inputs->acquired, true)) {
    return fail_acquired(error);
  }
  atomic_store(&inputs->acquired_all, true);
  return CST_OK;
}

cst_status cst__source_acquire_all(cst_source *source, cst_error *error) {
  if (source->inputs->rereadable) {
    return CST_OK;
  }
  cst__mutex_lock(&source->lock);
  cst_status status = acquire_all(source, error);
  cst__mutex_unlock(&source->lock);
  return status;
}

/* ---- the schema ---- */

/* What a pipe's sample has failed with comes again. */
static cst_status check_pipe(cst_source *source, cst_error *error) {
  cst__mutex_lock(&source->lock);
  cst_status before = source->found.sample_status;
  cst__mutex_unlock(&source->lock);
  if (atomic_load(&source->inputs->acquired_all)) {
    return fail_acquired(error);
  }
  if (before != CST_OK && source->found.sample_error == NULL) { /* there was no memory to keep it */
    return cst__fail_memory(error, sizeof *error);
  }
  if (before != CST_OK) {
    cst__error_copy(error, source->found.sample_error);
  }
  return before;
}

static cst_status find_schema(cst_source *source, cst_error *error) {
  cst_schema *schema = NULL;
  uint64_t sampled;
  if (!source->inputs->rereadable) {
    CST__TRY(check_pipe(source, error));
  }
  CST__TRY(source->inputs->calls->infer(source, &schema, &sampled, error));
  cst__source_adopt(source, schema, sampled);
  cst_schema_release(schema);
  return CST_OK;
}

static bool knows_schema(const cst_source *source) {
  const cst__payload *payload = source->inputs->format.payload;
  bool wanted = payload != NULL && payload->types_from == CST__TYPES_OF_DATA;
  return !wanted || source->options.values.schema != NULL || source->found.schema != NULL;
}

cst_status cst__source_prepare(cst_source *source, cst_error *error) {
  return cst__source_discover(source, &source->found.schema_discovery, knows_schema, find_schema,
                              error);
}

void cst__source_adopt(cst_source *source, const cst_schema *schema, uint64_t sampled) {
  cst__mutex_lock(&source->lock);
  if (source->options.values.schema == NULL && source->found.schema == NULL) {
    source->found.schema = cst_schema_retain(schema);
    source->found.sampled = sampled;
  }
  cst__mutex_unlock(&source->lock);
}

cst_status cst_source_schema(cst_source *source, const cst_schema **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(source, "source", out, error));
  CST__TRY(cst__source_prepare(source, error));
  *out = cst__source_known_schema(source);
  return CST_OK;
}
