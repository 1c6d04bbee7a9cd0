/* Quantiles as tfx_bsl saves them, read and written: what caches of TensorFlow Transform hold.
 *
 * A message of streams, one for each column that was counted together:
 *
 *   Quantiles  1 streams
 *   Stream     1 summaries  2 buffer  3 eps  4 max_num_elements  5 compacted
 *   Summary    1 values  2 weights  3 min_ranks  4 max_ranks
 *   Buffer     1 values  2 weights
 *
 * The weight of all that is at most a summary's value lies between its min_rank + weight and its
 * max_rank: half way between them is what is taken for it. The last summary is one that tfx_bsl has
 * just made and empties at once; what stands in it when values are added is lost, so ours is the
 * one before it.
 */
#include "sketch/tfx_quantiles.h"

#include <math.h>
#include <stdio.h>

#include "base/arguments.h"
#include "base/real.h"
#include "sketch/quantile_summary/summary.h"
#include "sketch/quantiles_sketch.h"

static const uint64_t most_elements = UINT64_C(1) << 32;

/* ---- reading ---- */

void cst__tfx_entries_reset(cst__tfx_entries *e) {
  for (size_t i = 0; i < CST__TFX_COLUMNS; i++) {
    cst__delete(e->columns[i].items);
  }
}

cst_status cst__tfx_fail_bytes(cst_error *error) {
  return cst__fail(error, CST_CORRUPT, "pass the bytes that tfx_bsl pickled",
                   "these bytes are not quantiles saved by tfx_bsl");
}

static cst_status append_double(cst__tfx_entries *e, cst__tfx_doubles *to, uint64_t bits,
                                cst_error *error) {
  void *items = to->items;
  if (!cst__grow(&e->allocator, &items, &to->capacity, to->count + 1, sizeof *to->items)) {
    return cst__fail_memory(error, to->count * sizeof *to->items);
  }
  to->items = items;
  memcpy(&to->items[to->count++], &bits, sizeof bits);
  return CST_OK;
}

static cst_status read_column(cst__tfx_entries *e, const cst__wire_field *field, cst_error *error) {
  cst__tfx_doubles *to = &e->columns[field->number - 1];
  if (field->type == CST__WIRE_FIXED64) {
    return append_double(e, to, field->value, error);
  }
  if (field->type != CST__WIRE_LEN || field->bytes.size % sizeof(double) != 0) {
    return cst__tfx_fail_bytes(error);
  }
  cst__wire packed = cst__wire_of(field->bytes.data, field->bytes.size);
  uint64_t bits;
  while (packed.at < packed.end && cst__wire_fixed64(&packed, &bits)) {
    CST__TRY(append_double(e, to, bits, error));
  }
  return CST_OK;
}

cst_status cst__tfx_entries_read(cst__tfx_entries *e, cst_bytes bytes, uint32_t num_columns,
                                 cst_error *error) {
  cst__wire wire = cst__wire_of(bytes.data, bytes.size);
  cst__wire_field field;
  while (cst__wire_next(&wire, CST__DEPTH_LIMIT, &field)) {
    if (field.number <= num_columns) {
      CST__TRY(read_column(e, &field, error));
    }
  }
  return wire.fault == CST__WIRE_FAULT_NONE ? CST_OK : cst__tfx_fail_bytes(error);
}

/* True if all columns are as long, and hold what they may. */
static bool entries_fit(const cst__tfx_entries *e, size_t num_columns) {
  size_t count = e->columns[CST__TFX_VALUES].count;
  for (size_t column = 0; column < num_columns; column++) {
    const cst__tfx_doubles *d = &e->columns[column];
    if (d->count != count) {
      return false;
    }
    for (size_t i = 0; i < count; i++) {
      bool fits = column == CST__TFX_VALUES ? d->items[i] == d->items[i]
                                            : isfinite(d->items[i]) && d->items[i] >= 0;
      if (!fits) {
        return false;
      }
    }
  }
  return true;
}

