/* Structured tensors: what their columns make by themselves, from the schema to the tensors.
 */
#include "schema/schema.h"
#include "tensor_text.h"

#define STRUCTURED(names) TENSOR("structured_tensor { " names " }")
#define COLUMN(name) "column_names: '" name "' "
#define SCALAR(name, type) \
  "feature { name: '" name "' type: " type " shape { } presence { min_fraction: 1 } } "

/* NULL if there is none. */
static const cst_tensor *field_at(const cst_tensor *t, const char *name) {
  for (size_t i = 0; t != NULL && i < t->num_fields; i++) {
    if (strcmp(t->fields[i].name, name) == 0) {
      return &t->fields[i];
    }
  }
  return NULL;
}

TEST(fields_are_what_their_columns_make) {
  tensor_fixture f;
  fixture_make(&f,
               "struct{a: list<int64>, b: list<float32>, c: list<string>, "
               "s: list<struct{x: list<int64>, in: list<struct{y: int64}>}>}",
               "{[1], [1.5, 2.5], ['p'], [{[1], [{5}]}, {[2, 3], null}]}"
               "{[2], null, [], null}",
               SCALAR("a", "INT") FLOAT("b") BYTES("c") STRUCT("s", INT("x") STRUCT("in", INT("y")))
                   STRUCTURED(COLUMN("s") COLUMN("b") COLUMN("a")));
  CHECK_EQ(fixture_convert(&f), CST_OK);
  CHECK_EQ(cst_tensors_num_tensors(f.tensors), 2);
  CHECK_STR(tensor_text(cst_tensors_find(f.tensors, "c")), "bytes[1] p at 0,0 of 2 1");
  const cst_tensor *t = cst_tensors_find(f.tensors, "t");
  CHECK_EQ(t->kind, CST_TENSOR_STRUCTURED);
  CHECK_EQ(t->num_fields, 3);
  CHECK_STR(t->fields[0].name, "a");
  CHECK_STR(tensor_text(&t->fields[0]), "int64[2] 1 2");
  CHECK_STR(tensor_text(&t->fields[1]), "float32[2] 1.5 2.5 at 0,0 0,1 of 2 2");
  const cst_tensor *s = field_at(t, "s");
  CHECK_EQ(s->kind, CST_TENSOR_STRUCTURED);
  CHECK_EQ(s->num_fields, 2);
  CHECK_STR(tensor_text(field_at(s, "x")), "int64[3] 1 2 3 splits 0 2 2 | 0 1 3");
  const cst_tensor *in = field_at(s, "in");
  CHECK_EQ(in->num_fields, 1);
  CHECK_STR(tensor_text(field_at(in, "y")), "int64[1] 5 splits 0 2 2 | 0 1 1");
  fixture_drop(&f);
}

TEST(fields_are_ragged_where_the_schema_says_so) {
  tensor_fixture f;
  fixture_make(&f, "struct{a: list<int64>}", "{[1, 2]} {[3]}",
               INT("a") "represent_variable_length_as_ragged: true " STRUCTURED(COLUMN("a")));
  CHECK_EQ(fixture_convert(&f), CST_OK);
  CHECK_EQ(cst_tensors_num_tensors(f.tensors), 1);
  CHECK_STR(tensor_text(&cst_tensors_find(f.tensors, "t")->fields[0]),
            "int64[3] 1 2 3 splits 0 2 3");
  fixture_drop(&f);
}

TEST(a_column_may_serve_another_tensor_as_well) {
  static const char two[] =
      "tensor_representation_group { key: '' value {"
      "  tensor_representation { key: 'd' value { dense_tensor { column_name: 'a' } } }"
      "  tensor_representation { key: 't' value { structured_tensor { column_names: 'a' } } } } }";
  tensor_fixture f;
  char schema[512];
  snprintf(schema, sizeof schema, "%s%s", INT("a"), two);
  fixture_make(&f, "struct{a: list<int64>}", "{[1]} {[3]}", schema);
  CHECK_EQ(fixture_convert(&f), CST_OK);
  CHECK_EQ(cst_tensors_num_tensors(f.tensors), 2);
  CHECK_STR(tensor_text(cst_tensors_find(f.tensors, "d")), "int64[2] 1 3");
  CHECK_STR(tensor_text(&cst_tensors_find(f.tensors, "t")->fields[0]),
            "int64[2] 1 3 at 0,0 1,0 of 2 1");
  fixture_drop(&f);
}

TEST(failures_name_row_and_field) {
  tensor_fixture f;
  fixture_make(&f, "struct{a: list<int64>, s: list<struct{x: list<int64>}>}",
               "{[1], null} {[2], [{[1, null]}]}",
               SCALAR("a", "INT") STRUCT("s", INT("x")) STRUCTURED(COLUMN("a") COLUMN("s")));
  CHECK_EQ(fixture_convert(&f), CST_SCHEMA);
  CHECK_STR(f.error.path, "t.s.x");
  CHECK_EQ(f.error.record, 1);
  fixture_drop(&f);
  fixture_make(&f, "struct{a: list<int64>, s: list<struct{z: list<int64>}>}", "",
               SCALAR("a", "INT") STRUCT("s", INT("x")) STRUCTURED(COLUMN("s")));
  CHECK_EQ(fixture_convert(&f), CST_SCHEMA);
  CHECK_STR(f.error.path, "t.s.x");
  CHECK_CONTAINS(f.error.message, "no column 'x'");
  fixture_drop(&f);
}

