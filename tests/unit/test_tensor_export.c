/* Arrays handed over as DLPack and Arrow: contents, owners, copies. */
#include "tensor/dlpack.h"
#include "tensor_text.h"

typedef struct cst__dl_versioned versioned;
typedef struct cst__dl_managed managed;

static void make_dense(tensor_fixture *f) {
  fixture_make(f, "struct{x: large_list<float32>}", "{[1, 2]} {[3, 4]} {[5, 6]}",
               FLOAT("x") DENSE(DIM("2")));
  CHECK_EQ(fixture_convert(f), CST_OK);
}

static const cst_ndarray *values_of(const tensor_fixture *f) {
  return &cst_tensors_find(f->tensors, "t")->values;
}

TEST(dlpack_shares_the_values) {
  tensor_fixture f;
  void *out = NULL;
  make_dense(&f);
  const cst_ndarray *values = values_of(&f);
  CHECK_EQ(cst_ndarray_to_dlpack(values, f.tensors, false, &out, NULL), CST_OK);
  versioned *v = out;
  CHECK_EQ(v->major, 1);
  CHECK_EQ(v->flags, DLPACK_READ_ONLY);
  CHECK(v->tensor.data == values->data);
  CHECK_EQ(v->tensor.device.device_type, DLPACK_CPU);
  CHECK_EQ(v->tensor.dtype.code, DLPACK_FLOAT);
  CHECK_EQ(v->tensor.dtype.bits, 32);
  CHECK_EQ(v->tensor.dtype.lanes, 1);
  CHECK_EQ(v->tensor.ndim, 2);
  CHECK_EQ(v->tensor.shape[0], 3);
  CHECK_EQ(v->tensor.shape[1], 2);
  CHECK_EQ(v->tensor.strides[0], 2);
  CHECK_EQ(v->tensor.strides[1], 1);
  CHECK_EQ(v->tensor.byte_offset, 0);
  cst_tensors_release(f.tensors);
  CHECK_EQ(f.releases, 0); /* the capsule keeps the batch alive */
  CHECK_DOUBLE((double)((float *)v->tensor.data)[5], 6.0);
  v->deleter(v);
  CHECK_EQ(f.releases, 1);
  f.tensors = NULL;
  f.releases = 0;
  fixture_drop(&f);
}

TEST(dlpack_copies_when_asked) {
  tensor_fixture f;
  void *out = NULL;
  make_dense(&f);
  const cst_ndarray *values = values_of(&f);
  CHECK_EQ(cst_ndarray_to_dlpack(values, f.tensors, true, &out, NULL), CST_OK);
  versioned *v = out;
  CHECK_EQ(v->flags, DLPACK_IS_COPIED);
  CHECK(v->tensor.data != values->data);
  CHECK_EQ((uintptr_t)v->tensor.data % 64, 0);
  CHECK_MEM(v->tensor.data, values->data, 24);
  ((float *)v->tensor.data)[0] = 7;
  v->deleter(v);
  fixture_drop(&f);
}

TEST(dlpack_before_1_0) {
  tensor_fixture f;
  void *out = NULL;
  make_dense(&f);
  for (int copy = 0; copy < 2; copy++) {
    CHECK_EQ(cst_ndarray_to_dlpack_unversioned(values_of(&f), f.tensors, copy, &out, NULL), CST_OK);
    managed *m = out;
    CHECK_EQ(m->tensor.data == values_of(&f)->data, !copy);
    CHECK_MEM(m->tensor.data, values_of(&f)->data, 24);
    m->deleter(m);
  }
  fixture_drop(&f);
}

TEST(dlpack_of_every_type) {
  struct {
    const char *type;
    int code;
    int bits;
  } types[] = {{"int8", DLPACK_INT, 8},       {"uint8", DLPACK_UINT, 8},
               {"int16", DLPACK_INT, 16},     {"uint16", DLPACK_UINT, 16},
               {"int32", DLPACK_INT, 32},     {"uint32", DLPACK_UINT, 32},
               {"int64", DLPACK_INT, 64},     {"uint64", DLPACK_UINT, 64},
               {"float64", DLPACK_FLOAT, 64}, {"bool", DLPACK_BOOL, 8}};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    tensor_fixture f;
    char type[64];
    void *out = NULL;
    struct ArrowSchema schema;
    struct ArrowArray array;
    snprintf(type, sizeof type, "struct{x: list<%s>}", types[i].type);
    fixture_make(&f, type, "{[1]} {[2]}",
                 types[i].code == DLPACK_FLOAT ? FLOAT("x") DENSE("") : INT("x") DENSE(""));
    CHECK_EQ(fixture_convert(&f), CST_OK);
    CHECK_EQ(cst_ndarray_to_dlpack(values_of(&f), f.tensors, false, &out, NULL), CST_OK);
    versioned *v = out;
    CHECK_EQ(v->tensor.dtype.code, types[i].code);
    CHECK_EQ(v->tensor.dtype.bits, types[i].bits);
    v->deleter(v);
    CHECK_EQ(cst_ndarray_to_arrow(values_of(&f), f.tensors, &schema, &array, NULL), CST_OK);
    CHECK_STR(schema.format, f.schema.children[0]->children[0]->format);
    schema.release(&schema);
    array.release(&array);
    fixture_drop(&f);
  }
}

