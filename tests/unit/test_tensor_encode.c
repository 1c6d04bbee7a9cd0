/* Tensors to record batches: what an adapter made comes back as it was, in the columns that the
 * specs name.
 */
#include <pthread.h>

#include "arrow_equal.h"
#include "tensor/encode.h"
#include "tensor_text.h"

/* ---- a batch there and back ---- */

typedef struct trip {
  const char *type;
  const char *rows;
  const char *schema;
  const char *type_again; /* NULL: the columns come back as they were */
} trip;

static void view_of(const struct ArrowSchema *schema, const struct ArrowArray *array,
                    cst__arena *arena, cst__view *out) {
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst__view_init(out, schema, array, false, arena, &error);
  if (status != CST_OK) printf("%s: %s\n", error.path, error.message);
  CHECK_EQ(status, CST_OK);
}

static void check_equal(const struct ArrowSchema *schema, const struct ArrowArray *a,
                        const struct ArrowArray *b) {
  cst__arena arena;
  cst__view x, y;
  cst__arena_init(&arena, NULL);
  view_of(schema, a, &arena, &x);
  view_of(schema, b, &arena, &y);
  CHECK_EQ(x.length, y.length);
  for (int64_t i = 0; i < x.length; i++) {
    arrow_equal_slot(&x, i, &y, i);
  }
  cst__arena_reset(&arena);
}

/* The tensors of a batch as text, one after the other. */
static void all_text(const cst_tensors *tensors, char *out, size_t size) {
  size_t at = 0;
  for (size_t i = 0; i < cst_tensors_num_tensors(tensors); i++) {
    const cst_tensor *t = cst_tensors_get(tensors, i);
    at += (size_t)snprintf(out + at, size - at, "%s = %s\n", t->name, tensor_text(t));
    for (size_t k = 0; k < t->num_fields; k++) {
      at += (size_t)snprintf(out + at, size - at, " .%s = %s\n", t->fields[k].name,
                             tensor_text(&t->fields[k]));
    }
  }
  CHECK(at < size);
}

/* An encoder's batch and type. */
typedef struct encoded {
  cst_tensor_encoder *encoder;
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst_error error;
} encoded;

static cst_status encode_with(encoded *e, const cst_specs *specs, const cst_tensor *tensors,
                              size_t count) {
  memset(e, 0, sizeof *e);
  e->error = (cst_error)CST_ERROR_INIT;
  cst_status status = cst_tensor_encoder_new(specs, NULL, &e->encoder, &e->error);
  if (status == CST_OK) {
    status = cst_tensor_encoder_encode(e->encoder, tensors, count, &e->array, &e->error);
  }
  if (status == CST_OK) {
    status = cst_tensor_encoder_arrow_schema(e->encoder, &e->schema, &e->error);
  }
  return status;
}

static void drop(encoded *e) {
  cst_tensor_encoder_free(e->encoder); /* the batch outlives it */
  if (e->schema.release != NULL) e->schema.release(&e->schema);
  if (e->array.release != NULL) e->array.release(&e->array);
}

static void encode_tensors(encoded *e, const tensor_fixture *f) {
  size_t count = cst_tensors_num_tensors(f->tensors);
  cst_status status = encode_with(e, f->specs, cst_tensors_get(f->tensors, 0), count);
  if (status != CST_OK) printf("%s: %s\n", e->error.path, e->error.message);
  CHECK_EQ(status, CST_OK);
}

static void check_type(const char *type, const struct ArrowSchema *found) {
  struct ArrowSchema expected;
  char buf[512];
  ArrowSchemaToString(found, buf, sizeof buf, true);
  arrow_text_parse_type(&type, &expected);
  bool same = cst__schema_equal(&expected, found);
  if (!same) printf("made %s\n", buf);
  CHECK(same);
  ArrowSchemaRelease(&expected);
}

/* Batch to tensors to batch to tensors. */
static void check_trip(const trip *t) {
  tensor_fixture f;
  encoded e;
  char before[4096];
  char after[4096];
  cst_tensor_adapter *adapter = NULL;
  cst_tensors *tensors = NULL;
  fixture_make(&f, t->type, t->rows, t->schema);
  cst_status status = fixture_convert(&f);
  if (status != CST_OK) printf("%s %s: %s\n", t->type, t->rows, f.error.message);
  CHECK_EQ(status, CST_OK);
  all_text(f.tensors, before, sizeof before);
  encode_tensors(&e, &f);
  check_type(t->type_again != NULL ? t->type_again : t->type, &e.schema);
  if (t->type_again == NULL) {
    check_equal(&e.schema, &f.array, &e.array);
  }
  CHECK_EQ(cst_tensor_adapter_new(&e.schema, f.specs, NULL, &adapter, NULL), CST_OK);
  CHECK_EQ(cst_tensor_adapter_convert(adapter, &e.array, 0, &tensors, NULL), CST_OK);
  all_text(tensors, after, sizeof after);
  CHECK_STR(after, before);
  cst_tensors_release(tensors);
  cst_tensor_adapter_free(adapter);
  drop(&e);
  fixture_drop(&f);
}

