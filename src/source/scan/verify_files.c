/* Verifying files: framing, both CRCs, and that every record parses; all faults, not only the
 * first. */
#include "source/scan/verify_files.h"

#include "source/block/unit.h"
#include "source/scan/count.h"

enum {
  MOST_ROWS = 1024 /* decoded at once: every name among them costs memory by their number */
};

typedef struct verification {
  const cst_source *source;
  cst__pool *pool;
  cst__decoding decoding;
  cst__unit unit; /* the records that are being decoded */
  const cst__scan_calls *calls;
  cst__scan_place place;
} verification;

static void report_fault(verification *v, const char *kind, const cst_error *error) {
  v->calls->on_fault(v->calls->ctx, kind, error);
}

static void report_dropped_record(verification *v, const cst__drop *drop) {
  cst_error error = CST_ERROR_INIT;
  cst__drop_explain(drop, v->source, &error);
  report_fault(v, cst__drop_name(drop, v->source), &error);
}

/* Checks that records [first, end) of a block decode. *bad: the record that does not decode, or
 * `end`. */
static cst_status decode_run(verification *v, cst__block *block, size_t first, size_t end,
                             size_t *bad, cst_error *error) {
  *bad = end;
  if (!cst__unit_add(&v->unit, v->source, block, first, end - first)) {
    return cst__fail_memory(error, sizeof(cst__run));
  }
  cst_status status = cst__unit_decode(&v->unit, &v->decoding, NULL, NULL, error);
  cst__unit_clear(&v->unit);
  if (cst__is_fault(status) && v->decoding.bad_row < end - first) {
    *bad = first + v->decoding.bad_row;
  }
  return status;
}

/* Decodes records whose CRCs are right, and goes on after each that does not parse. Without a
 * schema, a feature may have another type than in the records before: then decoding starts again
 * from there. */
static cst_status parse_run(verification *v, cst__block *block, size_t first, size_t end,
                            cst_error *error) {
  bool any_type = v->source->options.values.schema == NULL;
  while (first < end) {
    size_t bad;
    size_t until = end - first < MOST_ROWS ? end : first + MOST_ROWS;
    cst_status status = decode_run(v, block, first, until, &bad, error);
    if (status != CST_OK && bad == until) {
      return status;
    }
    if (status == CST_SCHEMA && any_type && bad > first) {
      first = bad;
      continue;
    }
    if (status != CST_OK) {
      report_fault(v, "record", error);
      bad++;
    }
    first = bad;
  }
  return CST_OK;
}

/* True if records whose CRCs are right may still be bad. */
static bool can_fail(const cst_source *source) { return source->inputs->format.payload->can_fail; }

/* The records between the dropped ones, and these, in their order. */
static cst_status verify_block(verification *v, cst__block *block, cst_error *error) {
  size_t first = 0;
  for (size_t i = 0; i <= block->drops.count; i++) {
    const cst__drop *drop = i < block->drops.count ? &block->drops.items[i] : NULL;
    size_t end = drop != NULL ? drop->before : block->num_frames;
    if (can_fail(v->source)) {
      CST__TRY(parse_run(v, block, first, end, error));
    }
    if (drop != NULL) {
      report_dropped_record(v, drop);
    }
    first = end;
  }
  return CST_OK;
}

/* Leaves with CST_OK at the end of the file, whether by a fault or not. */
static cst_status verify_file(verification *v, cst__cursor *cursor, cst__file_count *count,
                              cst_error *error) {
  for (;;) {
    cst__block *block;
    cst_status status = cst__cursor_fill(cursor, &block, error);
    count->file_bytes = cursor->consumed;
    count->stream_bytes = cursor->framing.offset - v->source->parts[cursor->framing.file].begin;
    if (status != CST_OK && cursor->framing.fault != NULL) {
      report_fault(v, cursor->framing.fault, error);
      return CST_OK;
    }
    if (status != CST_OK || block == NULL) {
      return status;
    }
    cst__count_block(count, v->source, cursor, block);
    v->place.records += block->num_frames;
    status = verify_block(v, block, error);
    cst__block_release(block);
    CST__TRY(status);
    CST__TRY(cst__scan_tell(v->calls, &v->place, cursor->consumed, 0, error));
  }
}

static cst_status verify_each_file(verification *v, cst_error *error) {
  for (size_t i = 0; i < v->source->num_parts; i++) {
    cst__file_count count = {.file = cst__source_name(v->source, i)};
    cst__cursor *cursor = cst__cursor_new(v->source, v->pool, i);
    if (cursor == NULL) {
      return cst__fail_memory(error, sizeof *cursor);
    }
    cst__framing_recover(&cursor->framing, true);
    cst_status status = verify_file(v, cursor, &count, error);
    cst__cursor_free(cursor);
    CST__TRY(status);
    v->place.bytes += count.file_bytes;
    v->calls->on_file(v->calls->ctx, &count);
  }
  return CST_OK;
}

cst_status cst__verify_in_order(const cst_source *source, const cst__scan_calls *calls,
                                cst_error *error) {
  cst_error own = CST_ERROR_INIT; /* faults have a place even if the caller wants no error */
  verification v = {.source = source, .calls = calls};
  v.decoding = (cst__decoding){.source = source, .purpose = CST__FOR_CHECK, .checked = true};
  v.pool = cst__pool_new(&source->allocator);
  if (v.pool == NULL) {
    return cst__fail_memory(error, sizeof(void *));
  }
  cst_status status = verify_each_file(&v, &own);
  cst__decoding_reset(&v.decoding);
  cst__unit_reset(&v.unit);
  cst__pool_release(v.pool);
  if (status != CST_OK) {
    cst__error_copy(error, &own);
  }
  return status;
}
