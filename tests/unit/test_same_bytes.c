/* The same input makes the same bytes: spare bits of bitmaps, values under nulls and padding are
 * never what memory held before. Every operation and every writer runs with two allocators, whose
 * fresh memory is filled differently, and all that comes out is compared byte by byte.
 */
#include <columnstone/accumulate.h>
#include <columnstone/lineage.h>
#include <columnstone/query.h>
#include <columnstone/sink.h>
#include <columnstone/statistics.h>
#include <columnstone/structured.h>

#include "array_layouts.h"
#include "array_sample.h"
#include "io_support.h"
#include "message_sample.h"

/* ---- memory that is not zero ---- */

static void *dirty_allocate(void *ctx, size_t size, size_t align) {
  void *block = NULL;
  if (posix_memalign(&block, align < sizeof block ? sizeof block : align, size + 1) != 0) {
    return NULL;
  }
  return memset(block, *(const unsigned char *)ctx, size + 1);
}

static void dirty_release(void *ctx, void *block, size_t size, size_t align) {
  (void)ctx, (void)size, (void)align;
  free(block);
}

static unsigned char fills[] = {0x00, 0xff, 0xa5};

static cst_allocator dirty(size_t i) {
  return (cst_allocator){sizeof(cst_allocator), dirty_allocate, dirty_release, &fills[i]};
}

/* ---- all bytes of an array ---- */

static void put_buffer(bytes *out, const void *data, int64_t size) {
  if (data != NULL && size > 0) bytes_add(out, data, (size_t)size);
}

static void put_view(bytes *out, const cst__view *v, const struct ArrowArray *array) {
  int64_t end = array->offset + array->length;
  if (v->layout != CST__LAYOUT_NULL && array->n_buffers > 0) {
    put_buffer(out, array->buffers[0], (end + 7) / 8);
  }
  switch (v->layout) {
    case CST__LAYOUT_BOOL:
      put_buffer(out, array->buffers[1], (end + 7) / 8);
      break;
    case CST__LAYOUT_NUMBER:
      put_buffer(out, array->buffers[1], end * (int64_t)cst_dtype_width(v->dtype));
      break;
    case CST__LAYOUT_HALF:
      put_buffer(out, array->buffers[1], end * 2);
      break;
    case CST__LAYOUT_FIXED_BINARY:
    case CST__LAYOUT_OPAQUE:
      put_buffer(out, array->buffers[1], end * v->fixed_size);
      break;
    case CST__LAYOUT_BINARY_VIEW:
      for (int64_t i = 0; i < array->length;
           i++) { /* references to buffers are no bytes of theirs */
        cst_bytes value = cst__view_bytes(v, i);
        if (value.size <= 12) {
          put_buffer(out, (const char *)array->buffers[1] + (array->offset + i) * 16, 16);
        } else {
          put_buffer(out, value.data, (int64_t)value.size);
        }
      }
      break;
    case CST__LAYOUT_LIST_VIEW:
      put_buffer(out, array->buffers[2], end * v->offset_width);
      put_buffer(out, array->buffers[1], end * v->offset_width);
      break;
    case CST__LAYOUT_LIST:
    case CST__LAYOUT_BINARY:
      if (array->length > 0) put_buffer(out, array->buffers[1], (end + 1) * v->offset_width);
      for (int64_t i = 0; v->layout == CST__LAYOUT_BINARY && i < array->length; i++) {
        cst_bytes value = cst__view_bytes(v, i);
        put_buffer(out, value.data, (int64_t)value.size);
      }
      break;
    default:
      break;
  }
  for (int64_t i = 0; i < array->n_children; i++) {
    put_view(out, &v->children[i], array->children[i]);
  }
}

static void put_array(bytes *out, cst_array *array) {
  struct ArrowArray exported;
  cst__arena arena;
  cst__view view;
  cst__arena_init(&arena, NULL);
  CHECK_EQ(cst_array_export(array, &exported, NULL), CST_OK);
  CHECK_EQ(cst__view_init(&view, cst_array_schema(array), &exported, false, &arena, NULL), CST_OK);
  put_view(out, &view, &exported);
  cst__arena_reset(&arena);
  exported.release(&exported);
  cst_array_release(array);
}

