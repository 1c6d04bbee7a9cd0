/* Decoding single records: what stands before a value, the schema that it names, and the steps that
 * read what that schema wrote into the columns of the reader's. */
#include "avro/avro_records.h"

#include <inttypes.h>
#include <string.h>

#include "arrow/view.h"
#include "avro/avro_known.h"
#include "avro/avro_program.h"
#include "base/interrupt.h"
#include "base/thread.h"

enum { RECORD_WORK = 64 /* that a record makes besides its bytes */ };

/* What decoders share; not changed once it is made. */
typedef struct record_plan {
  cst__refcount owners;
  cst_allocator allocator;
  cst__avro_framing framing;
  cst__avro_known known;
  size_t plain; /* of known schemas: of records that name none */
  cst__avro_columns columns;
} record_plan;

/* The steps of one writer's schema, or why there are none. */
typedef struct resolved {
  cst__avro_program program;
  cst_error why;
} resolved;

typedef struct record_decoder {
  cst_decoder base; /* first */
  record_plan *plan;
  cst__batch_builder *batch;
  resolved **resolved;             /* of each known schema; NULL: nothing has named it yet */
  cst__buffer copy;                /* of a record that has no slack behind it */
  cst__bad_record_callback on_bad; /* NULL: a bad record is an error */
  void *on_bad_ctx;
  cst__avro_loop loop;
} record_decoder;

/* ---- the plan ---- */

static void release_plan(record_plan *plan) {
  if (plan != NULL && cst__refcount_down(&plan->owners)) {
    cst__avro_columns_reset(&plan->columns);
    cst__avro_known_reset(&plan->known);
    cst__delete(plan);
  }
}

/* *reader: of known schemas: whose columns are made. */
static cst_status add_schemas(record_plan *plan, const cst__avro_record_options *options,
                              size_t *reader, cst_error *error) {
  cst__avro_known *known = &plan->known;
  size_t writer = SIZE_MAX;
  *reader = SIZE_MAX;
  if (options->schemas.data != NULL) {
    CST__TRY(cst__avro_known_add_table(known, options->schemas, error));
  }
  size_t first = known->count > 0 ? 0 : SIZE_MAX;
  if (options->writer.data != NULL) {
    CST__TRY(cst__avro_known_add(known, options->writer, &writer, error));
    first = writer;
  }
  if (options->schema.data != NULL) {
    CST__TRY(cst__avro_known_add(known, options->schema, reader, error));
    first = *reader;
  }
  if (first == SIZE_MAX) {
    return cst__fail(error, CST_INVALID_ARGUMENT,
                     "pass avro_schema, or a table of schemas as avro_schemas",
                     "Avro records need a schema, and none is given");
  }
  *reader = first;
  plan->plain = writer != SIZE_MAX ? writer : first;
  return CST_OK;
}

static cst_status fill_plan(record_plan *plan, const cst__avro_record_options *options,
                            cst_error *error) {
  size_t reader;
  CST__TRY(add_schemas(plan, options, &reader, error));
  CST__TRY(cst__avro_columns_init(&plan->columns, &plan->known.items[reader]->schema,
                                  &options->columns, &plan->allocator, error));
  cst__type *top = &plan->columns.arrow;
  for (size_t i = 0; options->nullable_columns && i < top->num_children; i++) {
    top->children[i].flags |= ARROW_FLAG_NULLABLE;
  }
  return CST_OK;
}

static cst_status make_plan(const cst__avro_record_options *options, record_plan **out,
                            cst_error *error) {
  record_plan *plan = cst__new_zero(options->allocator, sizeof *plan);
  if (plan == NULL) {
    return cst__fail_memory(error, sizeof *plan);
  }
  cst__refcount_init(&plan->owners);
  plan->allocator = plan->known.allocator = cst__allocator_of(options->allocator);
  plan->framing = options->framing;
  cst_status status = fill_plan(plan, options, error);
  if (status != CST_OK) {
    release_plan(plan);
    return status;
  }
  *out = plan;
  return CST_OK;
}

/* ---- which schema ---- */

static cst_status fail_unknown(cst__avro_framing framing, uint64_t id, cst_error *error) {
  return framing == CST__AVRO_SINGLE_OBJECT
             ? cst__fail(error, CST_SCHEMA, "pass the schema in avro_schemas, a list of schemas",
                         "unknown schema, fingerprint %016" PRIx64, id)
             : cst__fail(error, CST_SCHEMA, "pass the schema in avro_schemas, by its id",
                         "unknown schema id %" PRIu64, id);
}

/* A record that begins as a single object of a known schema does is one: a plain value that begins
 * so would have to have its fingerprint. */
