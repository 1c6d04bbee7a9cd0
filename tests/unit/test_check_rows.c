/* Rows that do not fit a tensor: each with its reason, over layouts, nulls and slices; and never
 * another answer than that of the adapter, which fails at the first of them.
 */
#include "tensor/tensor.h"

#include "tensor_text.h"

static void on_fault(void *ctx, const cst__row_fault *fault) {
  static const char *const names[] = {"type",     "count",  "null",  "null-item",
                                      "lengths",  "index",  "order", "double",
                                      "division", "length", "sum"};
  text *out = ctx;
  put(out, "%s%lld %s", out->size > 0 ? "; " : "", (long long)fault->row, names[fault->reason]);
  if (fault->found != 0 || fault->expected != 0) {
    put(out, " %lld/%lld", (long long)fault->found, (long long)fault->expected);
  }
}

/* What the check says of the tensor "t". */
static cst_status check(const tensor_fixture *f, text *out) {
  cst__arena arena;
  cst__view root;
  cst__adapter_plan plan;
  cst__arena_init(&arena, NULL);
  cst_status status = cst__view_init(&root, &f->schema, &f->array, false, &arena, NULL);
  for (size_t i = 0; status == CST_OK && i < cst_specs_num_specs(f->specs); i++) {
    const cst_tensor_spec *spec = cst_specs_get(f->specs, i);
    if (strcmp(spec->name, "t") == 0) {
      status = cst__plan_init(&plan, spec, &root, NULL, &arena, NULL);
      status =
          status == CST_OK ? cst__check_rows(&plan, &root, &arena, on_fault, out, NULL) : status;
    }
  }
  cst__arena_reset(&arena);
  return status;
}

typedef struct row_case {
  const char *type;
  const char *rows;
  const char *schema;
  const char *expected;
  bool accepted; /* by the adapter, though something is wrong */
} row_case;

#define SPARSE_SORTED(sorted)                                                           \
  TENSOR("sparse_tensor { index_column_names: 'i' value_column_name: 'x' dense_shape {" \
         " dim { size: 5 } } already_sorted: " sorted " }")
#define PAIR "struct{x: large_list<int64>, i: large_list<int64>}"