static cst_array *import(const array_layout *layout, const cst_allocator *allocator) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst_array *out;
  arrow_text(layout->type, layout->rows, &schema, &array);
  CHECK_EQ(cst_array_import(&schema, &array, 0, allocator, &out, NULL), CST_OK);
  ArrowSchemaRelease(&schema);
  return out;
}

/* ---- operations ---- */

/* Puts what an operation makes; nothing, where it does not take the type. */
typedef void (*operation)(cst_array *array, bytes *out);

/* `call` fills `made`. */
#define PUT_RESULT(out, made, call)                      \
  do {                                                   \
    cst_status made_status = (call);                     \
    if (made_status == CST_OK) put_array((out), (made)); \
  } while (0)

static void do_take(cst_array *array, bytes *out) {
  int64_t rows[70];
  cst_array *made;
  for (int i = 0; i < 70; i++) rows[i] = i % 3 == 2 ? -1 : (i * 7) % cst_array_length(array);
  for (size_t count = 1; count < 70; count += 6) {
    CHECK_EQ(cst_array_take(array, rows, count, &made, NULL), CST_OK);
    put_array(out, made);
  }
  CHECK_EQ(cst_array_take(array, (const int64_t[]){-1, -1, -1}, 3, &made, NULL), CST_OK);
  put_array(out, made);
  for (int i = 0; i < 70; i++) rows[i] = (i / 2) % cst_array_length(array);
  CHECK_EQ(cst_array_take(array, rows, 70, &made, NULL), CST_OK);
  put_array(out, made);
}

static void do_filter(cst_array *array, bytes *out) {
  uint8_t mask[16];
  cst_array *made;
  for (size_t i = 0; i < sizeof mask; i++) mask[i] = i % 2 == 0;
  CHECK_EQ(cst_array_filter(array, mask, &made, NULL), CST_OK);
  put_array(out, made);
}

static void do_slice(cst_array *array, bytes *out) {
  cst_array *made;
  CHECK_EQ(cst_array_slice(array, 1, 2, &made, NULL), CST_OK);
  put_array(out, made);
}

static void do_concat(cst_array *array, bytes *out) {
  cst_array *part, *made;
  CHECK_EQ(cst_array_slice(array, 1, 2, &part, NULL), CST_OK);
  const cst_array *parts[] = {part, array, part, part};
  for (size_t count = 1; count <= 4; count++) {
    CHECK_EQ(cst_array_concat(parts, count, &made, NULL), CST_OK);
    put_array(out, made);
  }
  cst_array_release(part);
}

static void do_lists(cst_array *array, bytes *out) {
  cst_array *values, *parents, *made;
  int64_t shape[8];
  size_t num_dims;
  PUT_RESULT(out, made, cst_array_element_lengths(array, &made, NULL));
  PUT_RESULT(out, made, cst_array_coordinates(array, &made, shape, 8, &num_dims, NULL));
  for (int levels = -1; levels < 2; levels++) {
    if (cst_array_flatten(array, levels, &values, &parents, NULL) == CST_OK) {
      PUT_RESULT(
          out, made,
          cst_array_from_parents(values, parents, cst_array_length(array) + 2, true, &made, NULL));
      put_array(out, values);
      put_array(out, parents);
    }
  }
}

static void do_nulls(cst_array *array, bytes *out) {
  cst_array *made, *fill;
  PUT_RESULT(out, made, cst_array_null_mask(array, &made, NULL));
  CHECK_EQ(cst_array_slice(array, 0, 1, &fill, NULL), CST_OK);
  PUT_RESULT(out, made, cst_array_fill_null(array, fill, &made, NULL));
  cst_array_release(fill);
}