TEST(arrow_has_bools_as_bits) {
  tensor_fixture f;
  struct ArrowSchema schema;
  struct ArrowArray array;
  fixture_make(&f, "struct{x: list<bool>}", "{[1, 0, 1, 1]} {[0, 1, 0, 0]} {[1, 0, 0, 1]}",
               INT("x") DENSE(DIM("4")));
  CHECK_EQ(fixture_convert(&f), CST_OK);
  CHECK_EQ(cst_ndarray_to_arrow(values_of(&f), f.tensors, &schema, &array, NULL), CST_OK);
  const uint8_t *bits = array.buffers[1];
  CHECK_STR(schema.format, "b");
  CHECK_EQ(array.length, 12);
  CHECK_EQ(bits[0], 0x2d);
  CHECK_EQ(bits[1], 0x09);
  array.release(&array);
  schema.release(&schema);
  fixture_drop(&f);
}

TEST(strings_have_no_dlpack) {
  tensor_fixture f;
  void *out = NULL;
  fixture_make(&f, "struct{x: list<string>}", "{['a']}", BYTES("x") DENSE(""));
  CHECK_EQ(fixture_convert(&f), CST_OK);
  CHECK_EQ(cst_ndarray_to_dlpack(values_of(&f), f.tensors, true, &out, &f.error), CST_UNSUPPORTED);
  CHECK(f.error.hint[0] != '\0');
  fixture_drop(&f);
}

TEST(arrow_shares_numbers) {
  tensor_fixture f;
  struct ArrowSchema schema;
  struct ArrowArray array;
  make_dense(&f);
  const void *data = values_of(&f)->data;
  CHECK_EQ(cst_ndarray_to_arrow(values_of(&f), f.tensors, &schema, &array, NULL), CST_OK);
  CHECK_EQ(array.length, 6);
  CHECK_EQ(array.null_count, 0);
  CHECK(array.buffers[1] == data);
  cst_tensors_release(f.tensors);
  CHECK_EQ(f.releases, 0);
  array.release(&array);
  schema.release(&schema);
  CHECK_EQ(f.releases, 1);
  f.tensors = NULL;
  f.releases = 0;
  fixture_drop(&f);
}

TEST(arrow_shares_strings_that_lie_in_a_row) {
  static const char *const types[] = {"struct{x: list<string>}",
                                      "struct{x: large_list<large_binary>}",
                                      "struct{x: list<fixed_binary[2]>}"};
  for (int i = 0; i < 3; i++) {
    tensor_fixture f;
    struct ArrowSchema schema;
    struct ArrowArray array;
    fixture_make(&f, types[i], "{['aa']} {['bb']} {['cc']} {['dd']}", BYTES("x") DENSE(""));
    arrow_text_slice(&f.array, 1, 2);
    CHECK_EQ(fixture_convert(&f), CST_OK);
    CHECK_EQ(cst_ndarray_to_arrow(values_of(&f), f.tensors, &schema, &array, NULL), CST_OK);
    const char *bytes = f.array.children[0]->children[0]->buffers[i < 2 ? 2 : 1];
    CHECK(array.buffers[2] == bytes + 2);
    CHECK_STR(schema.format, "Z");
    CHECK_EQ(((const int64_t *)array.buffers[1])[0], 0);
    CHECK_EQ(((const int64_t *)array.buffers[1])[2], 4);
    cst_tensors_release(f.tensors);
    f.tensors = NULL;
    CHECK_EQ(f.releases, 0);
    array.release(&array);
    CHECK_EQ(f.releases, 1);
    schema.release(&schema);
    f.releases = 0;
    fixture_drop(&f);
  }
}

