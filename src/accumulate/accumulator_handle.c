/* Accumulators that callers drive: what comes from outside is checked here, once for all of them.
 */
#include <columnstone/accumulate.h>
#include <columnstone/statistics.h>
#include <stdio.h>

#include "accumulate/accumulators.h"
#include "arrow/findings.h"
#include "base/arguments.h"
#include "base/hash.h"
#include "base/names.h"
#include "source/scan/fold.h"
#include "statistics/statistics.h"

struct cst_accumulator {
  const cst__accumulator *accumulator;
  cst__arena arena; /* the options */
  void *options;    /* NULL: the accumulator has none */
  cst__owned_plan plan;
  void *state;
  cst_allocator allocator;
  bool is_broken; /* a failure in the middle of counting: some rows have been counted */
};

static void free_plan(const cst__owned_plan *plan) {
  if (plan->free != NULL) {
    plan->free(plan->plan);
  }
}

/* ---- options ---- */

static uint64_t add_to_mark(uint64_t mark, const char *text) {
  return text != NULL ? cst__hash(text, strlen(text), mark) + strlen(text) : mark * 31 + 1;
}

/* A number that is the same for options which say the same, whatever was left to the default. */
static uint64_t mark_options(const cst__option_table *table, const void *options) {
  char room[CST__OPTION_ROOM];
  uint64_t mark = 0;
  for (size_t i = 0; table != NULL && i < table->count; i++) {
    const cst__option *option = cst__option_at(table, i);
    if (option->info.kind != CST_OPTION_NAMES) {
      mark = add_to_mark(mark, cst__option_text(option, options, room));
      continue;
    }
    const char *const *names;
    size_t count;
    memcpy(&names, (const char *)options + option->offset, sizeof names);
    memcpy(&count, (const char *)options + option->count_offset, sizeof count);
    for (size_t k = 0; k < count; k++) {
      mark = add_to_mark(mark, names[k]);
    }
    mark = mark * 31 + count;
  }
  return mark;
}

/* ---- making ---- */

void cst_accumulator_free(cst_accumulator *accumulator) {
  if (accumulator != NULL) {
    accumulator->accumulator->free(accumulator->state);
    free_plan(&accumulator->plan);
    cst__arena_reset(&accumulator->arena);
    cst__delete(accumulator);
  }
}

static cst_status fill_handle(cst_accumulator *made, cst__option_list options, cst_error *error) {
  const cst__accumulator *accumulator = made->accumulator;
  CST__TRY(cst__options_read(accumulator->options, accumulator->name, options, &made->arena,
                             &made->options, error));
  made->plan.mark = mark_options(accumulator->options, made->options);
  if (accumulator->plan != NULL) {
    CST__TRY(accumulator->plan(made->options, &made->allocator, &made->plan, error));
  }
  return accumulator->create(made->plan.plan, &made->allocator, &made->state, error);
}

/* The options were checked for NULL. */
static cst_status new_handle(const cst__accumulator *accumulator, cst__option_list options,
                             const cst_allocator *allocator, cst_accumulator **out,
                             cst_error *error) {
  cst_accumulator *made = cst__new_zero(allocator, sizeof *made);
  if (made == NULL) {
    return cst__fail_memory(error, sizeof *made);
  }
  made->accumulator = accumulator;
  made->allocator = cst__allocator_of(allocator);
  cst__arena_init(&made->arena, allocator);
  cst_status status = fill_handle(made, options, error);
  if (status != CST_OK) {
    cst_accumulator_free(made);
    return status;
  }
  *out = made;
  return CST_OK;
}

cst_status cst_accumulator_new(const char *name, const cst_option *options, size_t num_options,
                               const cst_allocator *allocator, cst_accumulator **out,
                               cst_error *error) {
  const cst__accumulator *accumulator;
  CST__CLEAR(out);
  CST__TRY(cst__check_given(name, "name", out, error));
  CST__TRY(cst__options_check_given(options, num_options, error));
  CST__TRY(cst__check_allocator(allocator, error));
  CST__TRY(cst__accumulator_find(name, &accumulator, error));
  return new_handle(accumulator, (cst__option_list){options, num_options}, allocator, out, error);
}

const char *cst_accumulator_name(const cst_accumulator *accumulator) {
  return accumulator != NULL ? accumulator->accumulator->name : NULL;
}

cst_status cst_accumulator_options(const cst_accumulator *accumulator, cst_findings **out,
                                   cst_error *error) {
  static const cst__finding_column columns[] = {CST__TEXT("name"), CST__TEXT("value")};
  static const cst__finding_type type = {"options", columns, 2};
  cst__option_list list;
  cst_findings *found;
  cst__arena arena;
  CST__CLEAR(out);
  CST__TRY(cst__check_given(accumulator, "accumulator", out, error));
  CST__TRY(cst__findings_new(&type, &accumulator->allocator, &found, error));
  cst__arena_init(&arena, &accumulator->allocator);
  cst_status status = cst__options_tell(accumulator->accumulator->options, accumulator->options,
                                        &arena, &list, error);
  for (size_t i = 0; status == CST_OK && i < list.count; i++) {
    cst__put_text(found, list.items[i].name);
    cst__put_text(found, list.items[i].value);
  }
  cst__arena_reset(&arena);
  if (status != CST_OK) {
    cst_findings_free(found);
    return status;
  }
  return cst__findings_finish(found, out, error);
}