static void do_columns(cst_array *array, bytes *out) {
  static const char *const steps[] = {"x"};
  static const cst_path path = {steps, 1};
  cst_array *made, *rows;
  cst_groups groups;
  PUT_RESULT(out, made, cst_array_child(array, 0, &made, NULL));
  if (cst_array_column(array, &path, &made, &rows, NULL) == CST_OK) {
    put_array(out, made);
    put_array(out, rows);
  }
  if (cst_array_group_by(array, &path, 1, &groups, NULL) == CST_OK) {
    put_array(out, groups.keys);
    put_array(out, groups.rows);
  }
}

static const operation operations[] = {do_take,  do_filter, do_slice,  do_concat,
                                       do_lists, do_nulls,  do_columns};

/* Compares what was made with each filling, and lets it go. */
static void check_same(bytes made[3], const char *what, size_t number, const char *type) {
  for (size_t f = 1; f < 3; f++) {
    if (made[f].size != made[0].size ||
        (made[0].size > 0 && memcmp(made[f].data, made[0].data, made[0].size) != 0)) {
      size_t at = 0;
      while (at < made[0].size && at < made[f].size && made[0].data[at] == made[f].data[at]) at++;
      fprintf(stderr, "%s %zu of %s: %zu and %zu bytes, from %zu on\n", what, number, type,
              made[0].size, made[f].size, at);
      CHECK(false);
    }
  }
  for (size_t f = 0; f < 3; f++) bytes_free(&made[f]);
}

TEST(operations_on_arrays) {
  for (size_t k = 0; k < sizeof operations / sizeof *operations; k++) {
    for (size_t i = 0; i < NUM_LAYOUTS; i++) {
      bytes made[3] = {{0}};
      for (size_t f = 0; f < 3; f++) {
        cst_allocator allocator = dirty(f);
        cst_array *array = import(&array_layouts[i], &allocator);
        operations[k](array, &made[f]);
        cst_array_release(array);
      }
      check_same(made, "operation", k, array_layouts[i].type);
    }
  }
}

/* ---- structured tensors ---- */

typedef cst_status (*tensor_operation)(const cst_structured *t, cst_structured **out);

static const char *const x_steps[] = {"x"};
static const char *const y_steps[] = {"y"};
static const cst_path own = {NULL, 0};
static const cst_path path_x = {x_steps, 1};
static const cst_path path_y = {y_steps, 1};