/* ---- schemas ---- */

static cst_status specs_of(const char *source, cst_specs **specs, cst_error *error) {
  cst_schema *schema = NULL;
  *error = (cst_error)CST_ERROR_INIT;
  cst_status status = cst_schema_from_text(source, strlen(source), &schema, error);
  if (status == CST_OK) {
    status = cst_specs_new(schema, NULL, specs, error);
  }
  cst_schema_release(schema);
  return status;
}

TEST(wrong_representations_are_refused) {
  static const struct {
    const char *schema;
    const char *message;
    const char *path;
  } cases[] = {
      {INT("a") STRUCTURED(COLUMN("b")), "the column 'b' does not exist", "t"},
      {INT("a") STRUCTURED(""), "has no column", "t"},
      {INT("a") STRUCTURED(COLUMN("a") COLUMN("a")), "the column 'a' twice", "t"},
      {FEATURE("a", "TYPE_UNKNOWN") STRUCTURED(COLUMN("a")), "is TYPE_UNKNOWN", "t"},
      {"feature { name: 'a' type: INT shape { } } " STRUCTURED(COLUMN("a")),
       "needs presence.min_fraction 1", "t"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    cst_specs *specs = NULL;
    cst_error error;
    CHECK_EQ(specs_of(cases[i].schema, &specs, &error), CST_SCHEMA);
    CHECK_CONTAINS(error.message, cases[i].message);
    CHECK_STR(error.path, cases[i].path);
  }
}

TEST(the_binary_form_keeps_it) {
  static const char text_form[] = INT("a") STRUCTURED(COLUMN("a"));
  cst_schema *schema = NULL;
  cst_schema *again = NULL;
  cst_specs *specs = NULL;
  char *bytes = NULL;
  size_t size;
  CHECK_EQ(cst_schema_from_text(text_form, strlen(text_form), &schema, NULL), CST_OK);
  CHECK_EQ(cst_schema_to_bytes(schema, &bytes, &size, NULL), CST_OK);
  CHECK_EQ(cst_schema_from_bytes(bytes, size, &again, NULL), CST_OK);
  CHECK_EQ(cst_specs_new(again, NULL, &specs, NULL), CST_OK);
  CHECK_EQ(cst_specs_num_specs(specs), 1);
  CHECK_EQ(cst_specs_get(specs, 0)->kind, CST_TENSOR_STRUCTURED);
  CHECK_STR(cst_specs_get(specs, 0)->fields[0].name, "a");
  cst_free(bytes);
  cst_specs_release(specs);
  cst_schema_release(schema);
  cst_schema_release(again);
}

TEST(projections_keep_it_whole_or_leave_it_out) {
  cst_specs *specs = NULL;
  cst_specs *part = NULL;
  cst_error error;
  const char *both[] = {"a", "b"};
  const char *one[] = {"b"};
  const char *other[] = {"c"};
  CHECK_EQ(specs_of(INT("a") INT("b") INT("c") STRUCTURED(COLUMN("a") COLUMN("b")), &specs, &error),
           CST_OK);
  CHECK_EQ(cst__specs_project(specs, both, 2, &part, &error), CST_OK);
  CHECK_EQ(cst_specs_num_specs(part), 1);
  cst_specs_release(part);
  CHECK_EQ(cst__specs_project(specs, other, 1, &part, &error), CST_OK);
  CHECK_EQ(cst_specs_num_specs(part), 1);
  CHECK_STR(cst_specs_get(part, 0)->name, "c");
  cst_specs_release(part);
  CHECK_EQ(cst__specs_project(specs, one, 1, &part, &error), CST_SCHEMA);
  CHECK_CONTAINS(error.message, "tensor 't' needs more columns");
  cst_specs_release(specs);
}

/* ---- out of memory ---- */

static const char memory_schema[] = SCALAR("a", "INT") FLOAT("b")
    STRUCT("s", INT("x") STRUCT("in", INT("y"))) STRUCTURED(COLUMN("s") COLUMN("b") COLUMN("a"));

static int make_specs(void *context) {
  cst_specs *specs = NULL;
  cst_error error;
  (void)context;
  cst_status status = specs_of(memory_schema, &specs, &error);
  cst_specs_release(specs);
  return (int)status;
}

static int convert(void *context) {
  tensor_fixture *f = context;
  struct ArrowArray lent = lend(&f->array, NULL);
  cst_tensors *tensors = NULL;
  cst_status status = cst_tensor_adapter_new(&f->schema, f->specs, NULL, &f->adapter, &f->error);
  if (status == CST_OK) {
    status = cst_tensor_adapter_convert(f->adapter, &lent, 0, &tensors, &f->error);
  }
  cst_tensors_release(tensors);
  cst_tensor_adapter_free(f->adapter);
  f->adapter = NULL;
  return (int)status;
}

TEST(out_of_memory) {
  tensor_fixture f;
  FOR_EACH_ALLOCATION_FAILURE(make_specs, NULL, CST_NO_MEMORY);
  fixture_make(&f,
               "struct{a: list<int64>, b: list<float32>, "
               "s: list<struct{x: list<int64>, in: list<struct{y: int64}>}>}",
               "{[1], [1.5, 2.5], [{[1], [{5}]}]}", memory_schema);
  FOR_EACH_ALLOCATION_FAILURE(convert, &f, CST_NO_MEMORY);
  fixture_drop(&f);
}
