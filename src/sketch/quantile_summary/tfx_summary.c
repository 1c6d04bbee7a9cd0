/* Summaries as streams of tfx_bsl's message of quantiles (tfx_quantiles.c has its form), which says
 * all that they are: so both go on from there to the same values. */
#include <math.h>

#include "base/error.h"
#include "sketch/quantile_summary/summary.h"
#include "sketch/tfx_quantiles.h"

/* ---- reading ---- */

cst_status cst__tfx_summary_head(cst_bytes stream, double *eps, uint64_t *most, cst_error *error) {
  cst__wire wire = cst__wire_of(stream.data, stream.size);
  cst__wire_field field;
  *eps = 0;
  *most = 0;
  while (cst__wire_next(&wire, CST__DEPTH_LIMIT, &field)) {
    if (field.number == CST__TFX_STREAM_EPS && field.type == CST__WIRE_FIXED64) {
      memcpy(eps, &field.value, sizeof *eps);
    } else if (field.number == CST__TFX_STREAM_MOST && field.type == CST__WIRE_VARINT) {
      *most = field.value;
    }
  }
  bool fits = wire.fault == CST__WIRE_FAULT_NONE && isfinite(3 * *eps) && *eps > 0 && *most > 0 &&
              *most <= INT64_MAX;
  return fits ? CST_OK : cst__tfx_fail_bytes(error);
}

/* True if the first columns are as long as each other. */
static bool columns_fit(const cst__tfx_entries *e, size_t num_columns) {
  for (size_t i = 1; i < num_columns; i++) {
    if (e->columns[i].count != e->columns[0].count) {
      return false;
    }
  }
  return true;
}

static cst_status make_summary(const cst__tfx_entries *e, cst__summary *out, cst_error *error) {
  const size_t count = e->columns[CST__TFX_VALUES].count;
  *out = (cst__summary){NULL, 0};
  if (!columns_fit(e, CST__TFX_COLUMNS)) {
    return cst__tfx_fail_bytes(error);
  }
  out->entries = cst__new(&e->allocator, (count + 1) * sizeof *out->entries);
  if (out->entries == NULL) {
    return cst__fail_memory(error, count * sizeof *out->entries);
  }
  out->count = count;
  for (size_t i = 0; i < count; i++) {
    out->entries[i] = (cst__summary_entry){
        e->columns[CST__TFX_VALUES].items[i], e->columns[CST__TFX_WEIGHTS].items[i],
        e->columns[CST__TFX_MIN_RANKS].items[i], e->columns[CST__TFX_MAX_RANKS].items[i]};
  }
  return cst__summary_fits(out) ? CST_OK : cst__tfx_fail_bytes(error);
}

/* What a stream has, read from its message. */
typedef struct parts {
  cst__summary summaries[CST__SUMMARY_LEVELS + 1];
  size_t num_summaries;
  cst__tfx_entries buffer;
  bool is_compact;
} parts;

static void parts_reset(parts *p) {
  for (size_t i = 0; i < p->num_summaries; i++) {
    cst__summary_reset(&p->summaries[i]);
  }
  cst__tfx_entries_reset(&p->buffer);
}

static cst_status read_summary(parts *p, cst_bytes bytes, cst_error *error) {
  cst__tfx_entries e = {.allocator = p->buffer.allocator};
  if (p->num_summaries > CST__SUMMARY_LEVELS) {
    return cst__tfx_fail_bytes(error);
  }
  cst_status status = cst__tfx_entries_read(&e, bytes, CST__TFX_COLUMNS, error);
  if (status == CST_OK) {
    status = make_summary(&e, &p->summaries[p->num_summaries++], error);
  }
  cst__tfx_entries_reset(&e);
  return status;
}

static cst_status read_parts(parts *p, cst_bytes stream, cst_error *error) {
  cst__wire wire = cst__wire_of(stream.data, stream.size);
  cst__wire_field field;
  while (cst__wire_next(&wire, CST__DEPTH_LIMIT, &field)) {
    if (field.number == CST__TFX_STREAM_SUMMARIES && field.type == CST__WIRE_LEN) {
      CST__TRY(read_summary(p, field.bytes, error));
    } else if (field.number == CST__TFX_STREAM_BUFFER && field.type == CST__WIRE_LEN) {
      CST__TRY(cst__tfx_entries_read(&p->buffer, field.bytes, 2, error));
    } else if (field.number == CST__TFX_STREAM_COMPACTED && field.type == CST__WIRE_VARINT) {
      p->is_compact = field.value != 0;
    }
  }
  return wire.fault == CST__WIRE_FAULT_NONE && columns_fit(&p->buffer, 2)
             ? CST_OK
             : cst__tfx_fail_bytes(error);
}