static cst_status do_field(const cst_structured *t, cst_structured **out) {
  return cst_structured_field(t, &path_x, out, NULL);
}
static cst_status do_only(const cst_structured *t, cst_structured **out) {
  return cst_structured_only(t, &path_y, 1, out, NULL);
}
static cst_status do_flat(const cst_structured *t, cst_structured **out) {
  return cst_structured_flat_values(t, out, NULL);
}
static cst_status do_join(const cst_structured *t, cst_structured **out) {
  const cst_structured *all[] = {t, t, t};
  return cst_structured_concat(all, 3, 0, out, NULL);
}
static cst_status do_join_inner(const cst_structured *t, cst_structured **out) {
  const cst_structured *all[] = {t, t};
  return cst_structured_concat(all, 2, -1, out, NULL);
}
static cst_status do_stack(const cst_structured *t, cst_structured **out) {
  const cst_structured *all[] = {t, t};
  return cst_structured_stack(all, 2, -1, out, NULL);
}
static cst_status do_tile(const cst_structured *t, cst_structured **out) {
  return cst_structured_tile(t, (const int64_t[]){2, 3, 2, 2, 2, 2, 2, 2}, out, NULL);
}
static cst_status do_expand(const cst_structured *t, cst_structured **out) {
  return cst_structured_expand_dims(t, -1, out, NULL);
}
static cst_status do_merge(const cst_structured *t, cst_structured **out) {
  return cst_structured_merge_dims(t, 0, 1, out, NULL);
}
static cst_status do_partition(const cst_structured *t, cst_structured **out) {
  return cst_structured_partition(t, NULL, 0, 1, out, NULL);
}
static cst_status do_lengths(const cst_structured *t, cst_structured **out) {
  return cst_structured_row_lengths(t, -1, out, NULL);
}
static cst_status do_like(const cst_structured *t, cst_structured **out) {
  return cst_structured_like(t, 0, out, NULL);
}
static cst_status do_test_null(const cst_structured *t, cst_structured **out) {
  return cst_structured_test_null(t, &own, CST_HAS, out, NULL);
}
static cst_status do_fill_lists(const cst_structured *t, cst_structured **out) {
  return cst_structured_fill_null_lists(t, out, NULL);
}
static cst_status do_drop(const cst_structured *t, cst_structured **out) {
  return cst_structured_drop_null(t, &own, out, NULL);
}
static cst_status do_reverse(const cst_structured *t, cst_structured **out) {
  return cst_structured_reverse(t, (const int[]){-1}, 1, out, NULL);
}
static cst_status do_stride(const cst_structured *t, cst_structured **out) {
  const cst_index_item items[] = {
      {.kind = CST_INDEX_ELLIPSIS},
      {.kind = CST_INDEX_SLICE, .begin = CST_INDEX_OPEN, .end = CST_INDEX_OPEN, .step = -2}};
  return cst_structured_index(t, items, 2, out, NULL);
}
static cst_status do_last(const cst_structured *t, cst_structured **out) {
  const cst_index_item items[] = {{.kind = CST_INDEX_SLICE, .begin = 1, .end = 3, .step = 1},
                                  {.kind = CST_INDEX_ELLIPSIS}};
  return cst_structured_index(t, items, 2, out, NULL);
}
static cst_status do_mask(const cst_structured *t, cst_structured **out) {
  cst_structured *condition = NULL;
  CST__TRY(cst_structured_test_null(t, &own, CST_HAS, &condition, NULL));
  cst_status status = cst_structured_mask(t, condition, out, NULL);
  cst_structured_release(condition);
  return status;
}
static cst_status do_where(const cst_structured *t, cst_structured **out) {
  cst_structured *condition = NULL;
  CST__TRY(cst_structured_test_null(t, &own, CST_IS_NULL, &condition, NULL));
  cst_status status = cst_structured_where(condition, t, t, out, NULL);
  cst_structured_release(condition);
  return status;
}
static cst_status do_places(const cst_structured *t, cst_structured **out) {
  cst_structured *condition = NULL;
  CST__TRY(cst_structured_test_null(t, &own, CST_HAS, &condition, NULL));
  cst_status status = cst_structured_true_places(condition, out, NULL);
  cst_structured_release(condition);
  return status;
}
static cst_status do_keep(const cst_structured *t, cst_structured **out) {
  cst_structured *condition = NULL;
  CST__TRY(cst_structured_test_null(t, &own, CST_HAS, &condition, NULL));
  cst_status status = cst_structured_boolean_mask(t, condition, 0, out, NULL);
  cst_structured_release(condition);
  return status;
}
static cst_status do_update(const cst_structured *t, cst_structured **out) {
  cst_structured *value = NULL;
  CST__TRY(cst_structured_field(t, &path_x, &value, NULL));
  const cst_field_update update = {path_y, value};
  cst_status status = cst_structured_update(t, &update, 1, out, NULL);
  cst_structured_release(value);
  return status;
}
static cst_status do_promote(const cst_structured *t, cst_structured **out) {
  const cst_field_copy copy = {.from = path_x, .to = own, .name = "new"};
  return cst_structured_promote_and_broadcast(t, &copy, 1, out, NULL);
}

static const tensor_operation tensor_operations[] = {
    do_field,     do_only,       do_flat,   do_join,      do_join_inner, do_stack,
    do_tile,      do_expand,     do_merge,  do_partition, do_lengths,    do_like,
    do_test_null, do_fill_lists, do_drop,   do_reverse,   do_stride,     do_last,
    do_mask,      do_where,      do_places, do_keep,      do_update,     do_promote};