TEST(arrow_copies_scattered_strings) {
  tensor_fixture f;
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst__arena arena = {0};
  cst__view view;
  fixture_make(&f, "struct{x: list<string>}", "{['bcd']} {null} {['']} {['e']}",
               BYTES("x") DENSE_OR("", "bytes_value: 'none'"));
  CHECK_EQ(fixture_convert(&f), CST_OK);
  CHECK_EQ(cst_ndarray_to_arrow(values_of(&f), f.tensors, &schema, &array, NULL), CST_OK);
  cst_tensors_release(f.tensors);
  CHECK_EQ(f.releases, 1);
  f.tensors = NULL;
  cst__arena_init(&arena, NULL);
  CHECK_EQ(cst__view_init(&view, &schema, &array, false, &arena, NULL), CST_OK);
  CHECK_EQ(view.length, 4);
  CHECK_MEM(cst__view_bytes(&view, 0).data, "bcd", 3);
  CHECK_MEM(cst__view_bytes(&view, 1).data, "none", 4);
  CHECK_EQ(cst__view_bytes(&view, 2).size, 0);
  CHECK_MEM(cst__view_bytes(&view, 3).data, "e", 1);
  cst__arena_reset(&arena);
  array.release(&array);
  schema.release(&schema);
  f.releases = 0;
  fixture_drop(&f);
}

TEST(empty_arrays) {
  tensor_fixture f;
  void *out = NULL;
  struct ArrowSchema schema;
  struct ArrowArray array;
  fixture_make(&f, "struct{x: list<int64>, s: list<string>}", "{[], []}",
               INT("x") BYTES("s") VARLEN);
  CHECK_EQ(fixture_convert(&f), CST_OK);
  CHECK_EQ(cst_ndarray_to_dlpack(values_of(&f), f.tensors, false, &out, NULL), CST_OK);
  versioned *v = out;
  CHECK(v->tensor.data != NULL);
  CHECK_EQ(v->tensor.shape[0], 0);
  v->deleter(v);
  CHECK_EQ(cst_ndarray_to_dlpack(&cst_tensors_find(f.tensors, "t")->indices, f.tensors, true, &out,
                                 NULL),
           CST_OK);
  v = out;
  CHECK_EQ(v->tensor.shape[1], 2);
  CHECK_EQ(v->tensor.strides[0], 2);
  v->deleter(v);
  CHECK_EQ(cst_ndarray_to_arrow(&cst_tensors_find(f.tensors, "s")->values, f.tensors, &schema,
                                &array, NULL),
           CST_OK);
  CHECK_EQ(array.length, 0);
  array.release(&array);
  schema.release(&schema);
  fixture_drop(&f);
}

static int export_all(void *context) {
  tensor_fixture *f = context;
  struct ArrowSchema schema = {.release = NULL};
  struct ArrowArray array = {.release = NULL};
  const cst_ndarray *strings = &cst_tensors_find(f->tensors, "s")->values;
  for (int copy = 0; copy < 2; copy++) {
    void *out = NULL;
    cst_status status = cst_ndarray_to_dlpack(values_of(f), f->tensors, copy, &out, NULL);
    if (status != CST_OK) return (int)status;
    ((versioned *)out)->deleter(out);
  }
  for (int i = 0; i < 2; i++) {
    cst_status status =
        cst_ndarray_to_arrow(i ? strings : values_of(f), f->tensors, &schema, &array, NULL);
    if (status != CST_OK) return (int)status;
    schema.release(&schema);
    array.release(&array);
  }
  return CST_OK;
}

TEST(out_of_memory) {
  tensor_fixture f;
  fixture_make(&f, "struct{x: list<int64>, s: list<string>}", "{[1], ['a']}",
               INT("x") BYTES("s") VARLEN);
  CHECK_EQ(fixture_convert(&f), CST_OK);
  FOR_EACH_ALLOCATION_FAILURE(export_all, &f, CST_NO_MEMORY);
  fixture_drop(&f);
}

TEST(wrong_arguments) {
  tensor_fixture f;
  void *out = NULL;
  make_dense(&f);
  CHECK_EQ(cst_ndarray_to_dlpack(NULL, f.tensors, false, &out, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_ndarray_to_dlpack_unversioned(values_of(&f), NULL, true, &out, NULL),
           CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_ndarray_to_arrow(values_of(&f), f.tensors, NULL, NULL, NULL), CST_INVALID_ARGUMENT);
  fixture_drop(&f);
}
