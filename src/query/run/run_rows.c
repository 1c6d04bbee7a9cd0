/* Batches with rows that a query refuses: which these are, and the batch of all others. */
#include "arrow/owned.h"
#include "query/run/slots.h"
#include "table/rows.h"

/* ---- which rows ---- */

typedef struct sifting {
  cst__query_run *run;
  const cst__query_input *input;
  uint8_t *bad; /* by row of the batch */
  int64_t num_bad;
  cst_error error; /* of the last row that was refused */
} sifting;

bool cst__row_is_refused(cst_status status, const cst_error *error) {
  return (status == CST_SCHEMA || status == CST_CORRUPT) && error->record >= 0;
}

/* Halves what has a bad row until it is one: n bad rows of m cost about 2 n log m rows, and never
 * more than 2 m log m. */
static cst_status sift_rows(sifting *s, int64_t begin, int64_t end) {
  cst__slot_run rows = {begin, end - begin};
  cst__batch_input *batch = &s->run->batch;
  batch->rows = &rows;
  batch->num_runs = rows.length > 0;
  batch->num_rows = rows.length;
  batch->places = NULL;
  cst_status status = cst__run_steps(s->run, &s->error);
  if (status == CST_OK || !cst__row_is_refused(status, &s->error)) {
    return status;
  }
  if (end - begin == 1) {
    s->bad[begin] = 1;
    s->num_bad++;
    s->input->on_bad(s->input->ctx, &s->error);
    return CST_OK;
  }
  int64_t middle = begin + (end - begin) / 2;
  CST__TRY(sift_rows(s, begin, middle));
  return sift_rows(s, middle, end);
}

/* ---- the others ---- */

/* The rows that are not bad: `runs` and `places` have room for all. */
static void sift_keep(sifting *s, int64_t length, cst__slot_run *runs, int64_t *places) {
  cst__batch_input *batch = &s->run->batch;
  *batch = (cst__batch_input){.array = batch->array,
                              .view = batch->view,
                              .numbers = batch->numbers,
                              .rows = runs,
                              .places = places};
  for (int64_t i = 0; i < length; i++) {
    if (s->bad[i]) {
      continue;
    }
    if (i == 0 || s->bad[i - 1]) {
      runs[batch->num_runs++] = (cst__slot_run){i, 0};
    }
    runs[batch->num_runs - 1].length++;
    places[batch->num_rows++] = i;
  }
}

/* Puts rows of nulls where the bad ones were. */
static cst_status sift_fill(sifting *s, int64_t length, int64_t *rows, struct ArrowArray *out,
                            cst_error *error) {
  cst_array *good;
  cst_array *all;
  cst_status status =
      cst__array_result_as(&s->run->allocator, &s->run->plan->schema, out, &good, error);
  if (status != CST_OK) {
    return status;
  }
  int64_t row = 0;
  for (int64_t i = 0; i < length; i++) {
    rows[i] = s->bad[i] ? -1 : row++;
  }
  status = cst__array_take(good, rows, (size_t)length, &all, error);
  if (status == CST_OK) {
    status = cst__array_export(all, out, error);
    cst__array_handle_release(all);
  }
  cst__array_handle_release(good);
  return status;
}

/* The rows of the batch as they go out, and where each of them is from. */
static cst_status sift_finish(sifting *s, int64_t length, int64_t *places, struct ArrowArray *out,
                              cst__row_map *origin, cst_error *error) {
  cst_status status = origin != NULL ? cst__output_origin(s->run, origin, error) : CST_OK;
  if (status == CST_OK && s->run->plan->origin == CST__NO_STEP) {
    status = sift_fill(s, length, places, out, error);
  }
  if (status != CST_OK) {
    cst__array_release(out);
  }
  return status;
}

static cst_status sift_batch(sifting *s, struct ArrowArray *out, cst__row_map *origin,
                             cst_error *error) {
  int64_t length = s->run->batch.array->array.length;
  size_t size = (size_t)length * (sizeof(int64_t) + sizeof(cst__slot_run) + 1) + 1;
  cst__slot_run *runs = cst__new_zero(&s->run->allocator, size);
  if (runs == NULL) {
    return cst__fail_memory(error, size);
  }
  int64_t *places = (int64_t *)(runs + length);
  s->bad = (uint8_t *)(places + length);
  int64_t middle = length / 2;
  cst_status status = length > 1 ? sift_rows(s, 0, middle) : CST_OK;
  if (status == CST_OK) {
    status = sift_rows(s, length > 1 ? middle : 0, length);
  }
  if (status == CST_OK) {
    sift_keep(s, length, runs, places);
    status = cst__run_steps(s->run, &s->error);
  }
  if (status != CST_OK) {
    cst__error_copy(error, &s->error);
  } else {
    status = cst__output_batch(s->run, out, error);
  }
  if (status == CST_OK) {
    status = sift_finish(s, length, places, out, origin, error);
  }
  cst__delete(runs);
  return status;
}

cst_status cst__output_good_rows(cst__query_run *run, const cst__query_input *input,
                                 struct ArrowArray *out, cst__row_map *origin, cst_error *error) {
  sifting s = {.run = run, .input = input, .error = CST_ERROR_INIT};
  return sift_batch(&s, out, origin, error);
}