#define SPARSE(columns, dims)                                                          \
  TENSOR("sparse_tensor { value_column_name: 'x' " columns " dense_shape { " dims "} " \
         "}")
#define INDEX(column) "index_column_names: '" column "' "
#define PATH(parts)                                                    \
  TENSOR("ragged_tensor { feature_path { step: 's' step: 'x' } " parts \
         " row_partition_dtype: INT32 }")

static const trip trips[] = {
    /* dense: numbers of every width, scalars, no rows, rows of nothing */
    {"struct{x: large_list<int64>}", "{[1]} {[2]}", INT("x") DENSE(""), NULL},
    {"struct{x: large_list<int64>}", "{[1, 2, 3, 4]} {[5, 6, 7, 8]}",
     INT("x") DENSE(DIM("2") DIM("2")), NULL},
    {"struct{x: large_list<int8>}", "{[1]} {[-2]}", INT("x") DENSE(""), NULL},
    {"struct{x: large_list<uint8>}", "{[1]} {[255]}", INT("x") DENSE(""), NULL},
    {"struct{x: large_list<int16>}", "{[1]} {[-2]}", INT("x") DENSE(""), NULL},
    {"struct{x: large_list<uint16>}", "{[1]} {[65535]}", INT("x") DENSE(""), NULL},
    {"struct{x: large_list<int32>}", "{[1]} {[-2]}", INT("x") DENSE(""), NULL},
    {"struct{x: large_list<uint32>}", "{[1]} {[4294967295]}", INT("x") DENSE(""), NULL},
    {"struct{x: large_list<uint64>}", "{[1]} {[2]}", INT("x") DENSE(""), NULL},
    {"struct{x: large_list<float32>}", "{[1.5]} {[-0.0]}", FLOAT("x") DENSE(""), NULL},
    {"struct{x: large_list<float64>}", "{[1.5]} {[0.1]}", FLOAT("x") DENSE(""), NULL},
    {"struct{x: large_list<large_binary>}", "{['a', '']} {['', 'bcd']}", BYTES("x") DENSE(DIM("2")),
     NULL},
    {"struct{x: large_list<int64>}", "", INT("x") DENSE(DIM("2")), NULL},
    {"struct{x: large_list<int64>}", "{[]} {[]}", INT("x") DENSE(DIM("0")), NULL},
    {"struct{x: list<int64>}", "{[1]} {null}", INT("x") DENSE_OR("", "int_value: 7"),
     "struct{x: large_list<int64>}"},
    {"struct{x: int32}", "{1} {2}", INT("x") DENSE(""), "struct{x: large_list<int32>}"},
    /* varlen */
    {"struct{x: large_list<int64>}", "{[1, 2]} {[]} {[3]} {[]}", INT("x") VARLEN, NULL},
    {"struct{x: large_list<large_binary>}", "{[]} {['a', 'b', '']}", BYTES("x") VARLEN, NULL},
    {"struct{x: large_list<int64>}", "{[]} {[]}", INT("x") VARLEN, NULL},
    {"struct{x: large_list<float32>}", "", FLOAT("x") VARLEN, NULL},
    /* sparse */
    {"struct{x: large_list<float32>, i: large_list<int64>}", "{[1, 2], [3, 7]} {[], []} {[3], [0]}",
     FLOAT("x") INT("i") SPARSE(INDEX("i"), DIM("10")), NULL},
    {"struct{x: large_list<int64>, i: large_list<int64>, j: large_list<int64>}",
     "{[1, 2], [0, 0], [1, 4]} {[3], [2], [0]}",
     INT("x") INT("i") INT("j") SPARSE(INDEX("i") INDEX("j"), DIM("3") DIM("-1")), NULL},
    {"struct{x: large_list<int64>, i: large_list<int64>}", "",
     INT("x") INT("i") SPARSE(INDEX("i"), DIM("0")), NULL},
    {"struct{x: large_list<int64>, i: large_list<int32>}", "{[1, 2], [7, 3]}",
     INT("x") INT("i") SPARSE(INDEX("i"), DIM("10")),
     "struct{x: large_list<int64>, i: large_list<int64>}"},
    {"struct{x: large_list<int64>, i: large_list<int64>}",
     "{[3, 1, 2, 9], [4, 4, 4, 5]} {[1], [4]}", INT("x") INT("i") SPARSE(INDEX("i"), DIM("10")),
     NULL},
    /* sparse of rank 1 */
    {"struct{x: int16}", "{1} {null} {-2}", INT("x") SPARSE_0(""), NULL},
    {"struct{x: float64}", "{null} {null}", FLOAT("x") SPARSE_0(""), NULL},
    {"struct{x: large_binary}", "{null} {'a'} {''} {null}", BYTES("x") SPARSE_0(""), NULL},
    {"struct{x: bool}", "{1} {null} {0} {null} {null} {1} {0} {1} {1}", INT("x") SPARSE_0(""),
     NULL},
    {"struct{x: int64}", "", INT("x") SPARSE_0(""), NULL},
    /* bools */
    {"struct{x: large_list<bool>}", "{[1]} {[0]} {[1]}", INT("x") DENSE(""), NULL},
    {"struct{x: bool}", "{1} {0}", INT("x") DENSE(""), "struct{x: large_list<bool>}"},
    {"struct{x: large_list<bool>}", "{[1, 0]} {[]} {[1, 1, 1, 0, 0, 0, 1, 1, 0]}", INT("x") VARLEN,
     NULL},
    {"struct{x: large_list<bool>, i: large_list<int64>}", "{[1, 0], [3, 7]} {[], []}",
     INT("x") INT("i") SPARSE(INDEX("i"), DIM("-1")), NULL},
    {"struct{x: large_list<large_list<bool>>}", "{[[1], [], [0, 1]]} {[]}", INT("x") RAGGED(""),
     NULL},
    /* dense of lists of a fixed size */
    {"struct{x: fixed_list<fixed_list<int32>[2]>[2]}", "{[[1, 2], [3, 4]]} {[[5, 6], [7, 8]]}",
     INT("x") DENSE(DIM("2") DIM("2")), "struct{x: large_list<int32>}"},
    /* ragged */
    {"struct{x: large_list<int64>}", "{[1, 2]} {[]} {[3]}", INT("x") RAGGED(""), NULL},
    {"struct{x: large_list<large_list<float64>>}", "{[[1], []]} {[]} {[[2, 3]]}",
     FLOAT("x") RAGGED(""), NULL},
    {"struct{x: large_list<large_list<large_list<large_binary>>>}",
     "{[[['a']], []]} {[[[], ['']]]}", BYTES("x") RAGGED(""), NULL},
    {"struct{x: large_list<int64>}", "", INT("x") RAGGED(""), NULL},
    {"struct{x: large_list<int64>}", "{[1, 2, 3, 4]} {[]} {[5, 6]}", INT("x") RAGGED(UNIFORM("2")),
     NULL},
    {"struct{x: large_list<large_list<int64>>}", "{[[1, 2, 3, 4, 5, 6], []]} {[]}",
     INT("x") RAGGED(UNIFORM("2") UNIFORM("3")), NULL},
    {"struct{x: large_list<int64>, n: large_list<int64>}",
     "{[1, 2, 3], [2, 0, 1]} {[], []} {[], [0]}", INT("x") INT("n") RAGGED(LENGTHS("n")), NULL},
    {"struct{x: large_list<int64>, n: large_list<int64>, m: large_list<int64>}",
     "{[1, 2, 3], [2, 0], [3, 0]} {[], [], []} {[4], [1], [1]}",
     INT("x") INT("n") INT("m") RAGGED(LENGTHS("n") LENGTHS("m")), NULL},
    {"struct{x: large_list<int64>, n: large_list<int64>}",
     "{[1, 2, 3, 4, 5, 6], [1, 2]} {[], [0, 0]} {[], []}",
     INT("x") INT("n") RAGGED(UNIFORM("2") LENGTHS("n") UNIFORM("2")), NULL},
    /* ragged in structs */
    {"struct{s: struct{x: large_list<int64>}}", "{{[1, 2]}} {{[]}}", STRUCT("s", INT("x")) PATH(""),
     NULL},
    {"struct{s: list<struct{x: list<int64>}>}", "{[{[1, 2]}, {[]}]} {[]} {[{[3]}]}",
     STRUCT("s", INT("x")) PATH(""), "struct{s: struct{x: large_list<large_list<int64>>}}"},
    {"struct{s: large_list<struct{x: large_list<int64>, n: large_list<int64>}>}",
     "{[{[1, 2], [1, 1]}, {[], []}]} {[]} {[{[3], [0, 1]}]}",
     STRUCT("s", INT("x") INT("n")) PATH(LENGTHS("n")), NULL},
    {"struct{s: large_list<large_list<struct{x: large_list<int64>, n: large_list<int64>}>>}",
     "{[[{[1, 2], [1, 1]}], [], [{[], []}]]} {[]} {[[{[3], [0, 1]}]]}",
     STRUCT("s", INT("x") INT("n")) PATH(LENGTHS("n")), NULL},
};