TEST(operations_on_structured_tensors) {
  enum { NUM = sizeof tensor_operations / sizeof *tensor_operations };
  size_t done[NUM] = {0};
  for (size_t k = 0; k < NUM; k++) {
    for (size_t i = 0; i < NUM_LAYOUTS; i++) {
      bytes made[3] = {{0}};
      for (size_t f = 0; f < 3; f++) {
        cst_allocator allocator = dirty(f);
        cst_structured *tensor = NULL;
        cst_structured *result = NULL;
        cst_array *array = import(&array_layouts[i], &allocator);
        CHECK_EQ(cst_structured_new(array, false, &tensor, NULL), CST_OK);
        if (tensor_operations[k](tensor, &result) == CST_OK) {
          put_array(&made[f], cst_array_retain(cst_structured_array(result)));
          done[k]++;
        }
        cst_structured_release(result);
        cst_structured_release(tensor);
        cst_array_release(array);
      }
      check_same(made, "tensor operation", k, array_layouts[i].type);
    }
    CHECK(done[k] > 0);
  }
}

/* ---- views ---- */

static const char view_query[] = "from table\nkeep **\nlet y = id > 1\nlet n = size(list)\n"
                                 "output d = dense(id, default = 0)\noutput r = ragged(list)\n";

TEST(views) {
  static const array_layout batch = {"struct{id: int64, list: list<int32>, s: string, b: bool}",
                                     "{1, [1, 2], 'a', true} {2, [], null, null} "
                                     "{3, [5], 'c', null}"};
  bytes made[3] = {{0}};
  for (size_t f = 0; f < 3; f++) {
    cst_allocator allocator = dirty(f);
    cst_error error = CST_ERROR_INIT;
    struct ArrowSchema schema, type;
    struct ArrowArray array, out;
    cst_query *query;
    cst_view *view = NULL;
    cst_array *result;
    cst_view_options options = CST_VIEW_OPTIONS_INIT;
    arrow_text(batch.type, batch.rows, &schema, &array);
    CHECK_EQ(cst_query_from_text(view_query, sizeof view_query - 1, NULL, &query, &error), CST_OK);
    options.type = &schema;
    options.allocator = &allocator;
    cst_view_new(query, &options, &view, &error);
    CHECK_STR(error.message, "");
    cst_status applied = cst_view_apply(view, &schema, &array, NULL, &type, &out, &error);
    CHECK_STR(error.message, "");
    CHECK_EQ(applied, CST_OK);
    CHECK_EQ(cst_array_import(&type, &out, 0, NULL, &result, &error), CST_OK);
    put_array(&made[f], result);
    type.release(&type);
    cst_view_release(view);
    cst_query_free(query);
    ArrowSchemaRelease(&schema);
  }
  for (size_t f = 1; f < 3; f++) {
    CHECK_EQ(made[f].size, made[0].size);
    CHECK_MEM(made[f].data, made[0].data, made[0].size);
    bytes_free(&made[f]);
  }
  bytes_free(&made[0]);
}

/* ---- writers ---- */

static void read_whole(const char *path, bytes *out) {
  char part[4096];
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL);
  for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;) bytes_add(out, part, n);
  (void)fclose(file);
}

