/* CSV as a table format: passes over the files, their rows cut into batches, and what happens with
 * rows that are none.
 */
#include <stdio.h>
#include <string.h>

#include "format/csv/csv.h"

typedef struct csv_reader {
  const cst__csv_plan *plan;
  const cst__table_files *files;
  int64_t batch_size;
  cst__table_drop drop; /* NULL: a fault ends the pass */
  void *drop_ctx;
  cst__csv_rows *rows;
  cst__csv_file file; /* open if it has a block */
  size_t next_file;
  size_t *source;           /* of the plan's names in the file */
  cst__csv_misfit *misfits; /* of a run's rows */
  size_t misfits_capacity;
  uint64_t consumed; /* of files that are done */
  cst_error failure; /* comes again with every further call */
} csv_reader;

static void csv_close(void *ptr) {
  csv_reader *r = ptr;
  if (r != NULL) {
    cst__csv_rows_free(r->rows);
    cst__csv_file_close(&r->file);
    cst__delete(r->source);
    cst__delete(r->misfits);
    cst__delete(r);
  }
}

static cst_status csv_table_open(const void *ptr, const cst__table_reading *reading, void **out,
                                 cst_error *error) {
  const cst__csv_plan *plan = ptr;
  csv_reader *r = cst__new_zero(&plan->allocator, sizeof *r);
  if (r == NULL) {
    return cst__fail_memory(error, sizeof *r);
  }
  r->plan = plan;
  r->files = reading->files != NULL ? reading->files : plan->files;
  r->batch_size = reading->batch_size > 0 ? reading->batch_size : plan->batch_size;
  r->drop = plan->skip ? reading->drop : NULL;
  r->drop_ctx = reading->drop_ctx;
  r->failure = (cst_error)CST_ERROR_INIT;
  r->source = cst__new(&plan->allocator, (plan->num_names + 1) * sizeof *r->source);
  cst_status status =
      r->source != NULL ? CST_OK : cst__fail_memory(error, plan->num_names * sizeof *r->source);
  if (status == CST_OK) {
    status = cst__csv_rows_new(plan, r->batch_size, &r->rows, error);
  }
  if (status != CST_OK) {
    csv_close(r);
    return status;
  }
  *out = r;
  return CST_OK;
}

static uint64_t csv_consumed(const void *ptr) {
  const csv_reader *r = ptr;
  return r->consumed + (r->file.input != NULL ? cst__input_consumed(r->file.input) : 0);
}

/* ---- rows that are dropped ---- */

/* All of `told` but the file is set. */
static cst_status csv_table_drop(csv_reader *r, cst_dropped told, cst_bytes column,
                                 cst_error *error) {
  told.file = r->file.name;
  const cst__dropped dropped = {told, column};
  return r->drop(r->drop_ctx, &dropped, error);
}

static cst_status take_fault(csv_reader *r, const cst__csv_run *run, cst_error *error) {
  cst_error why = CST_ERROR_INIT;
  const cst__csv_fault *fault = &run->fault;
  if (r->drop == NULL) {
    return cst__csv_fault_error(&r->file, run, error);
  }
  cst__csv_fault_error(&r->file, run, &why);
  cst_dropped dropped = {.kind = fault->kind == CST__CSV_TOO_LONG ? "limit" : "record",
                         .record = run->record,
                         .offset = (int64_t)(r->file.block_offset + fault->begin),
                         .bytes = fault->end - fault->begin,
                         .error = &why};
  if (fault->kind >= CST__CSV_UNCLOSED) {
    CST__TRY(cst__csv_file_pass_rest(&r->file, fault, &dropped.bytes, error));
  }
  return csv_table_drop(r, dropped, (cst_bytes){NULL, 0}, error);
}

/* What follows a place where the compression is damaged is lost. */
static cst_status take_damage(csv_reader *r, cst_error *why, cst_error *error) {
  const cst__csv_file *f = &r->file;
  const cst_dropped dropped = {.kind = "compression",
                               .record = f->record,
                               .offset = (int64_t)(f->block_offset + f->at),
                               .bytes = f->size - f->at,
                               .error = why};
  return csv_table_drop(r, dropped, (cst_bytes){NULL, 0}, error);
}

static cst_status say_misfit(csv_reader *r, const cst__csv_misfit *misfit, cst_error *error) {
  const cst__csv_plan *plan = r->plan;
  const cst__csv_column *column = &plan->columns[misfit->column - 1];
  const char *hint = plan->is_sampled ? "give a schema or types, or infer them from all of a file"
                     : plan->is_inferred ? "the file changed after its types were inferred"
                                         : "give the column another type, or skip such rows";
  char what[64];
  snprintf(what, sizeof what, "%s%s", column->is_multivalent ? "list of " : "",
           cst__csv_type_name(cst__csv_value_type(column)));
  if (misfit->is_null) {
    cst__fail(error, CST_SCHEMA, hint, "an empty cell, but the type is not nullable");
  } else if (column->type->layout == CST__LAYOUT_FIXED_LIST) {
    cst__fail(error, CST_SCHEMA, hint, "a cell of %u bytes that is not of type %s, %lld in number",
              misfit->size, what, (long long)column->type->fixed_size);
  } else {
    cst__fail(error, CST_SCHEMA, hint, "a cell of %u bytes that is not of type %s%s", misfit->size,
              what, plan->is_sampled ? ", as all of the sample were" : "");
  }
  cst__error_add_path(error, column->name, strlen(column->name));
  return CST_SCHEMA;
}

