/* Specs that no schema file could state: each is refused when the adapter is made. */
#include "tensor/tensor.h"
#include "tensor_text.h"

static const char *const x[] = {"x"};
static const char *const x_a[] = {"x", "a"};
static const char *const s_a[] = {"s", "a"};
static const char *const i_column[] = {"i"};
static const int64_t unknown[] = {-1};
static const int64_t huge[] = {INT64_C(1) << 40, INT64_C(1) << 40};
static const int64_t large[] = {INT64_MAX / 8};
static const cst_partition no_rows[] = {{NULL, 0}};
static const cst_partition huge_rows[] = {{NULL, INT64_MAX}, {NULL, 3}};
static const cst_partition lengths[] = {{"n", 0}};
static const cst_partition lengths_of_floats[] = {{"f", 0}};

#define SPEC(kind_, path_, steps)                                                   \
  .name = "t", .kind = CST_TENSOR_##kind_, .dtype = CST_DTYPE_INT64, .path = path_, \
  .num_path_steps = steps

static const struct {
  cst_tensor_spec spec;
  cst_status status;
  const char *message;
} specs[] = {
    {{SPEC(DENSE, x, 0)}, CST_SCHEMA, "names no column"},
    {{SPEC(DENSE, x_a, 2)}, CST_SCHEMA, "column 'x' is int64, expected a struct"},
    {{SPEC(DENSE, x, 1), .num_dims = 1, .dims = unknown}, CST_SCHEMA, "unknown dimension"},
    {{SPEC(DENSE, x, 1), .num_dims = 2, .dims = huge}, CST_SCHEMA, "too many values"},
    {{SPEC(DENSE, x, 1), .num_dims = 1, .dims = large}, CST_SCHEMA, "too many values"},
    {{SPEC(SPARSE, x, 1)}, CST_SCHEMA, "without index columns needs a column without lists"},
    {{SPEC(SPARSE, x, 1), .num_index_columns = 1, .index_columns = i_column},
     CST_SCHEMA,
     "as many dimensions as index columns"},
    {{SPEC(SPARSE, x, 1), .num_index_columns = 1, .index_columns = i_column, .num_dims = 1,
      .dims = unknown},
     CST_SCHEMA,
     "no column 'i'"},
    {{SPEC(RAGGED, x, 1), .row_splits_dtype = CST_DTYPE_INT64, .num_partitions = 1,
      .partitions = no_rows},
     CST_SCHEMA,
     "greater than 0"},
    {{SPEC(RAGGED, x, 1), .row_splits_dtype = CST_DTYPE_INT64, .num_partitions = 2,
      .partitions = huge_rows},
     CST_SCHEMA,
     "multiply to more than 2^63"},
    {{SPEC(RAGGED, x, 1), .row_splits_dtype = CST_DTYPE_FLOAT32}, CST_SCHEMA, "int64 or int32"},
    {{SPEC(RAGGED, s_a, 2), .row_splits_dtype = CST_DTYPE_INT64, .num_partitions = 1,
      .partitions = lengths},
     CST_SCHEMA,
     "one level of lists"},
    {{SPEC(RAGGED, x, 1), .row_splits_dtype = CST_DTYPE_INT64, .num_partitions = 1,
      .partitions = lengths_of_floats},
     CST_SCHEMA,
     "column 'f' is float32, expected integers"},
};

typedef struct planning {
  cst__view root;
  const cst_tensor_spec *spec;
} planning;

static const char type_text[] = "struct{x: list<int64>, n: list<int64>, f: list<float32>, s: "
                                "list<struct{a: int64, n: list<int64>}>}";

static cst_status plan_one(planning *p, cst_error *error) {
  cst__arena arena;
  cst__adapter_plan plan;
  cst__arena_init(&arena, NULL);
  cst_status status = cst__plan_init(&plan, p->spec, &p->root, NULL, &arena, error);
  cst__arena_reset(&arena);
  return status;
}

TEST(impossible_specs) {
  struct ArrowSchema schema;
  cst__arena arena;
  planning p;
  const char *type = type_text;
  arrow_text_parse_type(&type, &schema);
  cst__arena_init(&arena, NULL);
  CHECK_EQ(cst__view_init_schema(&p.root, &schema, &arena, NULL), CST_OK);
  for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
    cst_error error = CST_ERROR_INIT;
    p.spec = &specs[i].spec;
    CHECK_EQ(plan_one(&p, &error), specs[i].status);
    CHECK_CONTAINS(error.message, specs[i].message);
    CHECK_STR(error.path, "t");
  }
  cst__arena_reset(&arena);
  ArrowSchemaRelease(&schema);
}

TEST(defaults_have_to_fit_the_column) {
  const struct {
    const char *type;
    int64_t good, bad;
  } limits[] = {
      {"int8", -128, -129},     {"int16", 32767, 32768}, {"int32", INT32_MIN, INT64_C(1) << 31},
      {"uint8", 255, 256},      {"uint16", 65535, -1},   {"uint32", UINT32_MAX, INT64_C(1) << 32},
      {"uint64", INT64_MAX, -1}};
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
    struct ArrowSchema schema;
    cst__arena arena;
    planning p;
    char one[32];
    const char *type = one;
    cst_tensor_spec spec = {SPEC(DENSE, x, 1), .has_default = true};
    snprintf(one, sizeof one, "struct{x: %s}", limits[i].type);
    arrow_text_parse_type(&type, &schema);
    cst__arena_init(&arena, NULL);
    CHECK_EQ(cst__view_init_schema(&p.root, &schema, &arena, NULL), CST_OK);
    p.spec = &spec;
    spec.default_int = limits[i].good;
    CHECK_EQ(plan_one(&p, NULL), CST_OK);
    spec.default_int = limits[i].bad;
    CHECK_EQ(plan_one(&p, NULL), CST_SCHEMA);
    cst__arena_reset(&arena);
    ArrowSchemaRelease(&schema);
  }
}

/* ---- memory ---- */

TEST(arenas_keep_their_memory_for_the_next_batch) {
  cst__arena_pool *pool = cst__arena_pool_new(NULL);
  cst__arena first, second;
  cst__arena_pool_lend(pool, &first);
  char *small = cst__arena_take_items(&first, 100, 1);
  char *large_one = cst__arena_take_items(&first, 100000, 8);
  CHECK(small != NULL && large_one != NULL);
  CHECK_EQ((uintptr_t)small % 64, 0);
  CHECK_EQ((uintptr_t)large_one % 64, 0);
  memset(large_one, 1, 800000);
  cst__arena_pool_take_back(pool, &first);
  cst__arena_pool_lend(pool, &first);
  small = cst__arena_take_items(&first, 100, 1);
  large_one = cst__arena_take_items(&first, 100000, 8);
  CHECK_EQ(large_one - small, 128); /* both in one block now */
  cst__arena_pool_lend(pool, &second);
  CHECK(cst__arena_take_items(&second, 1, 1) != small);
  cst__arena_pool_take_back(pool, &first);
  cst__arena_pool_release(pool);
  cst__arena_pool_take_back(pool, &second);
  cst__arena_pool_release(NULL);
}
