/* Pieces that were encoded apart have other dictionaries: these become one, and indices move. */
#include "arrow/concat_dictionaries.h"

typedef struct merger {
  const cst_allocator *allocator;
  cst_dtype indices;
  cst__name_map names; /* strings that have a place */
  cst__piece *runs;    /* the merged values */
  size_t num_runs;
  size_t run_capacity;
  size_t count;            /* of them */
  const cst__view *values; /* the dictionary at hand; NULL: none yet */
  int64_t *places;         /* where its values are */
  size_t place_capacity;
  bool is_same; /* each is where it was */
} merger;

static cst_status add_value_run(merger *m, cst__piece run, cst_error *error) {
  void *runs = m->runs;
  bool ok = cst__grow(m->allocator, &runs, &m->run_capacity, m->num_runs + 1, sizeof *m->runs);
  m->runs = runs;
  if (!ok) {
    return cst__fail_memory(error, (m->num_runs + 1) * sizeof *m->runs);
  }
  m->runs[m->num_runs++] = run;
  return CST_OK;
}

/* Slot `slot` of the dictionary at hand is the next value. */
static cst_status merge_value(merger *m, int64_t slot, cst_error *error) {
  if (m->count == cst__index_limit(m->indices)) {
    return cst__fail(error, CST_LIMIT, "use smaller batches, or plain values",
                     "a dictionary of more than %zu values", m->count);
  }
  m->places[slot] = (int64_t)m->count++;
  cst__piece *last = &m->runs[m->num_runs - 1];
  if (last->view == m->values && last->begin + last->length == slot) {
    last->length++;
    return CST_OK;
  }
  return add_value_run(m, (cst__piece){m->values, slot, 1}, error);
}

static cst_status place_string(merger *m, int64_t slot, cst_error *error) {
  cst_bytes bytes = cst__view_bytes(m->values, slot);
  const char *name = bytes.size > 0 ? (const char *)bytes.data : "";
  size_t found = cst__name_map_find(&m->names, name, bytes.size);
  if (found != SIZE_MAX) {
    m->places[slot] = (int64_t)found;
    return CST_OK;
  }
  return cst__name_map_add(&m->names, name, bytes.size, m->count)
             ? merge_value(m, slot, error)
             : cst__fail_memory(error, bytes.size);
}

/* Finds the places of the values of one more dictionary. */
static cst_status merge_dictionary(merger *m, const cst__view *values, cst_error *error) {
  void *places = m->places;
  bool ok = cst__grow(m->allocator, &places, &m->place_capacity, (size_t)values->length + 1,
                      sizeof *m->places);
  m->places = places;
  if (!ok) {
    return cst__fail_memory(error, (size_t)values->length * sizeof *m->places);
  }
  m->values = values;
  m->is_same = true;
  for (int64_t i = 0; i < values->length; i++) {
    bool is_string = values->dtype == CST_DTYPE_BYTES && !cst__view_is_null(values, i);
    CST__TRY(is_string ? place_string(m, i, error) : merge_value(m, i, error));
    m->is_same &= m->places[i] == i;
  }
  return CST_OK;
}

/* Batches of one decoder share the dictionary, whose values do not change. */
static bool is_one_dictionary(const cst__view *a, const cst__view *b) {
  return a->length == b->length && a->offset == b->offset && a->data == b->data &&
         a->offsets == b->offsets && a->validity == b->validity && a->layout == b->layout &&
         a->num_children == 0 && a->dictionary == NULL;
}

/* Writes the indices of a piece. Those under nulls may be anything, and become 0. */
static void move_indices(const merger *m, const cst__piece *piece, uint8_t *to) {
  size_t width = cst_dtype_width(m->indices);
  const cst__view *view = piece->view;
  if (m->is_same && view->validity == NULL && piece->length > 0) {
    const uint8_t *from = view->data;
    memcpy(to, from + (size_t)(view->offset + piece->begin) * width, (size_t)piece->length * width);
    return;
  }
  for (int64_t i = piece->begin; i < piece->begin + piece->length; i++, to += width) {
    int64_t place = cst__view_is_null(view, i) ? 0 : m->places[cst__view_int(view, i)];
    memcpy(to, &place, width); /* little-endian: the low bytes */
  }
}

static cst_status merge_pieces(merger *m, const cst__level *level, struct ArrowArray *out,
                               cst_error *error) {
  size_t width = cst_dtype_width(m->indices);
  uint8_t *to = cst__level_take(out, 1, out->length, width, error);
  if (to == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < level->count; i++) {
    const cst__piece *piece = &level->pieces[i];
    if (m->values == NULL || !is_one_dictionary(m->values, piece->view->dictionary)) {
      CST__TRY(merge_dictionary(m, piece->view->dictionary, error));
    }
    move_indices(m, piece, to);
    to += (size_t)piece->length * width;
  }
  return CST_OK;
}

cst_status cst__merge_dictionaries(const cst__level *level, struct ArrowArray *out,
                                   cst__merged_values *values, cst_error *error) {
  const cst__view *first = level->pieces[0].view;
  merger m = {.allocator = level->allocator, .indices = first->dtype};
  cst_status status = add_value_run(&m, (cst__piece){first->dictionary, 0, 0}, error);
  if (status == CST_OK) {
    status = merge_pieces(&m, level, out, error);
  }
  cst__name_map_reset(&m.names);
  cst__delete(m.places);
  *values = (cst__merged_values){m.runs, m.num_runs};
  return status;
}
