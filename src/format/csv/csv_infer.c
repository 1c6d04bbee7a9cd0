/* The types of the columns of CSV files, from all of their cells: null < int64 < float64 < string <
 * binary, and string wherever a number would lose something.
 */
#include <string.h>

#include "base/utf8.h"
#include "format/csv/csv.h"
#include "format/table/text_crew.h"

/* Nothing more can come of a number: UTF-8 alone counts. */
static inline bool csv_infer_is_text(unsigned seen) {
  const unsigned lossy = CST__CSV_HAS_FLOAT | CST__CSV_HAS_WIDE_INT;
  return (seen & CST__CSV_HAS_TEXT) || (seen & lossy) == lossy;
}

const char *cst__csv_format_seen(unsigned seen) {
  if (seen & CST__CSV_HAS_BINARY) {
    return "Z";
  }
  if (csv_infer_is_text(seen)) {
    return "U";
  }
  if (seen & CST__CSV_HAS_FLOAT) {
    return "g";
  }
  if (seen & CST__CSV_HAS_INT) {
    return "l";
  }
  return seen & CST__CSV_HAS_EMPTY ? "U" : "n";
}

typedef struct inferring {
  const cst__csv_plan *plan;
  cst__csv_run run;
  bool is_utf8; /* all of the run, and so each cell: what ends one is ASCII */
  uint8_t *scratch;
  size_t scratch_size;
} inferring;

static unsigned see_text(const inferring *work, const uint8_t *text, size_t size) {
  return work->is_utf8 || cst__utf8_valid(text, size) ? 0 : CST__CSV_HAS_BINARY;
}

static inline unsigned see_value(const inferring *work, unsigned seen, const uint8_t *text,
                                 uint32_t size_and_flags) {
  size_t size = size_and_flags & CST__CSV_SIZE;
  if (size == 0) {
    return CST__CSV_HAS_EMPTY;
  }
  if (size_and_flags & CST__CSV_DOUBLED) {
    return CST__CSV_HAS_TEXT | see_text(work, text, size);
  }
  unsigned found = csv_infer_is_text(seen) ? CST__CSV_HAS_TEXT : cst__csv_classify(text, size);
  return found & CST__CSV_HAS_TEXT ? found | see_text(work, text, size) : found;
}

static void see_column(const inferring *work, size_t source, unsigned *seen) {
  const cst__csv_run *run = &work->run;
  const cst__csv_cell *cell = run->cells + source;
  if ((*seen & CST__CSV_HAS_BINARY) || (csv_infer_is_text(*seen) && work->is_utf8)) {
    return;
  }
  unsigned found = *seen;
  for (size_t row = 0; row < run->rows; row++, cell += run->width) {
    if (cell->size != 0) {
      found |= see_value(work, found, run->data + cell->begin, cell->size);
    }
  }
  *seen = found;
}

static cst_status see_values(inferring *work, const cst__csv_cell *cell, unsigned *seen,
                             cst_error *error) {
  const uint8_t *text = work->run.data + cell->begin;
  size_t size = cell->size & CST__CSV_SIZE;
  if (cell->size & CST__CSV_DOUBLED) {
    void *items = work->scratch;
    if (!cst__grow(&work->plan->allocator, &items, &work->scratch_size, size + CST__CSV_PADDING,
                   1)) {
      return cst__fail_memory(error, size);
    }
    work->scratch = items;
    size = cst__csv_undouble(work->scratch, text, size);
    text = work->scratch;
  }
  size_t at = 0;
  while (at <= size) {
    cst__csv_cell value;
    if (!cst__csv_next_value(text, size, work->plan->dialect.secondary, &at, &value)) {
      return CST_OK; /* the reader will say so */
    }
    bool is_alone = value.begin == 0 && at > size;
    unsigned found = see_value(work, *seen, text + value.begin, value.size);
    /* An empty value among others is an empty string, which no number is. */
    *seen |= found == CST__CSV_HAS_EMPTY && !is_alone ? CST__CSV_HAS_TEXT : found;
  }
  return CST_OK;
}

static cst_status see_multivalent(inferring *work, size_t source, unsigned *seen,
                                  cst_error *error) {
  const cst__csv_run *run = &work->run;
  for (size_t row = 0; row < run->rows; row++) {
    const cst__csv_cell *cell = &run->cells[row * run->width + source];
    if (cell->size != 0) {
      CST__TRY(see_values(work, cell, seen, error));
    }
  }
  return CST_OK;
}

static cst_status see_run(inferring *work, const size_t *source, const uint8_t *end, unsigned *seen,
                          cst_error *error) {
  const cst__csv_plan *plan = work->plan;
  const uint8_t *begin = work->run.data + work->run.begins[0];
  work->is_utf8 = cst__utf8_valid(begin, (size_t)(end - begin));
  for (size_t i = 0; i < plan->num_columns; i++) {
    size_t name = plan->columns[i].source;
    if (plan->is_multivalent[name]) {
      CST__TRY(see_multivalent(work, source[name], &seen[name], error));
    } else {
      see_column(work, source[name], &seen[name]);
    }
  }
  return CST_OK;
}