TEST(tensors_come_back) {
  for (size_t i = 0; i < sizeof trips / sizeof trips[0]; i++) {
    check_trip(&trips[i]);
  }
}

/* Several tensors in the lists of one struct. */
TEST(tensors_share_lists_of_structs) {
#define IN_S(name, column, parts)                                                             \
  "tensor_representation { key: '" name "' value { ragged_tensor { feature_path { step: 's' " \
  "step: '" column "' } " parts " } } }"
  static const trip shared = {
      "struct{s: large_list<struct{x: large_list<int64>, n: large_list<int64>, y: int64, z: "
      "large_list<large_list<int64>>}>}",
      "{[{[1, 2], [1, 1], 5, [[1]]}, {[], [], 6, []}]} {[]} {[{[3], [0, 1], 7, [[], [2]]}]}",
      STRUCT("s", INT("x") INT("n") INT("y") INT("z")) "tensor_representation_group { key: '' "
                                                       "value { " IN_S("t1", "x", LENGTHS("n"))
                                                           IN_S("t2", "y", "")
                                                               IN_S("t3", "z", "") "} }",
      NULL};
  check_trip(&shared);
}

TEST(many_tensors_in_one_batch) {
  static const trip mixed = {
      "struct{a: large_list<int64>, b: large_list<float32>, c: large_list<large_binary>}",
      "{[1], [], ['x']} {[2], [0.5, 1.5], []}",
      "feature { name: 'a' type: INT shape {} presence { min_fraction: 1 } } " FLOAT("b")
          BYTES("c"),
      NULL};
  check_trip(&mixed);
}

