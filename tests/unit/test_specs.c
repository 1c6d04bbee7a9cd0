/* Tests of the tensor specs: the table of tests/conform/schema_interpretation.txt, and what the
 * list itself promises.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "schema/schema.h"

static const char table_path[] = "tests/conform/schema_interpretation.txt";

/* ---- a spec as one line ---- */

static const char *kind_name(cst_tensor_kind kind) {
  static const char *const names[] = {"?", "dense", "varlen", "sparse", "ragged", "structured"};
  return names[kind];
}

static void put_joined(cst__text *out, const char *const *names, size_t count,
                       const char *separator) {
  for (size_t i = 0; i < count; i++) {
    cst__text_printf(out, "%s%s", i > 0 ? separator : "", names[i]);
  }
}

static void put_default(cst__text *out, const cst_tensor_spec *spec) {
  if (spec->dtype == CST_DTYPE_INT64) {
    cst__text_printf(out, " default %lld", (long long)spec->default_int);
  } else if (spec->dtype == CST_DTYPE_FLOAT32) {
    cst__text_printf(out, " default %g", (double)spec->default_float);
  } else {
    cst__text_puts(out, " default ");
    cst__text_append(out, spec->default_bytes.data, spec->default_bytes.size);
  }
}

static void put_spec(cst__text *out, const cst_tensor_spec *spec) {
  cst__text_printf(out, "=> %s %s %s [", spec->name, kind_name(spec->kind),
                   cst_dtype_name(spec->dtype));
  for (size_t i = 0; i < spec->num_dims; i++) {
    cst__text_printf(out, "%s%lld", i > 0 ? "," : "", (long long)spec->dims[i]);
  }
  cst__text_puts(out, "] ");
  put_joined(out, spec->path, spec->num_path_steps, "/");
  if (spec->num_index_columns > 0) {
    cst__text_puts(out, " index ");
    put_joined(out, spec->index_columns, spec->num_index_columns, ",");
  }
  cst__text_puts(out, spec->already_sorted ? " sorted" : "");
  for (size_t i = 0; i < spec->num_partitions; i++) {
    const cst_partition *p = &spec->partitions[i];
    if (p->row_length_column != NULL) {
      cst__text_printf(out, " partition %s", p->row_length_column);
    } else {
      cst__text_printf(out, " partition %lld", (long long)p->uniform_length);
    }
  }
  if (spec->kind == CST_TENSOR_RAGGED) {
    cst__text_printf(out, " splits %s", cst_dtype_name(spec->row_splits_dtype));
  }
  if (spec->has_default) {
    put_default(out, spec);
  }
  cst__text_puts(out, spec->is_explicit ? " explicit" : "");
  cst__text_puts(out, spec->is_varlen_ragged ? " varlen\n" : "\n");
}

/* ---- the table ---- */

typedef struct test_case {
  char title[256];
  char group[64];
  char environment[64];
  bool legacy;
  cst__text schema;
  cst__text wanted;
} test_case;

static void check_list(const test_case *c, const cst_specs *specs) {
  cst__text found = {0};
  for (size_t i = 0; i < cst_specs_num_specs(specs); i++) {
    const cst_tensor_spec *spec = cst_specs_get(specs, i);
    put_spec(&found, spec);
    CHECK(strlen(spec->reason) > 20 && spec->reason[strlen(spec->reason) - 1] == '.');
  }
  CHECK_STR(found.size > 0 ? found.data : "", c->wanted.size > 0 ? c->wanted.data : "");
  cst__text_free(&found);
}

/* "=> ! STATUS PATH: message\n" */
static void check_failure(const test_case *c, cst_status status, const cst_error *error) {
  char place[512];
  snprintf(place, sizeof place, "=> ! %s %s: ", cst_status_name(status), error->path);
  CHECK(strncmp(c->wanted.data, place, strlen(place)) == 0);
  char message[256];
  snprintf(message, sizeof message, "%s", c->wanted.data + strlen(place));
  message[strcspn(message, "\n")] = '\0';
  CHECK_CONTAINS(error->message, message);
}