/* Makes weights of the ranks of a summary: what lies between a value and the one before. */
static void weigh(cst__tfx_entries *e) {
  double before = 0;
  for (size_t i = 0; i < e->columns[CST__TFX_VALUES].count; i++) {
    double low = e->columns[CST__TFX_MIN_RANKS].items[i] + e->columns[CST__TFX_WEIGHTS].items[i];
    double upto = low + (e->columns[CST__TFX_MAX_RANKS].items[i] - low) / 2;
    upto = upto > before ? upto : before;
    e->columns[CST__TFX_WEIGHTS].items[i] = upto - before;
    before = upto;
  }
}

static void release_array(struct ArrowArray *array) { array->release = NULL; }
static void release_schema(struct ArrowSchema *schema) { schema->release = NULL; }

static cst_status add_entries(cst_sketch *sketch, const cst__tfx_entries *e, cst_error *error) {
  struct ArrowSchema schema = {.format = "g", .name = "", .release = release_schema};
  struct ArrowArray arrays[2];
  const void *buffers[2][2];
  for (size_t i = 0; i < 2; i++) {
    buffers[i][0] = NULL;
    buffers[i][1] = e->columns[i].items;
    arrays[i] = (struct ArrowArray){.length = (int64_t)e->columns[i].count,
                                    .n_buffers = 2,
                                    .buffers = buffers[i],
                                    .release = release_array};
  }
  return e->columns[CST__TFX_VALUES].count == 0
             ? CST_OK
             : cst_sketch_add(sketch, &schema, &arrays[CST__TFX_VALUES], &schema,
                              &arrays[CST__TFX_WEIGHTS], error);
}

/* A summary, or a buffer, which has no ranks. */
static cst_status read_part(cst_sketch *sketch, cst_bytes bytes, uint32_t num_columns,
                            cst_error *error) {
  cst__tfx_entries e = {.allocator = cst__default_allocator};
  cst_status status = cst__tfx_entries_read(&e, bytes, num_columns, error);
  if (status == CST_OK && !entries_fit(&e, num_columns)) {
    status = cst__tfx_fail_bytes(error);
  }
  if (status == CST_OK) {
    if (num_columns == CST__TFX_COLUMNS) {
      weigh(&e);
    }
    status = add_entries(sketch, &e, error);
  }
  cst__tfx_entries_reset(&e);
  return status;
}

static cst_status read_stream(cst_sketch *sketch, cst_bytes bytes, cst_error *error) {
  cst__wire wire = cst__wire_of(bytes.data, bytes.size);
  cst__wire_field field;
  while (cst__wire_next(&wire, CST__DEPTH_LIMIT, &field)) {
    if (field.number == CST__TFX_STREAM_SUMMARIES || field.number == CST__TFX_STREAM_BUFFER) {
      if (field.type != CST__WIRE_LEN) {
        return cst__tfx_fail_bytes(error);
      }
      CST__TRY(read_part(sketch, field.bytes,
                         field.number == CST__TFX_STREAM_SUMMARIES ? CST__TFX_COLUMNS : 2, error));
    }
  }
  return wire.fault == CST__WIRE_FAULT_NONE ? CST_OK : cst__tfx_fail_bytes(error);
}

/* One of the streams, and how many there are; no bytes for one that there is not. */
static cst_status find_stream(cst_bytes message, size_t stream, cst_bytes *out, size_t *num_streams,
                              cst_error *error) {
  cst__wire wire = cst__wire_of(message.data, message.size);
  cst__wire_field field;
  cst_bytes found = {NULL, 0};
  size_t count = 0;
  while (cst__wire_next(&wire, CST__DEPTH_LIMIT, &field)) {
    if (field.number == 1 && field.type == CST__WIRE_LEN) {
      found = count == stream ? field.bytes : found;
      count++;
    }
  }
  if (wire.fault != CST__WIRE_FAULT_NONE) {
    return cst__tfx_fail_bytes(error);
  }
  *out = found;
  *num_streams = count;
  return CST_OK;
}