static bool is_single_object(const record_plan *plan, cst_bytes record, size_t *found) {
  uint64_t id;
  if (record.size < CST__AVRO_MOST_PREFIX || record.data[0] != 0xc3 || record.data[1] != 0x01 ||
      cst__avro_prefix_read(CST__AVRO_SINGLE_OBJECT, record, &id, NULL) != CST_OK) {
    return false;
  }
  *found = cst__avro_known_fingerprint(&plan->known, id);
  return *found != SIZE_MAX;
}

/* Takes the prefix off. *writer: of known schemas. */
static cst_status take_prefix(const record_plan *plan, cst_bytes *record, size_t *writer,
                              cst_error *error) {
  cst__avro_framing framing = plan->framing;
  uint64_t id;
  *writer = plan->plain;
  if (framing == CST__AVRO_AUTO) {
    size_t skipped = is_single_object(plan, *record, writer) ? CST__AVRO_MOST_PREFIX : 0;
    *writer = skipped > 0 ? *writer : plan->plain;
    *record = (cst_bytes){record->data + skipped, record->size - skipped};
    return CST_OK;
  }
  if (framing == CST__AVRO_NO_PREFIX) {
    return CST_OK;
  }
  CST__TRY(cst__avro_prefix_read(framing, *record, &id, error));
  *writer = framing == CST__AVRO_SINGLE_OBJECT ? cst__avro_known_fingerprint(&plan->known, id)
                                               : cst__avro_known_number(&plan->known, id);
  if (*writer == SIZE_MAX) {
    return fail_unknown(framing, id, error);
  }
  size_t skipped = cst__avro_prefix_size(framing);
  *record = (cst_bytes){record->data + skipped, record->size - skipped};
  return CST_OK;
}

/* The steps for what this schema wrote, made once. */
static cst_status resolve(record_decoder *d, size_t writer, const cst__avro_program **out,
                          cst_error *error) {
  const record_plan *plan = d->plan;
  resolved *made = d->resolved[writer];
  if (made == NULL) {
    made = cst__new_zero(&plan->allocator, sizeof *made);
    if (made == NULL) {
      return cst__fail_memory(error, sizeof *made);
    }
    made->why = (cst_error)CST_ERROR_INIT;
    cst_status status =
        cst__avro_program_init(&made->program, &plan->known.items[writer]->schema, &plan->columns,
                               d->batch, &plan->allocator, &made->why);
    made->why.code = status;
    if (status == CST_NO_MEMORY) {
      cst__error_copy(error, &made->why);
      cst__avro_program_reset(&made->program);
      cst__delete(made);
      return status;
    }
    d->resolved[writer] = made;
  }
  *out = &made->program;
  if (made->why.code != CST_OK) {
    cst__error_copy(error, &made->why);
  }
  return made->why.code;
}

/* ---- one record ---- */

/* The value where the loop may read over its end. NULL: no memory. */
static const uint8_t *with_slack(record_decoder *d, const cst__records *records, size_t i,
                                 cst_bytes value) {
  return value.size > 0 && cst__records_have_slack(records, i, CST__AVRO_SLACK)
             ? value.data
             : cst__buffer_copy(&d->plan->allocator, &d->copy, value, CST__AVRO_SLACK);
}

static cst_status run(record_decoder *d, const cst__avro_program *program, const uint8_t *at,
                      size_t size, cst_error *error) {
  cst__avro_loop *loop = &d->loop;
  const uint8_t *where = at;
  loop->program = program;
  loop->batch = d->batch;
  loop->at = at;
  loop->end = at + size;
  CST__TRY(cst__avro_loop_run(loop, 1, &where, error));
  return loop->at == loop->end ? CST_OK
                               : cst__fail(error, CST_CORRUPT,
                                           "the schema does not match the record, or a prefix "
                                           "precedes its value: set avro_framing",
                                           "trailing bytes after the value of a record");
}

static cst_status decode_value(record_decoder *d, const cst__records *records, size_t i,
                               cst_error *error) {
  cst_bytes value = records->items[i];
  size_t writer;
  const cst__avro_program *program = NULL;
  CST__TRY(take_prefix(d->plan, &value, &writer, error));
  CST__TRY(resolve(d, writer, &program, error));
  const uint8_t *at = with_slack(d, records, i, value);
  return at != NULL ? run(d, program, at, value.size, error) : cst__fail_memory(error, value.size);
}

/* Children of structs get the slots that they lack: the steps append where they are. */
static bool align(cst__builder *builder) {
  bool ok = true;
  bool is_struct = builder->type->layout == CST__LAYOUT_STRUCT;
  for (size_t i = 0; is_struct && ok && i < builder->num_children; i++) {
    ok = cst__builder_pad(&builder->children[i], builder->length) && align(&builder->children[i]);
  }
  return ok;
}

