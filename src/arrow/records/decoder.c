/* Records on their way into a decoder: copied where views would point at memory that does not stay;
 * those of an Arrow array are looked at in place, and kept alive where views point at them.
 */
#include "arrow/records/decoder.h"

#include "arrow/view.h"
#include "base/arguments.h"
#include "base/thread.h"

void cst_decoder_free(cst_decoder *decoder) {
  if (decoder != NULL) {
    decoder->type->free(decoder);
  }
}

cst_status cst_decoder_arrow_schema(const cst_decoder *decoder, struct ArrowSchema *out,
                                    cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(decoder, "decoder", out, error));
  return decoder->type->arrow_schema(decoder, out, error);
}

cst_status cst__decoder_share(const cst_decoder *decoder, cst_decoder **out, cst_error *error) {
  *out = NULL;
  return decoder->type->share(decoder, out, error);
}

cst_status cst__decoder_decode(cst_decoder *decoder, const cst__records *records,
                               struct ArrowSchema *out_schema, struct ArrowArray *out,
                               cst_error *error) {
  cst_error unseen = CST_ERROR_INIT; /* a decoder always has somewhere to write to */
  error = cst__error_wanted(error) ? error : &unseen;
  if (records->count >= INT32_MAX) {
    return cst__fail(error, CST_LIMIT, "use smaller batches", "a batch of %zu records",
                     records->count);
  }
  if (!decoder->views || records->num_blocks > 0) {
    return decoder->type->decode(decoder, records, out_schema, out, error);
  }
  cst__copied copied;
  CST__TRY(cst__records_copy(decoder->allocator, records, &copied, error));
  cst_status status = decoder->type->decode(decoder, &copied.records, out_schema, out, error);
  cst__copied_release(&copied);
  return status;
}

cst_status cst_decoder_decode(cst_decoder *decoder, const cst_bytes *records, size_t count,
                              struct ArrowSchema *out_schema, struct ArrowArray *out,
                              cst_error *error) {
  CST__CLEAR(out_schema);
  CST__CLEAR(out);
  CST__TRY(cst__records_check(decoder, records, count, error));
  const cst__records all = {.items = records, .count = count};
  return cst__decoder_decode(decoder, &all, out_schema, out, error);
}

/* ---- Arrow arrays ---- */

/* An array that was moved in, counted by the batches whose views point into it. */
typedef struct kept_array {
  cst__refcount owners;
  struct ArrowArray array;
} kept_array;

static void kept_retain(void *owner) { cst__refcount_up(&((kept_array *)owner)->owners); }

static void kept_release(void *owner) {
  kept_array *kept = owner;
  if (cst__refcount_down(&kept->owners)) {
    if (kept->array.release != NULL) {
      kept->array.release(&kept->array);
    }
    cst__delete(kept);
  }
}

/* What one call needs, freed together. */
typedef struct call {
  cst_decoder *decoder;
  cst__arena arena;
  cst__view view;
  cst_bytes *items;
  cst__block_ref *blocks;
  size_t num_blocks;
} call;

/* Records that lie one after the other, none of them null. */
static void items_by_offsets(const cst__view *v, cst_bytes *items) {
  int64_t begin = cst__view_entry(v->offsets, v->offset_width, v->offset);
  for (int64_t i = 0; i < v->length; i++) {
    int64_t end = cst__view_entry(v->offsets, v->offset_width, v->offset + i + 1);
    const uint8_t *data = end == begin ? NULL : (const uint8_t *)v->data + begin;
    items[i] = (cst_bytes){data, (size_t)(end - begin)};
    begin = end;
  }
}

static cst_status look_at_records(call *c, const struct ArrowSchema *schema,
                                  const struct ArrowArray *records, cst_error *error) {
  CST__TRY(cst__view_init_records(&c->view, schema, records, &c->arena, error));
  size_t count = (size_t)c->view.length;
  c->items = cst__arena_take(&c->arena, (count + 1) * sizeof *c->items);
  if (c->items == NULL) {
    return cst__fail_memory(error, (count + 1) * sizeof *c->items);
  }
  if (c->view.layout == CST__LAYOUT_BINARY) {
    items_by_offsets(&c->view, c->items);
    return CST_OK;
  }
  for (size_t i = 0; i < count; i++) {
    c->items[i] = cst__view_bytes(&c->view, (int64_t)i);
  }
  return CST_OK;
}

/* Cuts the records' one data buffer into blocks that 32-bit view offsets reach, at records. */
static cst_status cut_blocks(call *c, kept_array *kept, cst_error *error) {
  size_t count = (size_t)c->view.length;
  size_t room = 0;
  for (size_t i = 0; i < count; i++) {
    cst_bytes item = c->items[i];
    cst__block_ref *last = c->num_blocks > 0 ? &c->blocks[c->num_blocks - 1] : NULL;
    size_t reach = last != NULL ? (size_t)(item.data + item.size - last->data) : 0;
    if (item.size > INT32_MAX) {
      return cst__fail(error, CST_LIMIT, "decode without binary views", "a record of %zu bytes",
                       item.size);
    }
    if (last != NULL && reach <= INT32_MAX) {
      last->size = reach;
      continue;
    }
    void *blocks = c->blocks;
    if (!cst__grow(NULL, &blocks, &room, c->num_blocks + 1, sizeof *c->blocks)) {
      return cst__fail_memory(error, sizeof *c->blocks);
    }
    c->blocks = blocks;
    c->blocks[c->num_blocks++] =
        (cst__block_ref){item.data, item.size, kept, kept_retain, kept_release};
  }
  return CST_OK;
}

static cst_status decode_kept(call *c, struct ArrowArray *records, struct ArrowSchema *out_schema,
                              struct ArrowArray *out, cst_error *error) {
  kept_array *kept = cst__new_zero(NULL, sizeof *kept);
  if (kept == NULL) {
    return cst__fail_memory(error, sizeof *kept);
  }
  cst__refcount_init(&kept->owners);
  cst_status status = cut_blocks(c, kept, error);
  if (status == CST_OK) {
    cst__records all = {.items = c->items,
                        .count = (size_t)c->view.length,
                        .blocks = c->blocks,
                        .num_blocks = c->num_blocks};
    status = cst__decoder_decode(c->decoder, &all, out_schema, out, error);
  }
  if (status == CST_OK && out != NULL) {
    /* The batch holds a count by now; nobody releases it while this call lasts. */
    kept->array = *records;
    records->release = NULL;
  }
  kept_release(kept);
  return status;
}

cst_status cst_decoder_decode_arrow(cst_decoder *decoder, const struct ArrowSchema *schema,
                                    struct ArrowArray *records, struct ArrowSchema *out_schema,
                                    struct ArrowArray *out, cst_error *error) {
  CST__CLEAR(out_schema);
  CST__CLEAR(out);
  if (decoder == NULL || schema == NULL || records == NULL) {
    return cst__missing(decoder == NULL ? "decoder" : schema == NULL ? "schema" : "records", error);
  }
  call c = {.decoder = decoder};
  cst__arena_init(&c.arena, NULL);
  cst_status status = look_at_records(&c, schema, records, error);
  bool in_place = c.view.layout == CST__LAYOUT_BINARY && c.view.length > 0;
  if (status == CST_OK && in_place && decoder->views) {
    status = decode_kept(&c, records, out_schema, out, error);
  } else if (status == CST_OK) {
    cst__records all = {.items = c.items, .count = (size_t)c.view.length};
    status = cst__decoder_decode(decoder, &all, out_schema, out, error);
  }
  cst__delete(c.blocks);
  cst__arena_reset(&c.arena);
  return status;
}
