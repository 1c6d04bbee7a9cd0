/* A validation: one survey of the source, every batch of which is checked as it comes.
 */
#include "validate/validate.h"

#include <string.h>

#include "arrow/view.h"
#include "source/input/prepare.h"
#include "validate/check.h"

/* ---- what cannot be read ---- */

static cst__finding *find_drop(cst__check *check, const char *kind) {
  size_t most = sizeof check->drops / sizeof check->drops[0];
  for (size_t i = 0; i < check->num_drops; i++) {
    if (strcmp(check->drops[i].kind, kind) == 0 || i + 1 == most) {
      return &check->drops[i].finding;
    }
  }
  cst__drop_tally *drop = &check->drops[check->num_drops++];
  drop->kind = cst__arena_copy(&check->arena, kind, strlen(kind));
  drop->finding = (cst__finding){.last_row = -1};
  if (drop->kind == NULL) {
    check->out_of_memory = true;
    drop->kind = "record";
  }
  return &drop->finding;
}

/* The feature whose cell of a table does not read as its type; NULL: it is something else. */
static cst__finding *find_cell(cst__check *check, const cst_error *error) {
  if (!check->is_table || error->code != CST_SCHEMA || error->path[0] == '\0') {
    return NULL;
  }
  for (size_t i = 0; i < check->root.num_children; i++) {
    if (strcmp(check->root.children[i].path, error->path) == 0) {
      return &check->root.children[i].findings[CST__FAULT_TYPE];
    }
  }
  return NULL;
}

static bool on_dropped(void *ctx, const cst_dropped *dropped) {
  cst__check *check = ctx;
  cst__finding *finding = find_cell(check, dropped->error);
  check->num_rows += finding != NULL; /* it can be read but for that cell */
  finding = finding != NULL ? finding : find_drop(check, dropped->kind);
  char *found = cst__mark_place(check, finding, dropped->file, dropped->record);
  if (found != NULL) {
    cst__escape(found, CST__FOUND_SIZE, dropped->error->message, strlen(dropped->error->message));
  }
  return !check->out_of_memory;
}

/* ---- what can ---- */

static cst_status check_batch(cst__check *check, const struct ArrowSchema *schema,
                              const struct ArrowArray *batch, cst__arena *views, cst_error *error) {
  cst__view root;
  CST__TRY(cst__view_init(&root, schema, batch, true, views, error));
  CST__TRY(cst__check_features(check, &root));
  return check->options->skip_tensors ? CST_OK : cst__check_tensors(check, &root, views);
}

static cst_status on_batch(void *ctx, const cst__survey *survey, const struct ArrowSchema *schema,
                           const struct ArrowArray *batch, cst_error *error) {
  cst__check *check = ctx;
  cst__arena views;
  cst__arena_init(&views, &check->arena.allocator);
  check->at = survey;
  check->error = error;
  cst_status status = check_batch(check, schema, batch, &views, error);
  check->num_rows += (uint64_t)batch->length;
  cst__scratch_reset(&check->scratch);
  cst__scratch_init(&check->scratch, check->pool);
  cst__arena_reset(&views);
  if (status == CST_OK && check->out_of_memory) {
    return cst__fail_memory(error, 64);
  }
  return status;
}

static cst_status survey(cst_source *source, cst__check *check, cst_error *error) {
  cst__survey_options options = {.lenient = true,
                                 .text_schema = check->book->schema,
                                 .on_batch = on_batch,
                                 .on_dropped = on_dropped,
                                 .ctx = check,
                                 .on_progress = check->options->on_progress,
                                 .progress_ctx = check->options->progress_ctx,
                                 .work = "the validation"};
  check->is_table = source->inputs->format.table != NULL;
  cst_status status = cst__source_survey(source, &options, error);
  return status == CST_CALLBACK && check->out_of_memory ? cst__fail_memory(error, 64) : status;
}

/* The groups that are asked for, or the one that the source makes tensors of. */
static cst_status add_groups(const cst_source *source, cst__check *check) {
  const cst_validate_options *options = check->options;
  const char *const usual[] = {source->options.tensors.group};
  if (options->skip_tensors) {
    return CST_OK;
  }
  return options->num_groups > 0
             ? cst__check_add_groups(check, options->groups, options->num_groups,
                                     source->options.tensors.legacy)
             : cst__check_add_groups(check, usual, 1, source->options.tensors.legacy);
}

static cst_status validate(cst_source *source, const cst_schema *schema,
                           const cst_validate_options *options, cst_validation **out,
                           cst_error *error) {
  cst__check check;
  cst_error own = CST_ERROR_INIT;
  cst_status status = cst__check_init(&check, schema, options, &source->allocator, &own);
  if (status == CST_OK) {
    status = add_groups(source, &check);
  }
  if (status == CST_OK) {
    status = survey(source, &check, &own);
  }
  check.error = &own;
  if (status == CST_OK) {
    status = cst__check_report(&check, out, &own);
  }
  cst__check_reset(&check);
  if (status != CST_OK) {
    cst__error_copy(error, &own);
  }
  return status;
}

cst_status cst__source_validate(cst_source *source, const cst_validate_options *options,
                                cst_validation **out, cst_error *error) {
  const cst_schema *schema = options->schema;
  if (schema == NULL) {
    schema = source->options.columns.schema;
  }
  if (schema == NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT,
                     "give the schema that the data should fit, here or when the source is opened",
                     "there is no schema to validate against");
  }
  CST__TRY(cst__source_check_survey(source, "validate", error));
  CST__TRY(cst__source_acquire_all(source, error));
  return validate(source, schema, options, out, error);
}