static cst_status add_summary(cst_sketch *sketch, cst_bytes stream, bool is_new, cst_error *error) {
  const cst__family family = cst__sketch_family(sketch);
  if (family != CST__FAMILY_NONE && family != CST__FAMILY_FLOAT) {
    return cst__fail(error, CST_SCHEMA, NULL, "a sketch of %s cannot take doubles as well",
                     cst__family_name(family));
  }
  return cst__tfx_summary_read(cst__sketch_fill(sketch, CST__FAMILY_FLOAT), stream, is_new, error);
}

cst_status cst_sketch_add_tfx_bsl_stream(cst_sketch *sketch, cst_bytes bytes, size_t stream,
                                         size_t *num_streams, cst_error *error) {
  const void *state;
  const cst__summary_sketch *summary;
  cst_bytes found = {NULL, 0};
  size_t count = 0;
  CST__CLEAR(num_streams);
  CST__TRY(cst__check_given(bytes.data, "bytes", num_streams, error));
  bool is_summary = cst__summary_of(sketch, &summary, NULL) == CST_OK;
  if (!is_summary) {
    CST__TRY(cst__sketch_state(sketch, &cst__quantiles_kind, &state, error));
  }
  CST__TRY(find_stream(bytes, stream, &found, &count, error));
  if (stream < count) {
    CST__TRY(is_summary ? add_summary(sketch, found, false, error)
                        : read_stream(sketch, found, error));
  }
  *num_streams = count;
  return CST_OK;
}

/* A sketch of the kind "quantile_summary" with the options of a stream, which it becomes. */
static cst_status new_summary(cst_bytes stream, const cst_allocator *allocator, cst_sketch **out,
                              cst_error *error) {
  char digits[2][CST__REAL_ROOM];
  double eps;
  uint64_t most;
  CST__TRY(cst__tfx_summary_head(stream, &eps, &most, error));
  cst__real_print(digits[0], 3 * eps);
  (void)snprintf(digits[1], sizeof digits[1], "%llu", (unsigned long long)most);
  const cst_option options[] = {{"error", digits[0], NULL}, {"most", digits[1], NULL}};
  CST__TRY(cst_sketch_new(cst__summary_kind.name, options, 2, allocator, out, error));
  cst__summary_sketch_init(cst__sketch_fill(*out, CST__FAMILY_NONE), eps, most, allocator);
  cst_status status = add_summary(*out, stream, true, error);
  if (status != CST_OK) {
    cst_sketch_free(*out);
    *out = NULL;
  }
  return status;
}

cst_status cst_sketch_from_tfx_bsl_stream(cst_bytes bytes, size_t stream,
                                          const cst_allocator *allocator, cst_sketch **out,
                                          size_t *num_streams, cst_error *error) {
  cst_bytes found = {NULL, 0};
  size_t count = 0;
  CST__CLEAR(out);
  CST__CLEAR(num_streams);
  if (bytes.data == NULL || out == NULL || num_streams == NULL) {
    return cst__missing(bytes.data == NULL ? "bytes" : out == NULL ? "out" : "num_streams", error);
  }
  CST__TRY(cst__check_allocator(allocator, error));
  CST__TRY(find_stream(bytes, stream, &found, &count, error));
  if (stream < count) {
    CST__TRY(new_summary(found, allocator, out, error));
  }
  *num_streams = count;
  return CST_OK;
}

/* ---- writing, back to front ---- */

void cst__tfx_put_message(cst__wire_out *out, uint32_t number, size_t from) {
  cst__wire_put_varint(out, cst__wire_out_size(out) - from);
  cst__wire_put_tag(out, number, CST__WIRE_LEN);
}

void cst__tfx_put_double(cst__wire_out *out, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  cst__wire_put_fixed64(out, bits);
}

/* What a summary of a view holds: its keys, and the least and the greatest value, which it need not
 * have; those get a sliver of their neighbour's weight. */
typedef struct listing {
  const cst__quantiles_view *view;
  bool adds_least;
  size_t count;
} listing;

static listing list_view(const cst__quantiles_view *view) {
  listing l = {view, false, view->count};
  if (view->count > 0) {
    l.adds_least = view->keys[0] != view->least;
    l.count += (size_t)l.adds_least + (size_t)(view->keys[view->count - 1] != view->most);
  }
  return l;
}