/* What of the sample is left. */
typedef struct sample {
  int64_t rows;
  uint64_t bytes;
} sample;

static cst_status see_rows(inferring *work, cst__csv_file *file, const size_t *source, sample *left,
                           unsigned *seen, cst_error *error) {
  const cst__csv_plan *plan = work->plan;
  while (left->rows > 0 && file->block_offset + file->at < left->bytes) {
    cst_status status = cst__csv_file_next(file, (size_t)left->rows, &work->run, error);
    if (status == CST_CORRUPT && plan->skip) {
      return CST_OK;
    }
    CST__TRY(status);
    bool is_fault = work->run.fault.kind != CST__CSV_FINE;
    if (is_fault && !plan->skip) {
      return cst__csv_fault_error(file, &work->run, error);
    }
    if (work->run.rows == 0 && !is_fault) {
      return CST_OK;
    }
    if (work->run.rows > 0) {
      CST__TRY(see_run(work, source, file->block + file->at, seen, error));
    }
    left->rows -= (int64_t)work->run.rows;
  }
  return CST_OK;
}

static cst_status see_file(inferring *work, cst__csv_file *file, size_t *source, sample *left,
                           unsigned *seen, cst_error *error) {
  cst_status status = see_rows(work, file, source, left, seen, error);
  uint64_t used = file->block_offset + file->at;
  left->bytes -= used < left->bytes ? used : left->bytes;
  return status;
}

/* ---- by several threads ---- */

/* What a part of a file shows. */
static cst_status see_part(const cst__csv_plan *plan, const cst__table_files *part,
                           unsigned *seen) {
  inferring work = {.plan = plan};
  sample all = {INT64_MAX, UINT64_MAX};
  cst__csv_file file = {0};
  size_t *source = cst__new(&plan->allocator, (plan->num_names + 1) * sizeof *source);
  cst_status status = source != NULL ? CST_OK : CST_NO_MEMORY;
  if (status == CST_OK) {
    status = cst__csv_plan_open(plan, part, 0, &file, source, NULL);
  }
  if (status == CST_OK) {
    status = see_rows(&work, &file, source, &all, seen, NULL);
  }
  cst__csv_file_close(&file);
  cst__delete(work.scratch);
  cst__delete(source);
  return status;
}

typedef struct seen_by_many {
  const cst__csv_plan *plan;
  unsigned *seen;
} seen_by_many;

static bool run_seeing(void *ctx, int32_t thread, const cst__table_files *part, void **made) {
  const cst__csv_plan *plan = ((const seen_by_many *)ctx)->plan;
  unsigned *seen = cst__new_zero(&plan->allocator, (plan->num_names + 1) * sizeof *seen);
  (void)thread;
  *made = seen;
  return seen != NULL && see_part(plan, part, seen) == CST_OK;
}

static bool take_seen(void *ctx, void *made) {
  const seen_by_many *many = ctx;
  const unsigned *seen = made;
  for (size_t i = 0; i < many->plan->num_names; i++) {
    many->seen[i] |= seen[i];
  }
  return true;
}

cst_status cst__csv_infer_by_many(const cst__csv_plan *plan, int32_t threads, unsigned *seen,
                                  bool *sound, cst_error *error) {
  const cst__text_crew_options options = {.format = &cst__csv_table,
                                          .plan = plan,
                                          .files = plan->files,
                                          .threads = threads,
                                          .allocator = &plan->allocator};
  seen_by_many many = {plan, seen};
  const cst__text_fold fold = {run_seeing, take_seen, cst__delete, &many};
  return cst__text_crew_fold(&options, &fold, sound, error);
}

cst_status cst__csv_infer(const cst__csv_plan *plan, cst__csv_file *first, unsigned *seen,
                          cst_error *error) {
  inferring work = {.plan = plan};
  sample left = {plan->files->sample_rows, plan->files->sample_bytes};
  size_t *source = cst__new(&plan->allocator, (plan->num_names + 1) * sizeof *source);
  cst_status status = source != NULL ? CST_OK : cst__fail_memory(error, plan->num_names);
  for (size_t k = 0; k < plan->num_names && status == CST_OK; k++) {
    source[k] = k; /* the names are those of the first file's header */
  }
  for (size_t i = 0; i < plan->files->count && status == CST_OK; i++) {
    if (left.rows == 0 || left.bytes == 0) {
      break;
    }
    if (first->block == NULL) {
      status = cst__csv_plan_open(plan, plan->files, i, first, source, error);
    }
    if (status == CST_OK) {
      status = see_file(&work, first, source, &left, seen, error);
    }
    cst__csv_file_close(first);
  }
  cst__delete(source);
  cst__delete(work.scratch);
  return status;
}