/* ---- bits ---- */

TEST(every_bit_of_a_float_comes_back) {
  static const uint32_t bits[] = {0x7fc00000, 0xffc00001, 0x7f800001, 0x80000000, 1, 0x7f800000};
  const int64_t shape[] = {6};
  const cst_tensor_spec spec = {.name = "x", .kind = CST_TENSOR_DENSE, .dtype = CST_DTYPE_FLOAT32};
  const cst_tensor tensor = {
      .name = "x",
      .kind = CST_TENSOR_DENSE,
      .values = {
          .dtype = CST_DTYPE_FLOAT32, .num_dims = 1, .shape = shape, .size = 6, .data = bits}};
  cst_specs *specs;
  encoded e;
  CHECK_EQ(cst_specs_from(&spec, 1, NULL, &specs, NULL), CST_OK);
  CHECK_EQ(encode_with(&e, specs, &tensor, 1), CST_OK);
  CHECK_MEM(e.array.children[0]->children[0]->buffers[1], bits, sizeof bits);
  drop(&e);
  cst_specs_release(specs);
}

/* ---- no tensors ---- */

TEST(no_tensors_make_a_batch_without_columns) {
  cst_specs *specs;
  encoded e;
  CHECK_EQ(cst_specs_from(NULL, 0, NULL, &specs, NULL), CST_OK);
  CHECK_EQ(encode_with(&e, specs, NULL, 0), CST_OK);
  CHECK_EQ(e.array.length, 0);
  CHECK_EQ(e.array.n_children, 0);
  CHECK_EQ(e.schema.n_children, 0);
  drop(&e);
  cst_specs_release(specs);
}

/* ---- the type of the batches ---- */