static cst_status write_file(const array_layout *layout, const char *path,
                             const cst_allocator *allocator) {
  /* Nothing is deflated, gzip neither: what ISA-L writes depends a little on the address of its
   * state. */
  static const cst_option plain = {"avro_codec", "null", "avro"};
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst_sink *sink = NULL;
  arrow_text(layout->type, layout->rows, &schema, &array);
  struct ArrowSchema *fields[] = {&schema};
  struct ArrowArray *columns[] = {&array};
  const void *no_nulls[] = {NULL};
  options.allocator = allocator;
  options.format_options = &plain;
  options.num_format_options = 1;
  CHECK_EQ(ArrowSchemaSetName(&schema, "a"), 0);
  struct ArrowSchema batch_schema = {.format = "+s",
                                     .name = "",
                                     .n_children = 1,
                                     .children = fields,
                                     .release = ArrowSchemaRelease};
  struct ArrowArray batch = {.length = array.length,
                             .n_buffers = 1,
                             .buffers = no_nulls,
                             .n_children = 1,
                             .children = columns,
                             .release = ArrowArrayRelease};
  cst_status status = cst_sink_open(path, &batch_schema, &options, &sink, NULL);
  for (int i = 0; i < 2 && status == CST_OK; i++) status = cst_sink_write(sink, &batch, NULL);
  if (status == CST_OK) { /* a slice: its bits begin in the middle of a byte */
    array.offset = 1;
    array.length = batch.length = 2;
    array.null_count = -1;
    status = cst_sink_write(sink, &batch, NULL);
  }
  if (status == CST_OK) status = cst_sink_finish(sink, NULL);
  cst_sink_free(sink);
  ArrowSchemaRelease(&schema);
  ArrowArrayRelease(&array);
  return status;
}

TEST(writers) {
  static const char *const names[] = {"out.arrow",    "out.arrows",       "out.arrow.zst",
                                      "out.jsonl",    "out.csv",          "out.csv.zst",
                                      "out.tfrecord", "out.tfrecord.zst", "out.avro"};
  size_t written = 0;
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    for (size_t i = 0; i < NUM_LAYOUTS; i++) {
      bytes made[3] = {{0}};
      cst_status status = CST_OK;
      for (size_t f = 0; f < 3; f++) {
        cst_allocator allocator = dirty(f);
        const char *path = harness_temp_path(names[k]);
        (void)remove(path);
        status = write_file(&array_layouts[i], path, &allocator);
        if (status == CST_OK) read_whole(path, &made[f]);
      }
      written += status == CST_OK;
      check_same(made, names[k], k, array_layouts[i].type);
    }
  }
  CHECK(written > 100);
}

/* Messages of all kinds of fields, as records and in the bytes of an encoder. */
TEST(messages) {
  static const array_layout batch = {
      "struct{an_int: int32, s: string, b: bool, d: float64, raw: binary, ints: list<int32>, "
      "kid: struct{s: string}, kids: list<struct{u: uint32}>}",
      "{1, 'a', true, 1.5, 'xy', [1, 2], {'k'}, [{1}, {2}]} {null, null, null, null, null, null, "
      "null, null} {3, '', false, null, '', [], {null}, [{null}]}"};
  cst_descriptors *set = sample_descriptors();
  bytes made[3] = {{0}};
  for (size_t f = 0; f < 3; f++) {
    cst_allocator allocator = dirty(f);
    cst_message_options message = CST_MESSAGE_OPTIONS_INIT;
    cst_encode_options options = CST_ENCODE_OPTIONS_INIT;
    cst_encoder *encoder = NULL;
    cst_error error = CST_ERROR_INIT;
    struct ArrowSchema schema, type;
    struct ArrowArray array, out;
    cst_array *records;
    arrow_text(batch.type, batch.rows, &schema, &array);
    message.descriptors = set;
    message.message = "t.M";
    options.allocator = &allocator;
    options.message = &message;
    (void)cst_encoder_new("message", &options, &encoder, &error);
    CHECK_STR(error.message, "");
    (void)cst_encoder_encode(encoder, &schema, &array, &type, &out, &error);
    CHECK_STR(error.message, "");
    CHECK_EQ(cst_array_import(&type, &out, 0, NULL, &records, &error), CST_OK);
    put_array(&made[f], records);
    type.release(&type);
    cst_encoder_free(encoder);
    ArrowSchemaRelease(&schema);
    ArrowArrayRelease(&array);
  }
  CHECK(made[0].size > 0);
  check_same(made, "messages", 0, batch.type);
  cst_descriptors_release(set);
}

static void put_tfdv(bytes *out, const cst_findings *features) {
  const cst_statistics_named table = {NULL, features};
  char *written;
  size_t size;
  CHECK_EQ(cst_statistics_to_tfdv(&table, 1, &written, &size, NULL), CST_OK);
  bytes_add(out, written, size);
  cst_free(written);
}

