/* Units under CST_ON_ERROR_SKIP and CST_ON_ERROR_NULL: which of the records do not decode is found
 * out in linear time, by decoding each of them alone, and only for units of which one does not. */
#include "source/block/unit.h"

typedef struct trial {
  const cst__unit *unit;
  cst__decoding *decoding;
  cst__unit sound;  /* the records that decode, and all drops */
  cst__unit single; /* the record that is tried */
  size_t next_drop; /* of the unit's */
} trial;

/* Copies a record's run, or lengthens the last one by it. */
static bool keep_record(trial *t, const cst__run *run, size_t i) {
  cst__unit *sound = &t->sound;
  cst__run *last = sound->num_runs > 0 ? &sound->runs[sound->num_runs - 1] : NULL;
  if (last != NULL && i > 0 && last->block == run->block &&
      last->first + last->count == run->first + i) {
    last->count++;
    sound->rows++;
    return true;
  }
  return cst__unit_add(sound, t->decoding->source, run->block, run->first + i, 1);
}

/* Moves the unit's drops that come before its row. */
static bool move_unit_drops(trial *t, size_t row) {
  const cst__drops *drops = &t->unit->drops;
  while (t->next_drop < drops->count && drops->items[t->next_drop].before <= row) {
    cst__drop drop = drops->items[t->next_drop];
    drops->items[t->next_drop++].error = NULL;
    drop.before = t->sound.rows;
    if (!cst__drops_add(&t->sound.drops, &t->decoding->source->allocator, &drop)) {
      return false;
    }
  }
  return true;
}

static bool drop_bad_record(trial *t, const cst__run *run, size_t i, const cst_error *error) {
  const cst_source *source = t->decoding->source;
  const cst__frame *frame = &run->block->frames[run->first + i];
  cst__drop drop = {.kind = CST__DROP_RECORD,
                    .error = cst__error_keep(&source->allocator, error),
                    .before = t->sound.rows,
                    .file = run->file,
                    .record = run->record + i,
                    .offset = run->block->offset + cst__frame_start(frame),
                    .bytes = cst__frame_end(frame) - cst__frame_start(frame)};
  return drop.error != NULL && cst__drops_add(&t->sound.drops, &source->allocator, &drop);
}

static cst_status try_record(trial *t, const cst__run *run, size_t i, cst_error *error) {
  struct ArrowArray batch;
  struct ArrowSchema schema;
  bool types = t->decoding->purpose == CST__FOR_TYPES;
  if (!cst__unit_add(&t->single, t->decoding->source, run->block, run->first + i, 1)) {
    return cst__fail_memory(error, sizeof *run);
  }
  cst_status status = cst__unit_try(&t->single, t->decoding, types ? &schema : NULL, &batch, error);
  cst__unit_clear(&t->single);
  if (status == CST_OK) {
    batch.release(&batch);
    if (types) {
      schema.release(&schema);
    }
  }
  return status;
}

static cst_status try_run(trial *t, const cst__run *run, size_t row, cst_error *error) {
  for (size_t i = 0; i < run->count; i++) {
    cst_status status = try_record(t, run, i, error);
    if (status != CST_OK && !cst__is_fault(status)) {
      return status;
    }
    if (!move_unit_drops(t, row + i) ||
        !(status == CST_OK ? keep_record(t, run, i) : drop_bad_record(t, run, i, error))) {
      return cst__fail_memory(error, sizeof *run);
    }
  }
  return CST_OK;
}

static cst_status try_unit(trial *t, cst_error *error) {
  size_t row = 0;
  for (size_t i = 0; i < t->unit->num_runs; i++) {
    const cst__run *run = &t->unit->runs[i];
    CST__TRY(try_run(t, run, row, error));
    row += run->count;
  }
  return move_unit_drops(t, row) ? CST_OK : cst__fail_memory(error, sizeof(cst__drop));
}

/* The same, and what has become nulls is told. */
static cst_status decode_and_tell(cst__unit *unit, cst__decoding *decoding,
                                  struct ArrowSchema *out_schema, struct ArrowArray *out,
                                  cst_error *error) {
  CST__TRY(cst__unit_decode(unit, decoding, out_schema, out, error));
  cst_status status = cst__unit_take_bad(unit, decoding, error);
  if (status != CST_OK) {
    out->release(out);
    out->release = NULL;
    if (out_schema != NULL) {
      out_schema->release(out_schema);
    }
  }
  return status;
}

cst_status cst__unit_decode_sound(cst__unit *unit, cst__decoding *decoding,
                                  struct ArrowSchema *out_schema, struct ArrowArray *out,
                                  cst_error *error) {
  out->release = NULL;
  if (unit->rows == 0) {
    return CST_OK;
  }
  cst_error own = CST_ERROR_INIT;
  cst_status status = decode_and_tell(unit, decoding, out_schema, out, &own);
  if (status == CST_OK || !cst__is_fault(status)) {
    cst__error_copy(error, &own);
    return status;
  }
  trial t = {.unit = unit, .decoding = decoding};
  cst_status tried = try_unit(&t, &own);
  t.sound.bytes = unit->bytes;
  t.sound.by_bytes = unit->by_bytes;
  cst__unit_reset(unit);
  cst__unit_reset(&t.single);
  *unit = t.sound;
  if (tried != CST_OK) {
    cst__error_copy(error, &own);
    return tried;
  }
  return unit->rows > 0 ? decode_and_tell(unit, decoding, out_schema, out, error) : CST_OK;
}