static void run_case(test_case *c) {
  cst_schema *schema = NULL;
  cst_specs *specs = NULL;
  cst_error error = CST_ERROR_INIT;
  printf("       %s\n", c->title);
  const char *text = c->schema.size > 0 ? c->schema.data : "";
  cst_status status = cst_schema_from_text(text, strlen(text), &schema, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
  cst_specs_options options = {sizeof options, c->group, c->legacy,
                               c->environment[0] != '\0' ? c->environment : NULL};
  status = cst_specs_new(schema, &options, &specs, &error);
  cst_schema_release(schema); /* the specs do not need it any more */
  if (status == CST_OK) {
    check_list(c, specs);
  } else {
    check_failure(c, status, &error);
  }
  cst_specs_release(specs);
  cst__text_free(&c->schema);
  cst__text_free(&c->wanted);
}

TEST(the_table_of_the_rfc) {
  char line[1024];
  int cases = 0;
  test_case c = {.title = ""};
  FILE *file = fopen(table_path, "r");
  CHECK(file != NULL);
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "== ", 3) == 0) {
      if (cases++ > 0) {
        run_case(&c);
      }
      c = (test_case){.title = ""};
      snprintf(c.title, sizeof c.title, "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
    } else if (strncmp(line, "-- legacy", 9) == 0) {
      c.legacy = true;
    } else if (strncmp(line, "-- group ", 9) == 0) {
      snprintf(c.group, sizeof c.group, "%.*s", (int)strcspn(line + 9, "\n"), line + 9);
    } else if (strncmp(line, "-- environment ", 15) == 0) {
      snprintf(c.environment, sizeof c.environment, "%.*s", (int)strcspn(line + 15, "\n"),
               line + 15);
    } else if (strncmp(line, "=> ", 3) == 0) {
      cst__text_puts(&c.wanted, line);
    } else if (cases > 0) {
      cst__text_puts(&c.schema, line);
    }
  }
  fclose(file);
  run_case(&c);
  CHECK(cases > 60);
}

/* ---- the list ---- */

static const char mixed[] =
    "feature { name: 'd' type: INT shape { dim { size: 2 } } presence { min_fraction: 1 } }\n"
    "feature { name: 'v' type: FLOAT } feature { name: 'i' type: INT }\n"
    "feature { name: 'w' type: BYTES } feature { name: 'n' type: INT }\n"
    "feature { name: 'o' type: BYTES }\n"
    "feature { name: 's' type: STRUCT struct_domain { feature { name: 'c' type: INT } } }\n"
    "sparse_feature { name: 'sp' index_feature { name: 'i' } value_feature { name: 'v' } }\n"
    "tensor_representation_group { key: '' value {\n"
    "  tensor_representation { key: 'r' value { ragged_tensor { feature_path { step: 'w' }\n"
    "    partition { row_length: 'n' } } } }\n"
    "  tensor_representation { key: 'b' value { dense_tensor { column_name: 'o'\n"
    "    default_value { bytes_value: 'none' } } } } } }\n";

static cst_specs *make_specs(const char *text) {
  cst_schema *schema = NULL;
  cst_specs *specs = NULL;
  CHECK_EQ(cst_schema_from_text(text, strlen(text), &schema, NULL), CST_OK);
  CHECK_EQ(cst_specs_new(schema, NULL, &specs, NULL), CST_OK);
  cst_schema_release(schema);
  return specs;
}

static void check_names(const cst_specs *specs, const char *wanted) {
  cst__text names = {0};
  for (size_t i = 0; i < cst_specs_num_specs(specs); i++) {
    cst__text_printf(&names, "%s%s", i > 0 ? " " : "", cst_specs_get(specs, i)->name);
  }
  CHECK_STR(names.size > 0 ? names.data : "", wanted);
  cst__text_free(&names);
}

static void check_projection(const cst_specs *specs, const char *const *columns, size_t count,
                             const char *wanted) {
  cst_specs *part = NULL;
  CHECK_EQ(cst__specs_project(specs, columns, count, &part, NULL), CST_OK);
  check_names(part, wanted);
  cst_specs_release(part);
}

TEST(projection_keeps_what_can_still_be_made) {
  cst_specs *specs = make_specs(mixed);
  check_names(specs, "b d r s.c sp");
  check_projection(specs, NULL, 0, "");
  check_projection(specs, (const char *const[]){"d"}, 1, "d");
  check_projection(specs, (const char *const[]){"v", "i"}, 2, "sp");
  check_projection(specs, (const char *const[]){"s", "n", "w", "o"}, 4, "b r s.c");
  cst_specs_release(specs);
}

TEST(a_wanted_column_does_not_vanish) {
  cst_specs *specs = make_specs(mixed);
  cst_specs *part = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__specs_project(specs, (const char *const[]){"d", "v"}, 2, &part, &error),
           CST_SCHEMA);
  CHECK_STR(error.path, "v");
  CHECK_CONTAINS(error.message, "tensor 'sp' needs more columns");
  cst_specs_release(specs);
}

TEST(a_projection_outlives_its_list) {
  cst_specs *specs = make_specs(mixed);
  cst_specs *part = NULL;
  CHECK_EQ(cst__specs_project(specs, (const char *const[]){"o"}, 1, &part, NULL), CST_OK);
  cst_specs_release(specs);
  CHECK_MEM(cst_specs_get(part, 0)->default_bytes.data, "none", 4);
  CHECK(cst_specs_retain(part) == part);
  cst_specs_release(part);
  CHECK_EQ(cst_specs_num_specs(part), 1);
  CHECK(cst_specs_get(part, 1) == NULL);
  cst_specs_release(part);
}

