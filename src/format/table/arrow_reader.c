/* The table format arrow: files and streams of Arrow IPC, batch by batch as they were written.
 *
 * The columns are those of the first file; every other file has to have the same.
 */
#include <string.h>

#include "arrow/concat.h"
#include "arrow/ipc/ipc_reader.h"
#include "arrow/view.h"
#include "format/table/table.h"

typedef struct arrow_plan {
  cst_allocator allocator;
  cst__table_files files;
  struct ArrowSchema schema; /* of all columns */
  int64_t *places;           /* of the wanted ones; NULL: all */
  size_t num_places;
  uint64_t max_inflation;
  uint64_t max_record_size;
} arrow_plan;

typedef struct arrow_reader {
  const arrow_plan *plan;
  size_t next_file;
  cst__input *input;
  cst__ipc_reader *ipc; /* of the open file; NULL: between files */
  uint64_t consumed;    /* of the files before */
  bool *unmarked;       /* of each file: a stream that has ended without its end marker */
  size_t told;          /* of these: the next to be told of */
} arrow_reader;

static cst_status read_input(void *ctx, void *buffer, size_t size, size_t *got, cst_error *error) {
  return cst__input_fill(ctx, buffer, size, got, error);
}

/* ---- one file ---- */

static cst_status open_ipc(const arrow_plan *plan, size_t i, cst__input **input,
                           cst__ipc_reader **ipc, cst_error *error) {
  CST__TRY(plan->files.open(plan->files.ctx, i, input, error));
  cst_status status = cst__ipc_reader_new(read_input, *input, &plan->allocator, ipc, error);
  if (status != CST_OK) {
    cst__input_close(*input);
    cst__error_add_file(error, plan->files.name(plan->files.ctx, i));
    return status;
  }
  cst__ipc_reader_limit(*ipc, plan->max_inflation, plan->max_record_size);
  return CST_OK;
}

/* ---- the plan ---- */

static void arrow_plan_free(void *ptr) {
  arrow_plan *plan = ptr;
  if (plan->schema.release != NULL) {
    plan->schema.release(&plan->schema);
  }
  cst__delete(plan->places);
  cst__delete(plan);
}

static cst_status take_schema(arrow_plan *plan, cst_error *error) {
  cst__input *input;
  cst__ipc_reader *ipc;
  CST__TRY(open_ipc(plan, 0, &input, &ipc, error));
  cst_status status = cst__schema_copy(cst__ipc_reader_schema(ipc), &plan->schema, error);
  cst__ipc_reader_free(ipc);
  cst__input_close(input);
  return status;
}

static cst_status find_places(arrow_plan *plan, const cst__table_options *options,
                              cst_error *error) {
  if (options->columns == NULL) {
    return CST_OK;
  }
  size_t size = (options->num_columns + 1) * sizeof *plan->places;
  plan->places = cst__new(&plan->allocator, size);
  if (plan->places == NULL) {
    return cst__fail_memory(error, size);
  }
  plan->num_places = options->num_columns;
  return cst__find_columns(options->columns, options->num_columns, &plan->schema, plan->places,
                           error);
}

static cst_status picked_schema(const arrow_plan *plan, const cst__table_options *options,
                                struct ArrowSchema *out, cst_error *error) {
  struct ArrowSchema picked;
  CST__TRY(cst__schema_copy(&plan->schema, &picked, error));
  cst_status status = CST_OK;
  if (plan->places != NULL) {
    status = cst__pick_fields(plan->places, plan->num_places, &picked, error);
  }
  if (status == CST_OK) {
    status = cst__schema_check_types(&picked, error);
  }
  if (status == CST_OK && options->types != NULL && !cst__schema_equal(options->types, &picked)) {
    status = cst__fail(error, CST_SCHEMA, "remove the types: Arrow files have their own",
                       "the columns of the file are not of the given types");
  }
  if (status != CST_OK) {
    picked.release(&picked);
    return status;
  }
  *out = picked;
  return CST_OK;
}

static cst_status fill_plan(arrow_plan *plan, const cst__table_options *options,
                            struct ArrowSchema *schema, cst_error *error) {
  CST__TRY(take_schema(plan, error));
  cst_status status = find_places(plan, options, error);
  if (status == CST_OK) {
    status = picked_schema(plan, options, schema, error);
  }
  if (status != CST_OK) {
    cst__error_add_file(error, plan->files.name(plan->files.ctx, 0));
  }
  return status;
}

static cst_status arrow_make_plan(const cst__table_files *files, const cst__table_options *options,
                                  void **out, struct ArrowSchema *schema, cst_error *error) {
  arrow_plan *plan = cst__new_zero(options->allocator, sizeof *plan);
  if (plan == NULL) {
    return cst__fail_memory(error, sizeof *plan);
  }
  plan->allocator = cst__allocator_of(options->allocator);
  plan->files = *files;
  plan->max_inflation = options->max_inflation;
  plan->max_record_size = options->max_record_size;
  cst_status status = fill_plan(plan, options, schema, error);
  if (status != CST_OK) {
    arrow_plan_free(plan);
    return status;
  }
  *out = plan;
  return CST_OK;
}

/* ---- reading ---- */