static const row_case cases[] = {
    {"struct{x: large_list<int64>}", "{[1]} {[2]}", INT("x") DENSE(""), "", false},
    {"struct{x: large_list<int64>}", "{[1]} {[]} {[2, 3]} {null}", INT("x") DENSE(""),
     "1 count 0/1; 2 count 2/1; 3 null 0/1", false},
    {"struct{x: list<int32>}", "{[1]} {null} {[2, 3]}", INT("x") DENSE_OR("", "int_value: 1"),
     "2 count 2/1", false},
    {"struct{x: fixed_list<int64>[2]}", "{[1, 2]} {null} {[3, null]}", INT("x") DENSE(DIM("2")),
     "2 null-item; 1 null 0/2", false},
    {"struct{x: int64}", "{1} {null} {3}", INT("x") DENSE(""), "1 null 0/1", false},
    {"struct{x: null}", "{null} {null}", INT("x") DENSE(""), "0 null 0/1; 1 null 0/1", false},
    {"struct{x: large_list_view<int64>}", "{[1, 2]} {[3]}", INT("x") DENSE(DIM("2")), "1 count 1/2",
     false},
    {"struct{x: list<string>}", "{['a']} {['a', null]} {null} {[]}", BYTES("x") VARLEN,
     "1 null-item", false},
    {"struct{x: list<float32>}", "{[1]} {[]} {null}", FLOAT("x") VARLEN, "", false},
    {"struct{x: string}", "{'a'} {null}", BYTES("x") VARLEN, "", false},
    {PAIR, "{[1, 2], [0, 4]} {null, null} {[], null}", INT("x") INT("i") SPARSE_SORTED("true"), "",
     false},
    {PAIR, "{[1, 2], [0]} {[1], null} {[1], [5]} {[1], [-1]} {[1], [null]} {[null], [1]}",
     INT("x") INT("i") SPARSE_SORTED("false"),
     "5 null-item; 0 lengths 1/2; 1 lengths 0/1; 2 index 5/4; 3 index -1/4; "
     "4 index -9223372036854775808/4",
     false},
    {PAIR, "{[1, 2], [4, 0]} {[1, 2], [3, 3]} {[1, 2], [3, 4]}",
     INT("x") INT("i") SPARSE_SORTED("true"), "0 order; 1 double", true},
    {"struct{x: list<int8>, i: list<uint64>}", "{[1], [18446744073709551615]} {[1], [3]}",
     INT("x") INT("i") SPARSE_SORTED("false"), "0 index -9223372036854775808/4", false},
    {"struct{x: large_list<int64>}", "{[1, 2]} {[1, null]} {null}", INT("x") RAGGED(""),
     "1 null-item", false},
    {"struct{x: list<list<int64>>}", "{[[1], [null]]} {[]} {[[2, 3], null]}", INT("x") RAGGED(""),
     "0 null-item", false},
    {PAIR,
     "{[1, 2, 3], [1, 2]} {[1], [2, -1]} {[1, 2], [1]} {null, [0, 0]} {[1], null} {[1], [null]}",
     INT("x") INT("i") RAGGED(LENGTHS("i")),
     "1 length -1/0; 2 sum 1/2; 4 sum 0/1; 5 length -9223372036854775808/0", false},
    {"struct{x: large_list<int64>}", "{[1, 2]} {[1, 2, 3]} {null}", INT("x") RAGGED(UNIFORM("2")),
     "1 division 3/2", false},
    {"struct{x: list<list<int64>>}", "{[[1, 2], [3]]} {[[1, 2]]}", INT("x") RAGGED(UNIFORM("2")),
     "0 division 1/2", false},
    {PAIR, "{[1, 2, 3, 4], [1, 1]} {[1, 2, 3, 4], [1, 2]} {[1, 2, 3], [1]}",
     INT("x") INT("i") RAGGED(LENGTHS("i") UNIFORM("2")), "1 sum 3/2; 2 division 3/2", false},
    {PAIR, "{[1, 2, 3], [1, 2]} {[1, 2, 3], [1, 1, 1]}",
     INT("x") INT("i") RAGGED(UNIFORM("2") LENGTHS("i")), "1 division 3/2", false},
    {"struct{s: struct{x: large_list<int64>}}", "{{[1]}} {null} {{[null]}}",
     STRUCT("s", INT("x")) TENSOR("ragged_tensor { feature_path { step: 's' step: 'x' } }"),
     "2 null-item", false},
};

TEST(every_row_that_does_not_fit_is_found) {
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const row_case *c = &cases[i];
    tensor_fixture f;
    text out = {.size = 0};
    fixture_make(&f, c->type, c->rows, c->schema);
    CHECK_EQ(check(&f, &out), CST_OK);
    CHECK_STR(out.buf, c->expected);
    cst_status converted = fixture_convert(&f);
    CHECK_EQ(converted == CST_OK, c->expected[0] == '\0' || c->accepted);
    fixture_drop(&f);
  }
}

TEST(rows_of_a_slice_are_numbered_from_its_begin) {
  tensor_fixture f;
  text out = {.size = 0};
  fixture_make(&f, "struct{x: list<int64>}", "{[]} {[1]} {[2, 3]} {null} {[]}", INT("x") DENSE(""));
  arrow_text_slice(&f.array, 1, 3);
  CHECK_EQ(check(&f, &out), CST_OK);
  CHECK_STR(out.buf, "1 count 2/1; 2 null 0/1");
  fixture_drop(&f);
}

static int scenario(void *context) {
  text out = {.size = 0};
  return (int)check(context, &out);
}

TEST(every_allocation_failure_is_reported) {
  static const size_t some[] = {1, 3, 11, 13, 16, 19};
  for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
    tensor_fixture f;
    fixture_make(&f, cases[some[i]].type, cases[some[i]].rows, cases[some[i]].schema);
    FOR_EACH_ALLOCATION_FAILURE(scenario, &f, CST_NO_MEMORY);
    fixture_drop(&f);
  }
}
