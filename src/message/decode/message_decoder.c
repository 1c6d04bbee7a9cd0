/* Records of messages to batches: the loop over them, and what becomes of bad ones. */
#include "message/decode/decode.h"

#include <string.h>

#include "base/cpu_features.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/prefetch.h"
#include "message/decode/message_loop.h"
#include "message/text/record_text.h"
#include "proto/confluent.h"
#include "proto/fast_wire.h"

enum {
  RECORD_WORK = 64,  /* that a record makes besides its bytes */
  FETCH_BYTES = 1024 /* of the next record are asked for ahead */
};

typedef struct message_decoder {
  cst_decoder base; /* first */
  cst__message_plan *plan;
  cst__batch_builder *batch;
  cst__loop loop;
  cst__confluent *confluent;       /* of records with such a prefix; else NULL */
  cst__record_text *text;          /* of records in the text format or JSON; else NULL */
  cst__bad_record_callback on_bad; /* NULL: a bad record is an error */
  void *on_bad_ctx;
} message_decoder;

cst__loop_run cst__loop_best(void) {
#if defined(CST__HAVE_V3)
  if (cst__cpu_has(CST__CPU_V3)) {
    return cst__loop_run_v3;
  }
#endif
  return cst__loop_run_base;
}

/* ---- one record ---- */

/* A row whose slots nobody appends. */
static cst_status append_absent_row(message_decoder *d, cst_error *error) {
  return cst__builder_end_struct(d->batch->root) ? CST_OK
                                                 : cst__batch_builder_fail(d->batch, error);
}

/* A row of nulls; the columns are nullable. */
static cst_status append_null_row(message_decoder *d, cst_error *error) {
  cst__builder *root = d->batch->root;
  for (size_t i = 0; i < root->num_children; i++) {
    cst__builder *column = &root->children[i];
    if (!cst__builder_pad(column, root->length) || !cst__builder_append_null(column)) {
      return cst__batch_builder_fail(d->batch, error);
    }
  }
  return cst__builder_end_struct(root) ? CST_OK : cst__batch_builder_fail(d->batch, error);
}

static bool is_of_record(cst_status status) {
  return status == CST_CORRUPT || status == CST_SCHEMA;
}

/* Once more, in normal form. */
static cst_status decode_slow(message_decoder *d, cst_bytes record, cst__builder_mark mark) {
  cst__loop *loop = &d->loop;
  cst_bytes normal;
  cst__batch_builder_rollback(d->batch, mark);
  loop->depth = CST__DEPTH_LIMIT;
  CST__TRY(cst__loop_normalise(loop, loop->root->plan, record, &normal));
  loop->is_normal = true;
  bool ok = loop->run(loop, loop->root, normal.data, normal.data + normal.size);
  loop->is_normal = false;
  if (ok) {
    return CST_OK;
  }
  return loop->stop == CST__STOP_FAILED
             ? loop->error->code
             : cst__fail(loop->error, CST_CORRUPT, NULL, "not a valid %s",
                         loop->root->plan->def->full_name);
}

/* After the loop has stopped within a record. */
static __attribute__((noinline)) cst_status decode_stopped(message_decoder *d, cst_bytes record,
                                                           cst__builder_mark mark) {
  cst__loop *loop = &d->loop;
  cst_status status =
      loop->stop == CST__STOP_FAILED ? loop->error->code : decode_slow(d, record, mark);
  cst__arena_reset(&loop->scratch);
  return status;
}

/* A message in the wire format. */
static inline cst_status decode_wire(message_decoder *d, const uint8_t *at, size_t size,
                                     cst__builder_mark mark) {
  cst__loop *loop = &d->loop;
  loop->depth = CST__DEPTH_LIMIT;
  if (LIKELY(loop->run(loop, loop->root, at, at + size))) {
    return CST_OK;
  }
  return decode_stopped(d, (cst_bytes){at, size}, mark);
}

static cst_status decode_one(message_decoder *d, const uint8_t *at, size_t size) {
  cst__loop *loop = &d->loop;
  cst__builder_mark mark = cst__batch_builder_mark(d->batch);
  cst_bytes message = {at, size};
  cst_status status = CST_OK;
  if (UNLIKELY(d->text != NULL)) {
    status = cst__record_text_read(d->text, message, SLACK, &message, loop->error);
  } else if (UNLIKELY(d->confluent != NULL)) {
    status = cst__confluent_strip(d->confluent, message, &message, loop->error);
  }
  if (LIKELY(status == CST_OK)) {
    status = decode_wire(d, message.data, message.size, mark);
  }
  if (status == CST_OK) {
    return CST_OK;
  }
  cst__batch_builder_rollback(d->batch, mark);
  cst__error_forget_record(loop->error);
  cst__error_add_record(loop->error, mark.rows, -1);
  if (d->on_bad == NULL || !is_of_record(status)) {
    return status;
  }
  d->on_bad(d->on_bad_ctx, loop->error);
  return append_null_row(d, loop->error);
}

/* ---- all records ---- */

static bool is_there(const cst__records *records, size_t i) {
  return records->validity == NULL || (records->validity[i >> 3] >> (i & 7) & 1);
}

/* Two buffers take turns, so that a record is copied while the one before it is decoded. */
static __attribute__((noinline)) const uint8_t *copy_with_slack(message_decoder *d,
                                                                const cst_bytes *record, size_t i) {
  return cst__buffer_copy(&d->loop.allocator, &d->loop.bytes[i & 1], *record, SLACK);
}