TEST(the_first_batch_says_the_types) {
  tensor_fixture f, g;
  encoded e;
  struct ArrowSchema schema;
  struct ArrowArray array;
  fixture_make(&f, "struct{x: large_list<large_list<int32>>}", "{[[1]]}", INT("x") RAGGED(""));
  fixture_make(&g, "struct{x: large_list<int64>}", "{[1]}", INT("x") RAGGED(""));
  CHECK_EQ(fixture_convert(&f), CST_OK);
  CHECK_EQ(fixture_convert(&g), CST_OK);
  memset(&e, 0, sizeof e);
  e.error = (cst_error)CST_ERROR_INIT;
  CHECK_EQ(cst_tensor_encoder_new(f.specs, NULL, &e.encoder, NULL), CST_OK);
  CHECK_EQ(cst_tensor_encoder_arrow_schema(e.encoder, &schema, NULL), CST_OK);
  check_type("struct{x: large_list<int64>}", &schema); /* of the spec */
  schema.release(&schema);
  const cst_tensor *first = cst_tensors_get(f.tensors, 0);
  CHECK_EQ(cst_tensor_encoder_encode(e.encoder, first, 1, &e.array, NULL), CST_OK);
  CHECK_EQ(cst_tensor_encoder_arrow_schema(e.encoder, &e.schema, NULL), CST_OK);
  check_type("struct{x: large_list<large_list<int32>>}", &e.schema);
  const cst_tensor *other = cst_tensors_get(g.tensors, 0);
  CHECK_EQ(cst_tensor_encoder_encode(e.encoder, other, 1, &array, &e.error), CST_SCHEMA);
  CHECK_CONTAINS(e.error.message, "type int64, but those of the batches before are int32");
  cst_tensor deeper = *first;
  deeper.num_splits = 1;
  deeper.splits = &first->splits[1];
  CHECK_EQ(cst_tensor_encoder_encode(e.encoder, &deeper, 1, &array, &e.error), CST_SCHEMA);
  CHECK_CONTAINS(e.error.message, "1 levels of lists, but those of the batches before have 2");
  drop(&e);
  fixture_drop(&f);
  fixture_drop(&g);
}

typedef struct sharing {
  const cst_tensor_encoder *encoder;
  const cst_tensor *tensors;
} sharing;

static void *encode_often(void *context) {
  const sharing *s = context;
  for (int i = 0; i < 50; i++) {
    struct ArrowArray array;
    CHECK_EQ(cst_tensor_encoder_encode(s->encoder, s->tensors, 1, &array, NULL), CST_OK);
    CHECK_EQ(array.length, 3);
    array.release(&array);
  }
  return NULL;
}

TEST(threads_share_an_encoder) {
  tensor_fixture f;
  pthread_t threads[2];
  cst_tensor_encoder *encoder;
  fixture_make(&f, "struct{x: large_list<int64>}", "{[1, 2]} {[]} {[3]}", INT("x") VARLEN);
  CHECK_EQ(fixture_convert(&f), CST_OK);
  CHECK_EQ(cst_tensor_encoder_new(f.specs, NULL, &encoder, NULL), CST_OK);
  sharing s = {encoder, cst_tensors_get(f.tensors, 0)};
  for (int i = 0; i < 2; i++) {
    CHECK_EQ(pthread_create(&threads[i], NULL, encode_often, &s), 0);
  }
  for (int i = 0; i < 2; i++) {
    pthread_join(threads[i], NULL);
  }
  cst_tensor_encoder_free(encoder);
  fixture_drop(&f);
}

/* ---- memory ---- */

static int encode_scenario(void *context) {
  const tensor_fixture *f = context;
  encoded e;
  cst_status status = encode_with(&e, f->specs, cst_tensors_get(f->tensors, 0),
                                  cst_tensors_num_tensors(f->tensors));
  drop(&e);
  return (int)status;
}

TEST(out_of_memory_leaves_nothing) {
  for (size_t i = 0; i < sizeof trips / sizeof trips[0]; i += 4) {
    tensor_fixture f;
    const trip *t = &trips[i];
    fixture_make(&f, t->type, t->rows, t->schema);
    CHECK_EQ(fixture_convert(&f), CST_OK);
    FOR_EACH_ALLOCATION_FAILURE(encode_scenario, &f, CST_NO_MEMORY);
    fixture_drop(&f);
  }
}

/* ---- missing arguments ---- */

TEST(missing_arguments) {
  cst_tensor_encoder *encoder = NULL;
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst_specs *specs;
  cst_specs *none;
  cst_tensor tensor = {.name = "x"};
  CHECK_EQ(cst_specs_from(NULL, 0, NULL, &specs, NULL), CST_OK);
  CHECK_EQ(cst_tensor_encoder_new(NULL, NULL, &encoder, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_tensor_encoder_new(specs, NULL, NULL, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_tensor_encoder_new(specs, NULL, &encoder, NULL), CST_OK);
  CHECK_EQ(cst_tensor_encoder_arrow_schema(NULL, &schema, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_tensor_encoder_arrow_schema(encoder, NULL, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_tensor_encoder_encode(NULL, &tensor, 1, &array, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_tensor_encoder_encode(encoder, NULL, 1, &array, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_tensor_encoder_encode(encoder, NULL, 0, NULL, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_specs_of_tensors(NULL, 1, NULL, &none, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_specs_of_tensors(&tensor, 1, NULL, NULL, NULL), CST_INVALID_ARGUMENT);
  cst_tensor_encoder_free(encoder);
  cst_tensor_encoder_free(NULL);
  cst_specs_release(specs);
}