/* The weight up to the i-th of a listing; 0 for SIZE_MAX. */
static double listed_upto(const listing *l, size_t i) {
  const double sliver = 0x1p-10;
  const cst__quantiles_view *view = l->view;
  size_t at = i - l->adds_least;
  bool adds_most = l->count > view->count + l->adds_least;
  if (i == SIZE_MAX) {
    return 0;
  }
  if (l->adds_least && i == 0) {
    return view->upto[0] * sliver;
  }
  if (adds_most && i == l->count - 2) {
    double before = view->count > 1 ? view->upto[view->count - 2] : 0;
    return view->upto[at] - (view->upto[at] - before) * sliver;
  }
  return at < view->count ? view->upto[at] : view->upto[view->count - 1];
}

static double listed(const listing *l, size_t column, size_t i) {
  double before = listed_upto(l, i - 1);
  switch (column) {
    case CST__TFX_VALUES: {
      size_t at = i - l->adds_least;
      uint64_t key = l->adds_least && i == 0 ? l->view->least
                     : at < l->view->count   ? l->view->keys[at]
                                             : l->view->most;
      return cst__quantiles_double(l->view->family, key);
    }
    case CST__TFX_WEIGHTS:
      return listed_upto(l, i) - before;
    case CST__TFX_MIN_RANKS:
      return before;
    default:
      return listed_upto(l, i);
  }
}

static void put_summary(cst__wire_out *out, const cst__quantiles_view *view) {
  size_t summary = cst__wire_out_size(out);
  const listing l = list_view(view);
  for (size_t column = CST__TFX_COLUMNS; column-- > 0 && l.count > 0;) {
    size_t from = cst__wire_out_size(out);
    for (size_t i = l.count; i-- > 0;) {
      cst__tfx_put_double(out, listed(&l, column, i));
    }
    cst__tfx_put_message(out, (uint32_t)column + 1, from);
  }
  cst__tfx_put_message(out, CST__TFX_STREAM_SUMMARIES, summary);
}

static cst_status put_stream(cst__wire_out *out, const cst_sketch *sketch, cst_error *error) {
  static const cst__quantiles_view none = {.count = 0};
  const cst__summary_sketch *summary;
  cst__quantiles_view view;
  double eps;
  if (cst__summary_of(sketch, &summary, NULL) == CST_OK) {
    cst__tfx_summary_put(out, summary);
    return CST_OK;
  }
  CST__TRY(cst__quantiles_view_of(sketch, &view, &eps, error));
  size_t stream = cst__wire_out_size(out);
  cst__wire_put_varint(out, most_elements);
  cst__wire_put_tag(out, CST__TFX_STREAM_MOST, CST__WIRE_VARINT);
  cst__tfx_put_double(out, eps / 3); /* as tfx_bsl shares it out */
  cst__wire_put_tag(out, CST__TFX_STREAM_EPS, CST__WIRE_FIXED64);
  cst__tfx_put_message(out, CST__TFX_STREAM_BUFFER, cst__wire_out_size(out));
  put_summary(out, &none);
  if (view.count > 0) {
    put_summary(out, &view);
  }
  cst__tfx_put_message(out, 1, stream);
  cst__quantiles_view_reset(&view);
  return CST_OK;
}

cst_status cst_sketch_to_tfx_bsl_streams(const cst_sketch *const *sketches, size_t num_sketches,
                                         char **bytes, size_t *size, cst_error *error) {
  CST__CLEAR(bytes);
  CST__CLEAR(size);
  if (sketches == NULL || bytes == NULL || size == NULL) {
    return cst__missing(sketches == NULL ? "sketches" : bytes == NULL ? "bytes" : "size", error);
  }
  cst__wire_out out = {0};
  for (size_t i = num_sketches; i-- > 0;) {
    cst_status status = put_stream(&out, sketches[i], error);
    if (status != CST_OK) {
      cst__wire_out_free(&out);
      return status;
    }
  }
  return cst__wire_out_finish(&out, bytes, size, error);
}
