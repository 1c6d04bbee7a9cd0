/* What goes out: columns of lists, structs and values, put together from the places and the values
 * of the steps. Values are shared; offsets and bitmaps of lists are written.
 */
#include "arrow/owned.h"
#include "query/run/steps_run.h"
#include "table/rows.h"

typedef struct output_writer {
  cst__query_run *run;
  cst_error *error;
} output_writer;

static cst_status output_part(const output_writer *w, const cst__output_part *part, int64_t slots,
                              struct ArrowArray *out);

/* ---- values and structs ---- */

static cst_status output_values(const output_writer *w, const cst__output_part *part, int64_t count,
                                struct ArrowArray *out) {
  cst__step literal = {0};
  const cst__step_call c = {w->run, &literal, NULL, w->error};
  cst_array *values;
  CST__TRY(cst__step_spread(&c, part->values, count, &values));
  cst_status status = cst_array_export(values, out, w->error);
  cst_array_release(values);
  return status;
}

/* The bitmap of structs: bools of which none is null. */
static cst_status output_validity(const output_writer *w, const cst__output_part *part,
                                  struct ArrowArray *out) {
  if (part->valid == CST__NO_STEP) {
    return CST_OK;
  }
  const cst__step_call c = {w->run, &w->run->plan->steps[part->valid], NULL, w->error};
  const cst__view *bools = &w->run->slots[part->valid].view;
  const uint64_t *words = cst__bool_words(&c, bools, c.step->is_one, out->length);
  if (words == NULL) {
    return CST_NO_MEMORY;
  }
  int64_t valid = cst__words_count(words, out->length);
  if (valid == out->length) {
    return CST_OK;
  }
  size_t size = cst__bits_size(out->length);
  uint8_t *bits = cst__owned_buffer(out, 0, size);
  if (bits == NULL) {
    return cst__fail_memory(w->error, size);
  }
  memcpy(bits, words, size);
  out->null_count = out->length - valid;
  return CST_OK;
}

static cst_status output_struct(const output_writer *w, const cst__output_part *part, int64_t count,
                                struct ArrowArray *out) {
  CST__TRY(
      cst__owned_new(&w->run->allocator, 1, (int64_t)part->num_children, false, out, w->error));
  out->length = count;
  cst_status status = output_validity(w, part, out);
  for (size_t i = 0; i < part->num_children && status == CST_OK; i++) {
    status = output_part(w, &part->children[i], count, out->children[i]);
  }
  if (status != CST_OK) {
    cst__array_release(out);
  }
  return status;
}

/* ---- lists ---- */

static cst_status output_offsets(const output_writer *w, const int64_t *splits, int width,
                                 struct ArrowArray *out) {
  size_t size = (size_t)(out->length + 1) * (size_t)width;
  void *offsets = cst__owned_buffer(out, 1, size);
  if (offsets == NULL) {
    return cst__fail_memory(w->error, size);
  }
  if (width == 8) {
    memcpy(offsets, splits, size);
    return CST_OK;
  }
  if (splits[out->length] > INT32_MAX) {
    return cst__fail(w->error, CST_LIMIT, "use smaller batches",
                     "%lld entries in maps, whose offsets have 32 bits",
                     (long long)splits[out->length]);
  }
  for (int64_t i = 0, end = 0; i <= out->length;) {
    CST__TRY(cst__next_stretch(&end, out->length + 1, w->error));
    for (; i < end; i++) {
      ((int32_t *)offsets)[i] = (int32_t)splits[i];
    }
  }
  return CST_OK;
}

/* Puts `out`, the elements, into the lists of a place, or, without splits, into `slots` lists of
 * one size each. Takes it over, also on failure. */
static cst_status output_wrap(const output_writer *w, const cst__output_part *part,
                              const cst__lists *lists, const char *format, int64_t slots,
                              struct ArrowArray *out) {
  struct ArrowArray items = *out;
  int64_t fixed_size;
  const cst__layout_info *layout = cst__layout_find(format, &fixed_size);
  cst_status status =
      cst__owned_new(&w->run->allocator, layout->num_buffers, 1, false, out, w->error);
  if (status != CST_OK) {
    cst__array_release(&items);
    return status;
  }
  out->length = slots;
  *out->children[0] = items;
  if (lists != NULL) {
    status = output_offsets(w, lists->splits, layout->offset_width, out);
  }
  if (status == CST_OK && lists != NULL && part->null_lists) {
    status = cst__nulls_put(lists->nulls, out, w->error);
  }
  if (status != CST_OK) {
    cst__array_release(out);
  }
  return status;
}

/* The format of the lists at a level of a part, from the outermost on. */
static const char *output_format(const cst__output_part *part, size_t level) {
  const struct ArrowSchema *type = part->type;
  for (; level > 0; level--) {
    type = type->children[0];
  }
  return type->format;
}

static cst_status output_part(const output_writer *w, const cst__output_part *part, int64_t slots,
                              struct ArrowArray *out) {
  int64_t count = w->run->slots[part->place].count;
  cst_status status = part->values != CST__NO_STEP ? output_values(w, part, count, out)
                                                   : output_struct(w, part, count, out);
  for (size_t i = part->num_lists; i-- > 0 && status == CST_OK;) {
    const cst__lists *lists = &w->run->slots[part->lists[i]].lists;
    status = output_wrap(w, part, lists, output_format(part, i), lists->count, out);
  }
  for (size_t i = part->num_dims; i-- > 0 && status == CST_OK;) {
    int64_t lists = slots;
    for (size_t k = 0; k < i; k++) {
      lists *= part->dims[k];
    }
    status = output_wrap(w, part, NULL, output_format(part, i), lists, out);
  }
  if (status != CST_OK) {
    cst__error_add_path(w->error, part->name, strlen(part->name));
  }
  return status;
}

/* ---- the batch ---- */

cst_status cst__output_batch(cst__query_run *run, struct ArrowArray *out, cst_error *error) {
  const output_writer w = {run, error};
  const cst__query_plan *plan = run->plan;
  const cst__output_part top = {.place = plan->records,
                                .valid = CST__NO_STEP,
                                .values = CST__NO_STEP,
                                .children = plan->parts,
                                .num_children = plan->num_parts};
  return output_struct(&w, &top, run->slots[plan->records].count, out);
}

cst_status cst__output_origin(cst__query_run *run, cst__row_map *origin, cst_error *error) {
  uint32_t number = run->plan->origin;
  if (number == CST__NO_STEP) {
    origin->moved = false;
    return CST_OK;
  }
  cst__step_result *index = &run->slots[number];
  CST__TRY(cst__chosen_need_numbers(&index->index, &run->numbers, error));
  if (!cst__row_map_reserve(origin, &run->allocator, index->count)) {
    return cst__fail_memory(error, (size_t)index->count * sizeof *origin->rows);
  }
  origin->moved = true;
  for (int64_t i = 0; i < index->count; i++) {
    origin->rows[i] = cst__batch_row(&run->batch, index->index.at[i]);
  }
  return CST_OK;
}