static cst_status check_unbroken(const cst_accumulator *handle, cst_error *error) {
  return !handle->is_broken
             ? CST_OK
             : cst__fail(error, CST_STATE, "create a new accumulator and add all rows again",
                         "the accumulator failed in an earlier batch");
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

/* The fold's own state, so that a failure leaves the accumulator as it was. */
cst_status cst_accumulator_add_source(cst_accumulator *accumulator, cst_source *source,
                                      cst_progress_callback on_progress, void *ctx,
                                      cst_error *error) {
  CST__TRY(cst__check_given(accumulator, "accumulator", source, error));
  CST__TRY(check_unbroken(accumulator, error));
  const cst__accumulator *table = accumulator->accumulator;
  const void *plan = accumulator->plan.plan;
  void *state;
  cst__fold_options options = {
      .lenient = table->is_lenient,
      .tells = !table->is_lenient,
      .whole = true,
      .text_schema = table->text_schema != NULL ? table->text_schema(plan) : NULL,
      .on_progress = on_progress,
      .progress_ctx = ctx,
      .work = "the accumulation"};
  CST__TRY(cst__source_acquire_for_fold(source, table, error));
  CST__TRY(cst__source_fold_one(source, &options, table, plan, &state, error));
  cst_status status = note_broken(accumulator, table->merge(accumulator->state, state, error));
  table->free(state);
  return status;
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
                     "cannot merge accumulators of different kinds: found %s, expected %s",
                     other->accumulator->name, accumulator->accumulator->name);
  }
  if (accumulator->plan.mark != other->plan.mark) {
    const char *differs = cst__options_differ(accumulator->accumulator->options,
                                              accumulator->options, other->options);
    return cst__fail(error, CST_INVALID_ARGUMENT, "create both with the same schema and options",
                     "cannot merge accumulators (%s) with different options: %s differs",
                     accumulator->accumulator->name, differs != NULL ? differs : "something");
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
  return cst__accumulator_save(accumulator->accumulator, accumulator->options, accumulator->state,
                               bytes, size, error);
}

/* What was saved takes the place of the empty state. */
static cst_status load_state(cst_accumulator *made, cst_bytes saved, cst_error *error) {
  void *state;
  CST__TRY(cst__accumulator_load(made->accumulator, made->plan.plan, saved, &made->allocator,
                                 &state, error));
  made->accumulator->free(made->state);
  made->state = state;
  return CST_OK;
}

cst_status cst_accumulator_from_bytes(const void *bytes, size_t size,
                                      const cst_allocator *allocator, cst_accumulator **out,
                                      cst_error *error) {
  const cst_bytes saved = {bytes, size};
  const cst__accumulator *accumulator;
  cst__option_list options;
  cst__arena arena;
  CST__CLEAR(out);
  if (out == NULL || (bytes == NULL && size > 0)) {
    return cst__missing(out == NULL ? "out" : "bytes", error);
  }
  CST__TRY(cst__check_allocator(allocator, error));
  CST__TRY(cst__accumulator_find_saved(saved, &accumulator, error));
  cst__arena_init(&arena, allocator);
  cst_status status = cst__accumulator_load_options(accumulator, saved, &arena, &options, error);
  if (status == CST_OK) {
    status = new_handle(accumulator, options, allocator, out, error);
  }
  cst__arena_reset(&arena);
  if (status != CST_OK) {
    return status;
  }
  status = load_state(*out, saved, error);
  if (status != CST_OK) {
    cst_accumulator_free(*out);
    *out = NULL;
  }
  return status;
}

cst_status cst_accumulator_finish(const cst_accumulator *accumulator, cst_findings **out,
                                  cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(accumulator, "accumulator", out, error));
  CST__TRY(check_unbroken(accumulator, error));
  return accumulator->accumulator->finish(accumulator->state, out, error);
}

cst_status cst_accumulator_finish_schema(const cst_accumulator *accumulator, cst_schema **out,
                                         cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(accumulator, "accumulator", out, error));
  CST__TRY(check_unbroken(accumulator, error));
  return accumulator->accumulator->finish_schema != NULL
             ? accumulator->accumulator->finish_schema(accumulator->state, out, error)
             : cst__fail(error, CST_INVALID_ARGUMENT, "call finish to get its findings",
                         "accumulator '%s' does not infer a schema",
                         accumulator->accumulator->name);
}

/* ---- statistics ---- */

cst_status cst_statistics_sketch(const cst_accumulator *statistics, size_t row, const char *kind,
                                 bool by_weights, cst_sketch **out, cst_error *error) {
  const cst__statistics_sketch_of of = {row, kind, by_weights};
  CST__CLEAR(out);
  if (statistics == NULL || kind == NULL || out == NULL) {
    return cst__missing(statistics == NULL ? "statistics" : kind == NULL ? "kind" : "out", error);
  }
  CST__TRY(check_unbroken(statistics, error));
  if (statistics->accumulator != &cst__statistics_accumulator) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "the accumulator is '%s', expected statistics", statistics->accumulator->name);
  }
  return cst__statistics_sketch(statistics->state, &of, out, error);
}
