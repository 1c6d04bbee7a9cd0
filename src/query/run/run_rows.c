/* Batches with rows that a query refuses: which these are, and the batch of all others. */
#include "arrow/owned.h"
#include "query/run/steps_run.h"
#include "table/rows.h"

/* ---- which rows ---- */

typedef struct sifting {
  cst__query_run *run;
  const cst__query_input *input;
  int64_t length;  /* of the batch */
  int64_t *places; /* room for the rows that are tried, */
  int64_t *begins; /* and for their spans */
  int64_t *ends;
  uint8_t *bad;    /* by row of the batch */
  cst_error error; /* of the last row that was refused */
} sifting;

bool cst__row_is_refused(cst_status status, const cst_error *error) {
  return (status == CST_SCHEMA || status == CST_CORRUPT) && error->record >= 0;
}

/* Makes all steps for the rows from `begin` to `end` that are not bad. */
static cst_status sift_try(sifting *s, int64_t begin, int64_t end) {
  int64_t count = 0;
  int64_t spans = 0;
  for (int64_t i = begin; i < end; i++) {
    if (s->bad[i]) {
      continue;
    }
    if (i == begin || s->bad[i - 1]) {
      s->begins[spans++] = i;
    }
    s->places[count++] = i;
    s->ends[spans] = count;
  }
  s->ends[0] = 0;
  s->run->batch.rows =
      (cst__chosen){.count = count, .at = s->places, .spans = {s->begins, s->ends, spans, 1}};
  return cst__run_steps(s->run, &s->error);
}

/* Halves what has a bad row until it is one: n bad rows of m cost about 2 n log m rows, and never
 * more than 2 m log m. */
static cst_status sift_rows(sifting *s, int64_t begin, int64_t end) {
  cst_status status = sift_try(s, begin, end);
  if (status == CST_OK || !cst__row_is_refused(status, &s->error)) {
    return status;
  }
  if (end - begin == 1) {
    s->bad[begin] = 1;
    s->input->on_bad(s->input->ctx, &s->error);
    return CST_OK;
  }
  int64_t middle = begin + (end - begin) / 2;
  CST__TRY(sift_rows(s, begin, middle));
  return sift_rows(s, middle, end);
}

/* Makes all steps for the rows that are sound, of which some are known not to be so if `tried` is
 * false; else the whole batch has been refused. */
static cst_status sift_batch(sifting *s, bool tried) {
  cst_status status = tried ? CST_OK : sift_try(s, 0, s->length);
  bool refused = tried || (s->input->on_bad != NULL && cst__row_is_refused(status, &s->error));
  if (!refused) {
    return status;
  }
  int64_t middle = s->length / 2;
  CST__TRY(sift_rows(s, 0, middle));
  CST__TRY(sift_rows(s, middle, s->length));
  return sift_try(s, 0, s->length);
}

/* ---- the others ---- */

/* Puts rows of nulls where the bad ones were. */
static cst_status sift_fill(sifting *s, struct ArrowArray *out, cst_error *error) {
  cst_array *good;
  cst_array *all;
  cst_status status =
      cst__array_result_as(&s->run->allocator, &s->run->plan->schema, out, &good, error);
  if (status != CST_OK) {
    return status;
  }
  int64_t row = 0;
  for (int64_t i = 0; i < s->length; i++) {
    s->places[i] = s->bad[i] ? -1 : row++;
  }
  status = cst_array_take(good, s->places, (size_t)s->length, &all, error);
  if (status == CST_OK) {
    status = cst_array_export(all, out, error);
    cst_array_release(all);
  }
  cst_array_release(good);
  return status;
}

/* The rows of the batch as they go out, and where each of them is from. */
static cst_status sift_finish(sifting *s, struct ArrowArray *out, cst__row_map *origin,
                              cst_error *error) {
  CST__TRY(cst__output_batch(s->run, out, error));
  cst_status status = origin != NULL ? cst__output_origin(s->run, origin, error) : CST_OK;
  if (status == CST_OK && s->run->plan->origin == CST__NO_STEP) {
    status = sift_fill(s, out, error);
  }
  if (status != CST_OK) {
    cst__array_release(out);
  }
  return status;
}

cst_status cst__output_good_rows(cst__query_run *run, const cst__query_input *input, bool tried,
                                 struct ArrowArray *out, cst__row_map *origin, cst_error *error) {
  sifting s = {.run = run, .input = input, .error = CST_ERROR_INIT};
  s.length = run->batch.array->array.length;
  size_t size = (size_t)s.length * (3 * sizeof *s.places + 1) + sizeof *s.places + 1;
  s.places = cst__new_zero(&run->allocator, size);
  if (s.places == NULL) {
    return cst__fail_memory(error, size);
  }
  s.begins = s.places + s.length;
  s.ends = s.begins + s.length;
  s.bad = (uint8_t *)(s.ends + s.length + 1);
  if (input->bad != NULL) {
    memcpy(s.bad, input->bad, (size_t)s.length);
  }
  cst_status status = sift_batch(&s, tried);
  if (status != CST_OK) {
    cst__error_copy(error, &s.error);
  } else {
    status = sift_finish(&s, out, origin, error);
  }
  cst__delete(s.places);
  return status;
}