TEST(a_group_that_is_missed_gets_a_hint) {
  const char *text = "tensor_representation_group { key: 'serving' value { } }";
  cst_schema *schema = NULL;
  cst_specs *specs = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_specs_options options = {sizeof options, "servin", false};
  CHECK_EQ(cst_schema_parse(text, strlen(text), &schema, NULL), CST_OK);
  CHECK_EQ(cst_specs_new(schema, &options, &specs, &error), CST_NOT_FOUND);
  CHECK_CONTAINS(error.hint, "did you mean 'serving'?");
  options.group = "training, all of it";
  CHECK_EQ(cst_specs_new(schema, &options, &specs, &error), CST_NOT_FOUND);
  CHECK_CONTAINS(error.hint, "the first one is 'serving'");
  CHECK_EQ(cst_specs_new(schema, &options, &specs, NULL), CST_NOT_FOUND);
  cst_schema_release(schema);
}

TEST(arguments_are_checked) {
  cst_specs *specs = NULL;
  cst_schema *schema = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_specs_new(NULL, NULL, &specs, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_schema_parse("", 0, &schema, NULL), CST_OK);
  CHECK_EQ(cst_specs_new(schema, NULL, NULL, &error), CST_INVALID_ARGUMENT);
  cst_specs_options options = {1, NULL, false};
  CHECK_EQ(cst_specs_new(schema, &options, &specs, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_specs_num_specs(NULL), 0);
  CHECK(cst_specs_get(NULL, 0) == NULL);
  cst_specs_release(NULL);
  CHECK(cst_specs_retain(NULL) == NULL);
  cst_schema_release(schema);
}

static int derive_and_project(void *context) {
  const cst_schema *schema = context;
  cst_specs *specs = NULL;
  cst_specs *part = NULL;
  cst_status status = cst_specs_new(schema, NULL, &specs, NULL);
  if (status == CST_OK) {
    status = cst__specs_project(specs, (const char *const[]){"d", "o"}, 2, &part, NULL);
  }
  cst_specs_release(part);
  cst_specs_release(specs);
  return (int)status;
}

TEST(out_of_memory) {
  cst_schema *schema = NULL;
  CHECK_EQ(cst_schema_from_text(mixed, strlen(mixed), &schema, NULL), CST_OK);
  FOR_EACH_ALLOCATION_FAILURE(derive_and_project, schema, CST_NO_MEMORY);
  cst_schema_release(schema);
}

/* Every kind of tensor, given and inferred. */
static const char every_kind[] =
    "feature { name: 'd' type: INT shape { dim { size: 2 } } presence { min_fraction: 1 } }\n"
    "feature { name: 'v' type: FLOAT } feature { name: 'i' type: INT }\n"
    "feature { name: 'w' type: BYTES } feature { name: 'n' type: INT }\n"
    "feature { name: 'x' type: BYTES } feature { name: 'y' type: BYTES }\n"
    "feature { name: 's' type: STRUCT struct_domain { feature { name: 'c' type: INT }\n"
    "  feature { name: 'k' type: INT } feature { name: 'm' type: INT } } }\n"
    "sparse_feature { name: 'sp' index_feature { name: 'i' } value_feature { name: 'v' } }\n"
    "tensor_representation_group { key: '' value {\n"
    "  tensor_representation { key: 'r' value { ragged_tensor {\n"
    "    feature_path { step: 's' step: 'c' } partition { row_length: 'm' } } } }\n"
    "  tensor_representation { key: 't' value { sparse_tensor { value_column_name: 'w'\n"
    "    index_column_names: 'n' } } }\n"
    "  tensor_representation { key: 'u' value { varlen_sparse_tensor { column_name: 'y' } } }\n"
    "  tensor_representation { key: 'b' value { dense_tensor { column_name: 'x'\n"
    "    shape { dim { size: 1 } } default_value { bytes_value: 'none' } } } }\n"; /* not closed */

/* A column with a long name moves the places where the arena needs a new block. */
TEST(out_of_memory_wherever_an_arena_needs_more) {
  char text[16384];
  char name[4200];
  for (size_t padding = 16; padding < 4160; padding += 16) {
    cst_schema *schema = NULL;
    memset(name, 'a', padding);
    name[padding] = '\0';
    snprintf(text, sizeof text, "feature { name: '%s' type: INT }\n%s%s%s%s", name, every_kind,
             "  tensor_representation { key: 'a' value { varlen_sparse_tensor { column_name: '",
             name, "' } } } } }");
    CHECK_EQ(cst_schema_from_text(text, strlen(text), &schema, NULL), CST_OK);
    FOR_EACH_ALLOCATION_FAILURE(derive_and_project, schema, CST_NO_MEMORY);
    cst_schema_release(schema);
  }
}