/* ---- into a sketch ---- */

static cst_status push_buffer(cst__summary_sketch *s, const cst__tfx_entries *buffer,
                              cst_error *error) {
  for (size_t i = 0; i < buffer->columns[CST__TFX_VALUES].count; i++) {
    double value = buffer->columns[CST__TFX_VALUES].items[i];
    double weight = buffer->columns[CST__TFX_WEIGHTS].items[i];
    if (isnan(value) || !(weight > 0)) {
      return cst__tfx_fail_bytes(error);
    }
    CST__TRY(cst__summary_push(s, value, weight, error));
  }
  return CST_OK;
}

/* All but the last one become the levels; that one is empty where tfx_bsl wrote it. */
static cst_status take_levels(cst__summary_sketch *s, parts *p, cst_error *error) {
  while (s->num_levels + 1 < p->num_summaries) {
    cst__summary *from = &p->summaries[s->num_levels];
    s->levels[s->num_levels++] = *from;
    *from = (cst__summary){NULL, 0};
  }
  return cst__summary_sketch_settle(s) ? CST_OK : cst__tfx_fail_bytes(error);
}

static cst_status push_parts(cst__summary_sketch *s, parts *p, bool is_new, cst_error *error) {
  if (is_new) {
    CST__TRY(take_levels(s, p, error));
  }
  CST__TRY(push_buffer(s, &p->buffer, error));
  for (size_t i = 0; i < p->num_summaries; i++) {
    CST__TRY(cst__summary_push_summary(s, &p->summaries[i], error));
  }
  s->is_compact = s->is_compact || p->is_compact;
  return CST_OK;
}

cst_status cst__tfx_summary_read(cst__summary_sketch *s, cst_bytes stream, bool is_new,
                                 cst_error *error) {
  parts p = {.buffer.allocator = s->allocator};
  cst_status status = read_parts(&p, stream, error);
  if (status == CST_OK) {
    status = push_parts(s, &p, is_new, error);
  }
  parts_reset(&p);
  return status;
}

/* ---- writing, back to front ---- */

static double listed(const cst__summary_entry *e, size_t column) {
  return column == CST__TFX_VALUES      ? e->value
         : column == CST__TFX_WEIGHTS   ? e->weight
         : column == CST__TFX_MIN_RANKS ? e->low
                                        : e->high;
}

static void put_summary(cst__wire_out *out, const cst__summary *s) {
  const size_t summary = cst__wire_out_size(out);
  for (size_t column = CST__TFX_COLUMNS; column-- > 0 && s->count > 0;) {
    const size_t from = cst__wire_out_size(out);
    for (size_t i = s->count; i-- > 0;) {
      cst__tfx_put_double(out, listed(&s->entries[i], column));
    }
    cst__tfx_put_message(out, (uint32_t)column + 1, from);
  }
  cst__tfx_put_message(out, CST__TFX_STREAM_SUMMARIES, summary);
}

static void put_buffer(cst__wire_out *out, const cst__summary_sketch *s) {
  const size_t buffer = cst__wire_out_size(out);
  for (uint32_t column = 2; column-- > 0 && s->num_buffered > 0;) {
    const size_t from = cst__wire_out_size(out);
    for (size_t i = s->num_buffered; i-- > 0;) {
      cst__tfx_put_double(out,
                          column == CST__TFX_VALUES ? s->buffer[i].value : s->buffer[i].weight);
    }
    cst__tfx_put_message(out, column + 1, from);
  }
  cst__tfx_put_message(out, CST__TFX_STREAM_BUFFER, buffer);
}

void cst__tfx_summary_put(cst__wire_out *out, const cst__summary_sketch *s) {
  static const cst__summary none = {NULL, 0};
  const size_t stream = cst__wire_out_size(out);
  if (s->is_compact) {
    cst__wire_put_varint(out, 1);
    cst__wire_put_tag(out, CST__TFX_STREAM_COMPACTED, CST__WIRE_VARINT);
  }
  cst__wire_put_varint(out, s->most);
  cst__wire_put_tag(out, CST__TFX_STREAM_MOST, CST__WIRE_VARINT);
  cst__tfx_put_double(out, s->eps);
  cst__wire_put_tag(out, CST__TFX_STREAM_EPS, CST__WIRE_FIXED64);
  put_buffer(out, s);
  put_summary(out, &none); /* what tfx_bsl has just made: nothing */
  for (size_t i = s->num_levels; i-- > 0;) {
    put_summary(out, &s->levels[i]);
  }
  cst__tfx_put_message(out, 1, stream);
}