static cst_status append_null_row(record_decoder *d, cst_error *error) {
  cst__builder *root = d->batch->root;
  bool ok = true;
  for (size_t i = 0; ok && i < root->num_children; i++) {
    ok = cst__builder_append_null(&root->children[i]) && align(&root->children[i]);
  }
  return ok && cst__builder_end_struct(root) ? CST_OK : cst__batch_builder_fail(d->batch, error);
}

static cst_status decode_one(record_decoder *d, const cst__records *records, size_t i,
                             cst_error *error) {
  cst__builder_mark mark = cst__batch_builder_mark(d->batch);
  cst_status status = decode_value(d, records, i, error);
  if (status == CST_OK) {
    return CST_OK;
  }
  cst__batch_builder_rollback(d->batch, mark);
  cst__error_forget_record(error);
  cst__error_add_record(error, mark.rows, -1);
  if (d->on_bad == NULL || !cst__is_fault(status)) {
    return status;
  }
  d->on_bad(d->on_bad_ctx, error);
  return append_null_row(d, error);
}

/* ---- all records ---- */

static cst_status decode_all(record_decoder *d, const cst__records *records, cst_error *error) {
  size_t done = 0;
  for (size_t i = 0; i < records->count; i++) {
    CST__TRY(decode_one(d, records, i, error));
    if (cst__stretch_is_over(&done, records->items[i].size + RECORD_WORK)) {
      CST__TRY(cst__interrupted(error));
    }
  }
  return CST_OK;
}

static cst_status decode_records(cst_decoder *decoder, const cst__records *records,
                                 struct ArrowSchema *out_schema, struct ArrowArray *out,
                                 cst_error *error) {
  record_decoder *d = (record_decoder *)decoder;
  cst_status status = decode_all(d, records, error);
  if (status != CST_OK) {
    cst__batch_builder_rollback(d->batch, (cst__builder_mark){0, 0});
    return status;
  }
  return cst__batch_builder_deliver(d->batch, out_schema, out, error);
}

/* ---- life ---- */

static void free_records(cst_decoder *decoder) {
  record_decoder *d = (record_decoder *)decoder;
  for (size_t i = 0; d->resolved != NULL && i < d->plan->known.count; i++) {
    if (d->resolved[i] != NULL) {
      cst__avro_program_reset(&d->resolved[i]->program);
      cst__delete(d->resolved[i]);
    }
  }
  cst__delete(d->resolved);
  cst__buffer_free(&d->plan->allocator, &d->copy);
  cst__batch_builder_free(d->batch);
  release_plan(d->plan);
  cst__delete(d);
}

static void on_bad_records(cst_decoder *decoder, cst__bad_record_callback on_bad, void *ctx) {
  record_decoder *d = (record_decoder *)decoder;
  d->on_bad = on_bad;
  d->on_bad_ctx = ctx;
}

static cst_status records_schema(const cst_decoder *decoder, struct ArrowSchema *out,
                                 cst_error *error) {
  return cst__type_export(&((const record_decoder *)decoder)->plan->columns.arrow, out, error);
}

static cst_status share_records(const cst_decoder *decoder, cst_decoder **out, cst_error *error);

static const cst__decoder_type record_type = {
    .decode = decode_records,
    .arrow_schema = records_schema,
    .share = share_records,
    .on_bad = on_bad_records,
    .free = free_records,
};

/* Takes the plan over. */
static cst_status open_plan(record_plan *plan, cst_decoder **out, cst_error *error) {
  *out = NULL;
  record_decoder *d = cst__new_zero(&plan->allocator, sizeof *d);
  if (d == NULL) {
    release_plan(plan);
    return cst__fail_memory(error, sizeof *d);
  }
  d->base = (cst_decoder){.type = &record_type, .allocator = &plan->allocator};
  d->plan = plan;
  size_t size = plan->known.count * sizeof(resolved *);
  d->resolved = cst__new_zero(&plan->allocator, size);
  cst_status status =
      d->resolved != NULL
          ? cst__batch_builder_new(&plan->columns.arrow, &plan->allocator, &d->batch, error)
          : cst__fail_memory(error, size);
  if (status != CST_OK) {
    free_records(&d->base);
    return status;
  }
  *out = &d->base;
  return CST_OK;
}

static cst_status share_records(const cst_decoder *decoder, cst_decoder **out, cst_error *error) {
  record_plan *plan = ((const record_decoder *)decoder)->plan;
  cst__refcount_up(&plan->owners);
  return open_plan(plan, out, error);
}

cst_status cst__avro_records_new(const cst__avro_record_options *options, cst_decoder **out,
                                 cst_error *error) {
  record_plan *plan = NULL;
  CST__TRY(make_plan(options, &plan, error));
  return open_plan(plan, out, error);
}