/* The record where the loop may read over its end: most often in place. NULL: no memory. */
ALWAYS_INLINE const uint8_t *with_slack(message_decoder *d, const cst__records *records, size_t i) {
  const cst_bytes *record = &records->items[i];
  bool in_place = record->size > 0 && cst__records_have_slack(records, i, SLACK);
  return LIKELY(in_place) ? record->data : copy_with_slack(d, record, i);
}

static cst_status decode_all(message_decoder *d, const cst__records *records, cst_error *error) {
  size_t done = 0;
  CST__TRY(cst__loop_begin(&d->loop, error));
  const uint8_t *next = records->count > 0 ? with_slack(d, records, 0) : NULL;
  for (size_t i = 0; i < records->count; i++) {
    size_t size = records->items[i].size;
    const uint8_t *at = next;
    if (i + 2 < records->count) {
      cst__prefetch(records->items[i + 2].data, records->items[i + 2].size, FETCH_BYTES);
    }
    if (i + 1 < records->count) {
      next = with_slack(d, records, i + 1);
    }
    if (at == NULL) {
      return cst__fail_memory(error, size);
    }
    CST__TRY(LIKELY(is_there(records, i)) ? decode_one(d, at, size) : append_absent_row(d, error));
    if (UNLIKELY(cst__stretch_is_over(&done, size + RECORD_WORK))) {
      CST__TRY(cst__interrupted(error));
    }
  }
  return CST_OK;
}

static cst_status decode_messages(cst_decoder *decoder, const cst__records *records,
                                  struct ArrowSchema *out_schema, struct ArrowArray *out,
                                  cst_error *error) {
  message_decoder *d = (message_decoder *)decoder;
  d->loop.error = error;
  cst_status status = decode_all(d, records, error);
  if (status != CST_OK) {
    cst__batch_builder_rollback(d->batch, (cst__builder_mark){0, 0});
    return status;
  }
  return cst__batch_builder_deliver(d->batch, out_schema, out, error);
}

/* ---- life ---- */

static void free_messages(cst_decoder *decoder) {
  message_decoder *d = (message_decoder *)decoder;
  cst__loop_reset(&d->loop);
  cst__delete(d->confluent);
  if (d->text != NULL) {
    cst__record_text_reset(d->text);
    cst__delete(d->text);
  }
  cst__batch_builder_free(d->batch);
  cst__message_plan_release(d->plan);
  cst__delete(d);
}

static void on_bad_messages(cst_decoder *decoder, cst__bad_record_callback on_bad, void *ctx) {
  message_decoder *d = (message_decoder *)decoder;
  d->on_bad = on_bad;
  d->on_bad_ctx = ctx;
}

static cst_status messages_schema(const cst_decoder *decoder, struct ArrowSchema *out,
                                  cst_error *error) {
  return cst__type_export(&((const message_decoder *)decoder)->plan->type, out, error);
}

static cst_status share_messages(const cst_decoder *decoder, cst_decoder **out, cst_error *error) {
  return cst__message_decoder_open(((const message_decoder *)decoder)->plan, out, error);
}

static const cst__decoder_type message_type = {
    .decode = decode_messages,
    .arrow_schema = messages_schema,
    .share = share_messages,
    .on_bad = on_bad_messages,
    .free = free_messages,
};

static cst_status expect_confluent(message_decoder *d, cst_error *error) {
  d->confluent = cst__new(&d->plan->allocator, sizeof *d->confluent);
  if (d->confluent == NULL) {
    return cst__fail_memory(error, sizeof *d->confluent);
  }
  bool has_place = d->plan->options.form == CST_MESSAGE_CONFLUENT;
  d->confluent->depth = has_place ? cst__descriptors_place(d->plan->options.descriptors,
                                                           d->plan->root->def, d->confluent->place)
                                  : 0;
  return CST_OK;
}

static cst_status expect_text(message_decoder *d, cst_error *error) {
  const cst_message_options *options = &d->plan->options;
  d->text = cst__new(&d->plan->allocator, sizeof *d->text);
  if (d->text == NULL) {
    return cst__fail_memory(error, sizeof *d->text);
  }
  cst__record_text_init(d->text, options, d->plan->root->def, &d->plan->allocator);
  d->text->wanted = &d->plan->root->pruned;
  return CST_OK;
}

cst_status cst__message_decoder_open(cst__message_plan *plan, cst_decoder **out, cst_error *error) {
  *out = NULL;
  message_decoder *d = cst__new_zero(&plan->allocator, sizeof *d);
  if (d == NULL) {
    return cst__fail_memory(error, sizeof *d);
  }
  d->base = (cst_decoder){.type = &message_type, .allocator = &plan->allocator};
  d->plan = cst__message_plan_retain(plan);
  cst_status status = cst__batch_builder_new(&plan->type, &plan->allocator, &d->batch, error);
  if (status == CST_OK) {
    status = cst__loop_init(&d->loop, plan, d->batch, error);
  }
  if (status == CST_OK && (plan->options.form == CST_MESSAGE_CONFLUENT ||
                           plan->options.form == CST_MESSAGE_CONFLUENT_PLAIN)) {
    status = expect_confluent(d, error);
  }
  if (status == CST_OK && cst__form_is_text(plan->options.form)) {
    status = expect_text(d, error);
  }
  if (status != CST_OK) {
    free_messages(&d->base);
    return status;
  }
  *out = &d->base;
  return CST_OK;
}