static cst_status arrow_open(const void *plan, const cst__table_reading *reading, void **out,
                             cst_error *error) {
  const arrow_plan *own = plan;
  arrow_reader *reader = cst__new_zero(&own->allocator, sizeof *reader);
  bool *unmarked = cst__new_zero(&own->allocator, own->files.count * sizeof *unmarked);
  (void)reading; /* a damaged batch leaves nothing to go on with */
  if (reader == NULL || unmarked == NULL) {
    cst__delete(reader);
    cst__delete(unmarked);
    return cst__fail_memory(error, sizeof *reader + own->files.count);
  }
  reader->plan = own;
  reader->unmarked = unmarked;
  *out = reader;
  return CST_OK;
}

static void close_arrow_file(arrow_reader *reader) {
  cst__ipc_reader_free(reader->ipc);
  if (reader->input != NULL) {
    reader->consumed += cst__input_consumed(reader->input);
    cst__input_close(reader->input);
  }
  reader->ipc = NULL;
  reader->input = NULL;
}

static cst_status check_arrow_columns(const arrow_reader *reader, cst_error *error) {
  return cst__schema_check_equal(
      cst__ipc_reader_schema(reader->ipc), &reader->plan->schema,
      "read the files one by one, or open the source again if it changed", error);
}

static cst_status open_next(arrow_reader *reader, cst_error *error) {
  const arrow_plan *plan = reader->plan;
  cst__input *input;
  cst__ipc_reader *ipc;
  CST__TRY(open_ipc(plan, reader->next_file, &input, &ipc, error));
  reader->input = input;
  reader->ipc = ipc;
  cst_status status = check_arrow_columns(reader, error);
  if (status == CST_OK && plan->places != NULL) {
    status = cst__ipc_reader_pick(ipc, plan->places, plan->num_places, error);
  }
  if (status != CST_OK) {
    cst__error_add_file(error, plan->files.name(plan->files.ctx, reader->next_file));
    close_arrow_file(reader);
    return status;
  }
  reader->next_file++;
  return CST_OK;
}

/* Opens the file again, for dictionaries that come after the batches. */
static cst_status look_again(arrow_reader *reader, cst_error *error) {
  const cst__table_files *files = &reader->plan->files;
  cst__input *again;
  CST__TRY(cst__ipc_reader_collect(reader->ipc, error));
  CST__TRY(files->open(files->ctx, reader->next_file - 1, &again, error));
  cst__input_close(reader->input);
  reader->input = again;
  return cst__ipc_reader_restart(reader->ipc, again, error);
}

static cst_status arrow_next_batch(arrow_reader *reader, struct ArrowArray *out, cst_error *error) {
  cst_status status = cst__ipc_reader_next(reader->ipc, out, error);
  if (status != CST_OK && reader->plan->files.rereadable &&
      cst__ipc_reader_lacks_dictionaries(reader->ipc)) {
    CST__TRY(look_again(reader, error));
    status = cst__ipc_reader_next(reader->ipc, out, error);
  }
  return status;
}

static cst_status arrow_next(void *ptr, struct ArrowArray *out, cst_error *error) {
  arrow_reader *reader = ptr;
  const cst__table_files *files = &reader->plan->files;
  out->release = NULL;
  while (reader->ipc != NULL || reader->next_file < files->count) {
    if (reader->ipc == NULL) {
      CST__TRY(open_next(reader, error));
    }
    cst_status status = arrow_next_batch(reader, out, error);
    if (status != CST_OK) {
      cst__error_add_file(error, files->name(files->ctx, reader->next_file - 1));
      return status;
    }
    if (out->release != NULL) {
      return CST_OK;
    }
    CST__TRY(cst__input_finish(reader->input, error)); /* a footer is not read */
    reader->unmarked[reader->next_file - 1] = cst__ipc_reader_is_unmarked(reader->ipc);
    close_arrow_file(reader);
  }
  return CST_OK;
}

static bool arrow_warning(void *ptr, size_t *file, cst_error *warning) {
  arrow_reader *reader = ptr;
  const cst__table_files *files = &reader->plan->files;
  size_t read = reader->next_file - (reader->ipc != NULL);
  for (; reader->told < read; reader->told++) {
    if (reader->unmarked[reader->told]) {
      *file = reader->told++;
      (void)cst__fail(warning, CST_CORRUPT, "it may be truncated: compare it with the original",
                      "the Arrow stream ends without its end marker");
      cst__error_add_file(warning, files->name(files->ctx, *file));
      return true;
    }
  }
  return false;
}

static size_t arrow_file(const void *ptr) { return ((const arrow_reader *)ptr)->next_file - 1; }

static uint64_t arrow_consumed(const void *ptr) {
  const arrow_reader *reader = ptr;
  return reader->consumed + (reader->input != NULL ? cst__input_consumed(reader->input) : 0);
}

static void arrow_close(void *ptr) {
  arrow_reader *reader = ptr;
  close_arrow_file(reader);
  cst__delete(reader->unmarked);
  cst__delete(reader);
}

/* Feather of version 1 is not Arrow IPC, but whoever has it is told so here. */
static bool arrow_sniff(const uint8_t *head, size_t size) {
  return cst__ipc_sniff(head, size) || (size >= 8 && memcmp(head, "FEA1\0\0\0\0", 8) == 0);
}

const cst__table_format cst__arrow_table = {
    .name = "arrow",
    .sniff = arrow_sniff,
    .plan = arrow_make_plan,
    .plan_free = arrow_plan_free,
    .open = arrow_open,
    .next = arrow_next,
    .warning = arrow_warning,
    .file = arrow_file,
    .consumed = arrow_consumed,
    .close = arrow_close,
    .any_size = true,
};