/* Rows that have cells that do not fit: the first one fails, or all are dropped. */
static cst_status take_misfits(csv_reader *r, const cst__csv_run *run, size_t rows,
                               cst_error *error) {
  for (size_t row = 0; row < rows; row++) {
    const cst__csv_misfit *m = &r->misfits[row];
    if (m->column == 0) {
      continue;
    }
    cst_error why = CST_ERROR_INIT;
    cst_error *to = r->drop != NULL ? &why : error;
    size_t begin = run->begins[row];
    cst_status status = say_misfit(r, m, to);
    cst__csv_add_place(&r->file, run->record + (int64_t)row, begin, m->at, to);
    if (r->drop == NULL) {
      return status;
    }
    const cst_dropped dropped = {.kind = "record",
                                 .record = run->record + (int64_t)row,
                                 .offset = (int64_t)(r->file.block_offset + begin),
                                 .bytes = m->row_end - begin,
                                 .error = &why};
    const char *name = r->plan->columns[m->column - 1].name;
    const cst_bytes column = {(const uint8_t *)name, strlen(name)};
    CST__TRY(csv_table_drop(r, dropped, column, error));
  }
  memset(r->misfits, 0, rows * sizeof *r->misfits);
  return CST_OK;
}

/* ---- batches ---- */

static cst_status take_rows(csv_reader *r, cst__csv_run *run, cst_error *error) {
  size_t rows = run->rows;
  size_t misfits;
  if (rows > r->misfits_capacity) {
    void *items = r->misfits;
    size_t before = r->misfits_capacity;
    if (!cst__grow(&r->plan->allocator, &items, &r->misfits_capacity, rows, sizeof *r->misfits)) {
      return cst__fail_memory(error, rows * sizeof *r->misfits);
    }
    r->misfits = items;
    memset(r->misfits + before, 0, (r->misfits_capacity - before) * sizeof *r->misfits);
  }
  CST__TRY(cst__csv_rows_append(r->rows, run, r->source, r->misfits, &misfits, error));
  return misfits > 0 ? take_misfits(r, run, rows, error) : CST_OK;
}

static void csv_table_end_file(csv_reader *r) {
  r->consumed = csv_consumed(r);
  cst__csv_file_close(&r->file);
}

/* Takes a run of rows, a fault, or the end of a file. */
static cst_status take_step(csv_reader *r, size_t most, cst_error *error) {
  if (r->file.block == NULL) {
    return cst__csv_plan_open(r->plan, r->files, r->next_file++, &r->file, r->source, error);
  }
  cst_error why = CST_ERROR_INIT;
  cst__csv_run run;
  cst_status status = cst__csv_file_next(&r->file, most, &run, &why);
  if (status == CST_CORRUPT && r->drop != NULL) {
    CST__TRY(take_damage(r, &why, error));
    csv_table_end_file(r);
    return CST_OK;
  }
  if (status != CST_OK) {
    cst__error_copy(error, &why);
    return status;
  }
  if (run.rows > 0) {
    return take_rows(r, &run, error);
  }
  if (run.fault.kind != CST__CSV_FINE) {
    return take_fault(r, &run, error);
  }
  csv_table_end_file(r);
  return CST_OK;
}

static cst_status csv_next(void *ptr, struct ArrowArray *out, cst_error *error) {
  csv_reader *r = ptr;
  out->release = NULL;
  cst_status status = r->failure.code;
  while (status == CST_OK && cst__csv_rows_count(r->rows) < r->batch_size &&
         (r->file.block != NULL || r->next_file < r->files->count)) {
    int64_t most = r->batch_size - cst__csv_rows_count(r->rows);
    status = take_step(r, (size_t)most, &r->failure);
  }
  if (status == CST_OK && cst__csv_rows_count(r->rows) > 0) {
    status = cst__csv_rows_finish(r->rows, out, &r->failure);
  }
  if (status != CST_OK) {
    r->failure.code = status;
    cst__error_copy(error, &r->failure);
  }
  return status;
}

const cst__table_format cst__csv_table = {
    .name = "csv",
    .is_text = true,
    .has_raw = true,
    .plan = cst__csv_plan_new,
    .plan_free = cst__csv_plan_free,
    .open = csv_table_open,
    .next = csv_next,
    .cut = cst__csv_cut,
    .preamble = cst__csv_preamble,
    .consumed = csv_consumed,
    .close = csv_close,
};