/* Statistics as they are saved, as TFDV's proto, and as what is read of that. */
TEST(statistics) {
  static const cst_option by = {"by", "s", NULL};
  bytes made[3] = {{0}};
  for (size_t f = 0; f < 3; f++) {
    cst_allocator allocator = dirty(f);
    struct ArrowSchema schema;
    struct ArrowArray array;
    cst_accumulator *accumulator;
    cst_findings *features, *read;
    char *saved;
    size_t size;
    arrow_text("struct{a: int64, s: string, l: list<float64>}",
               "{1, 'x', [1.5, null]} {null, 'y', []} {3, 'x', null}", &schema, &array);
    CHECK_EQ(cst_accumulator_new("statistics", &by, 1, &allocator, &accumulator, NULL), CST_OK);
    CHECK_EQ(cst_accumulator_add(accumulator, &schema, &array, NULL, -1, NULL), CST_OK);
    CHECK_EQ(cst_accumulator_to_bytes(accumulator, &saved, &size, NULL), CST_OK);
    bytes_add(&made[f], saved, size);
    cst_free(saved);
    CHECK_EQ(cst_accumulator_finish(accumulator, &features, NULL), CST_OK);
    size_t before = made[f].size;
    put_tfdv(&made[f], features);
    CHECK_EQ(cst_statistics_from_tfdv(made[f].data + before, made[f].size - before, NULL,
                                      &allocator, &read, NULL),
             CST_OK);
    put_tfdv(&made[f], read);
    cst_findings_free(read);
    cst_findings_free(features);
    cst_accumulator_free(accumulator);
    ArrowSchemaRelease(&schema);
    ArrowArrayRelease(&array);
  }
  CHECK(made[0].size > 0);
  check_same(made, "statistics", 0, "struct");
}

/* Pictures of a store, and its OpenLineage events. */
TEST(lineage) {
  static const char *const formats[] = {"html", "svg", "dot"};
  cst_lineage_options options = CST_LINEAGE_OPTIONS_INIT;
  cst_lineage_artifact data = CST_LINEAGE_ARTIFACT_INIT;
  cst_lineage_execution train = CST_LINEAGE_EXECUTION_INIT;
  cst_lineage_event input = {0, "examples"};
  cst_lineage *store;
  bytes made[3] = {{0}};
  int64_t run;
  data.type = "Data";
  data.name = "data";
  train.type = "train";
  train.inputs = &input;
  train.num_inputs = 1;
  options.mode = CST_LINEAGE_CREATE;
  CHECK_EQ(cst_lineage_open(harness_temp_path("lineage.db"), &options, &store, NULL), CST_OK);
  CHECK_EQ(cst_lineage_add(store, &data, &input.artifact, NULL, NULL), CST_OK);
  CHECK_EQ(cst_lineage_start(store, &train, &run, NULL), CST_OK);
  cst_lineage_free(store);
  for (size_t f = 0; f < 3; f++) {
    cst_allocator allocator = dirty(f);
    char *text;
    size_t size;
    options.mode = CST_LINEAGE_READ;
    options.allocator = &allocator;
    CHECK_EQ(cst_lineage_open(harness_temp_path("lineage.db"), &options, &store, NULL), CST_OK);
    for (size_t i = 0; i < 3; i++) {
      cst_lineage_graph_options picture = CST_LINEAGE_GRAPH_OPTIONS_INIT;
      picture.format = formats[i];
      CHECK_EQ(cst_lineage_graph(store, &picture, &text, &size, NULL), CST_OK);
      bytes_add(&made[f], text, size);
      cst_free(text);
    }
    CHECK_EQ(cst_lineage_openlineage(store, NULL, &text, &size, NULL), CST_OK);
    bytes_add(&made[f], text, size);
    cst_free(text);
    cst_lineage_free(store);
  }
  CHECK(made[0].size > 0);
  check_same(made, "lineage", 0, "store");
}
