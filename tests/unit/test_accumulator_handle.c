/* <columnstone/accumulate.h>: batches from outside, failures, merging, saving and loading. */
#include <columnstone/accumulate.h>

#include "array_layouts.h"
#include "arrow_text.h"

static const char schema_text[] =
    "feature { name: 'a' type: INT int_domain { min: 0 max: 2 } }"
    "feature { name: 's' type: BYTES }"
    "feature { name: 'p_index' type: INT int_domain { min: 0 max: 9 } }"
    "feature { name: 'p_value' type: INT }"
    "sparse_feature { name: 'p' index_feature { name: 'p_index' }"
    "  value_feature { name: 'p_value' } }";

static cst_schema *parse_schema(void) {
  cst_schema *schema;
  CHECK_EQ(cst_schema_from_text(schema_text, strlen(schema_text), &schema, NULL), CST_OK);
  return schema;
}

typedef enum kind { INFERENCE, LOOKING, VALIDATION, PROPOSAL, COUNTS, NUM_KINDS } kind;

static cst_status make_kind(kind k, cst_accumulator **out) {
  cst_inference_options looking = CST_INFERENCE_OPTIONS_INIT;
  cst_validate_options validate = CST_VALIDATE_OPTIONS_INIT;
  const char *groups[] = {""};
  cst_schema *schema = NULL;
  looking.look_at_values = true;
  switch (k) {
    case INFERENCE:
      return cst_accumulator_new_inference(NULL, NULL, out, NULL);
    case LOOKING:
      return cst_accumulator_new_inference(&looking, NULL, out, NULL);
    case PROPOSAL:
      return cst_accumulator_new_proposal(NULL, NULL, out, NULL);
    case COUNTS:
      return cst_accumulator_new_counts(NULL, out, NULL);
    default:
      break;
  }
  if (cst_schema_from_text(schema_text, strlen(schema_text), &schema, NULL) != CST_OK) {
    return CST_NO_MEMORY;
  }
  validate.schema = schema;
  validate.groups = groups;
  validate.num_groups = 1;
  cst_status status = cst_accumulator_new_validation(&validate, NULL, out, NULL);
  cst_schema_release(schema); /* options and schema go */
  groups[0] = NULL;
  return status;
}

static cst_accumulator *new_kind(kind k) {
  cst_accumulator *made = NULL;
  CHECK_EQ(make_kind(k, &made), CST_OK);
  return made;
}

/* What it has found, as text (free). */
static char *found_text(const cst_accumulator *accumulator, kind k) {
  cst_schema *schema;
  cst_validation *validation;
  cst_counts *counts;
  char *text = malloc(4096);
  char *written = NULL;
  size_t size = 0;
  text[0] = '\0';
  if (k == COUNTS) {
    CHECK_EQ(cst_accumulator_finish_counts(accumulator, &counts, NULL), CST_OK);
    size += (size_t)snprintf(text, 4096, "%d", (int)cst_counts_num_rows(counts));
    for (size_t i = 0; i < cst_counts_num_columns(counts); i++) {
      const cst_column_count *c = cst_counts_column(counts, i);
      size += (size_t)snprintf(text + size, 4096 - size, " %s:%d:%d", c->path, (int)c->rows,
                               (int)c->values);
    }
    CHECK(cst_counts_column(counts, cst_counts_num_columns(counts)) == NULL);
    cst_counts_free(counts);
  } else if (k == VALIDATION) {
    CHECK_EQ(cst_accumulator_finish_validation(accumulator, &validation, NULL), CST_OK);
    size += (size_t)snprintf(text, 4096, "%d", (int)cst_validation_num_rows(validation));
    for (size_t i = 0; i < cst_validation_num_anomalies(validation); i++) {
      const cst_anomaly *a = cst_validation_anomaly(validation, i);
      size +=
          (size_t)snprintf(text + size, 4096 - size, " %s %s:%d", a->kind, a->path, (int)a->count);
      for (size_t p = 0; p < a->num_places; p++) {
        size += (size_t)snprintf(text + size, 4096 - size, " [%s %d %s]", a->places[p].file,
                                 (int)a->places[p].record, a->places[p].found);
      }
    }
    cst_validation_free(validation);
  } else {
    CHECK_EQ(cst_accumulator_finish_schema(accumulator, &schema, NULL), CST_OK);
    CHECK_EQ(cst_schema_to_text(schema, &written, &size, NULL), CST_OK);
    CHECK(size < 4096);
    memcpy(text, written, size + 1);
    cst_free(written);
    cst_schema_release(schema);
  }
  return text;
}

static void check_found(const cst_accumulator *accumulator, kind k, const char *expected) {
  char *text = found_text(accumulator, k);
  CHECK_STR(text, expected);
  free(text);
}

static cst_status add_text(cst_accumulator *accumulator, const char *type, const char *rows,
                           cst_error *error) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  arrow_text(type, rows, &schema, &array);
  cst_status status = cst_accumulator_add(accumulator, &schema, &array, "f", 10, error);
  array.release(&array);
  schema.release(&schema);
  return status;
}

/* ---- what is found ---- */

static const char batch_type[] = "struct{a: list<int64>, s: string}";
static const char first_rows[] = "{[1], 'x'} {[7], null}";
static const char second_rows[] = "{null, 'y'} {[1, 9], 'z'} {[2], 'x'}";

TEST(parts_find_what_the_whole_finds) {
  for (kind k = 0; k < NUM_KINDS; k++) {
    cst_accumulator *whole = new_kind(k);
    cst_accumulator *parts[2] = {new_kind(k), new_kind(k)};
    const char *rows[2] = {first_rows, second_rows};
    char *bytes = NULL;
    size_t size = 0;
    for (int i = 0; i < 2; i++) {
      CHECK_EQ(add_text(whole, batch_type, rows[i], NULL), CST_OK);
      CHECK_EQ(add_text(parts[i], batch_type, rows[i], NULL), CST_OK);
    }
    CHECK_EQ(cst_accumulator_to_bytes(parts[1], &bytes, &size, NULL), CST_OK);
    CHECK_EQ(cst_accumulator_merge(parts[0], parts[1], NULL), CST_OK);
    char *expected = found_text(whole, k);
    check_found(parts[0], k, expected);
    CHECK_EQ(cst_accumulator_from_bytes(parts[1], bytes, size, NULL),
             CST_OK); /* in place of its own */
    cst_accumulator *again = new_kind(k);
    CHECK_EQ(add_text(again, batch_type, first_rows, NULL), CST_OK);
    free(found_text(again, k)); /* more may come afterwards */
    CHECK_EQ(cst_accumulator_merge(again, parts[1], NULL), CST_OK);
    check_found(again, k, expected);
    free(expected);
    cst_free(bytes);
    cst_accumulator_free(again);
    cst_accumulator_free(whole);
    cst_accumulator_free(parts[0]);
    cst_accumulator_free(parts[1]);
  }
}

TEST(places) {
  cst_accumulator *validation = new_kind(VALIDATION);
  struct ArrowSchema schema;
  struct ArrowArray array;
  CHECK_EQ(add_text(validation, "struct{a: int64}", "{1} {7}", NULL), CST_OK);
  arrow_text("struct{a: int64}", "{8}", &schema, &array);
  CHECK_EQ(cst_accumulator_add(validation, &schema, &array, NULL, -1, NULL), CST_OK);
  CHECK_EQ(cst_accumulator_add(validation, &schema, &array, "g", -5, NULL), CST_OK);
  array.release(&array);
  schema.release(&schema);
  check_found(validation, VALIDATION, "4 int-domain a:3 [f 11 7] [ -1 8] [g -1 8]");
  cst_accumulator_free(validation);
}

/* What the other one has found is not borrowed from it, nor from its plan. */
TEST(the_other_one_may_go) {
  static const char type[] = "struct{p_index: list<int64>, p_value: list<int64>}";
  cst_accumulator *whole = new_kind(VALIDATION);
  cst_accumulator *into = new_kind(VALIDATION);
  cst_accumulator *other = new_kind(VALIDATION);
  char *bytes = NULL;
  size_t size = 0;
  CHECK_EQ(add_text(whole, type, "{[1], [1, 2]} {[12], [1]}", NULL), CST_OK);
  CHECK_EQ(add_text(other, type, "{[1], [1, 2]} {[12], [1]}", NULL), CST_OK);
  CHECK_EQ(cst_accumulator_merge(into, other, NULL), CST_OK);
  cst_accumulator_free(other);
  char *expected = found_text(whole, VALIDATION);
  CHECK_CONTAINS(expected, "representation");
  check_found(into, VALIDATION, expected);
  CHECK_EQ(cst_accumulator_to_bytes(into, &bytes, &size, NULL), CST_OK);
  CHECK_EQ(cst_accumulator_from_bytes(whole, bytes, size, NULL), CST_OK);
  check_found(whole, VALIDATION, expected);
  free(expected);
  cst_free(bytes);
  cst_accumulator_free(into);
  cst_accumulator_free(whole);
}

/* ---- what comes from outside ---- */

TEST(dictionaries_are_their_values) {
  for (kind k = 0; k < NUM_KINDS; k++) {
    struct ArrowSchema schema;
    struct ArrowArray array;
    cst_accumulator *plain = new_kind(k);
    cst_accumulator *encoded = new_kind(k);
    CHECK_EQ(add_text(plain, batch_type, first_rows, NULL), CST_OK);
    arrow_text("struct{a: list<int64>, s: int8}", "{[1], 1} {[7], null}", &schema, &array);
    CHECK_EQ(ArrowSchemaAllocateDictionary(schema.children[1]), 0);
    CHECK_EQ(ArrowArrayAllocateDictionary(array.children[1]), 0);
    arrow_text("string", "'w' 'x'", schema.children[1]->dictionary, array.children[1]->dictionary);
    CHECK_EQ(cst_accumulator_add(encoded, &schema, &array, "f", 10, NULL), CST_OK);
    char *expected = found_text(plain, k);
    check_found(encoded, k, expected);
    ((int8_t *)(uintptr_t)array.children[1]->buffers[1])[0] = 2; /* beyond the dictionary */
    cst_error error = CST_ERROR_INIT;
    CHECK_EQ(cst_accumulator_add(encoded, &schema, &array, "f", 10, &error), CST_CORRUPT);
    CHECK_STR(error.path, "s");
    check_found(encoded, k, expected);
    free(expected);
    array.release(&array);
    schema.release(&schema);
    cst_accumulator_free(plain);
    cst_accumulator_free(encoded);
  }
}

/* Says which accumulators take a layout; whatever one refuses, it names, and counts nothing of. */
TEST(every_layout_is_taken_or_named) {
  for (size_t i = 0; i < NUM_LAYOUTS; i++) {
    for (kind k = 0; k < NUM_KINDS; k++) {
      char type[128];
      char rows[256];
      cst_error error = CST_ERROR_INIT;
      cst_accumulator *accumulator = new_kind(k);
      char *nothing = found_text(accumulator, k);
      const char *layout = array_layouts[i].type;
      snprintf(type, sizeof type, "struct{b: int64, c: list<%s>}", layout);
      snprintf(rows, sizeof rows, "{1, [%s]}", array_layouts[i].rows);
      cst_status status = add_text(accumulator, type, rows, &error);
      bool is_taken = status == CST_OK;
      CHECK(is_taken || status == CST_UNSUPPORTED);
      CHECK_STR(error.path, is_taken ? "" : "c");
      CHECK(is_taken || k != VALIDATION);
      CHECK(is_taken || k != LOOKING);
      CHECK(k != COUNTS || is_taken == (strstr(layout, "list_view") == NULL));
      if (!is_taken) {
        check_found(accumulator, k, nothing);
      }
      free(nothing);
      cst_accumulator_free(accumulator);
    }
  }
}

TEST(data_that_lies) {
  for (kind k = 0; k < NUM_KINDS; k++) {
    struct ArrowSchema schema;
    struct ArrowArray array;
    cst_error error = CST_ERROR_INIT;
    cst_accumulator *accumulator = new_kind(k);
    char *nothing = found_text(accumulator, k);
    arrow_text("struct{s: struct{a: list<int64>, b: int64}}", "{{[1, 2], 3}} {{[3], 4}}", &schema,
               &array);
    struct ArrowArray *list = array.children[0]->children[0];
    ((int32_t *)(uintptr_t)list->buffers[1])[1] = 1000;
    CHECK_EQ(cst_accumulator_add(accumulator, &schema, &array, NULL, -1, &error), CST_CORRUPT);
    CHECK_STR(error.path, "s.a");
    CHECK_EQ(ArrowSchemaSetName(schema.children[0]->children[1], "a"), 0);
    CHECK_EQ(cst_accumulator_add(accumulator, &schema, &array, NULL, -1, &error),
             CST_INVALID_ARGUMENT);
    CHECK_CONTAINS(error.message, "two columns have the same name");
    CHECK_STR(error.path, "s.a");
    CHECK_EQ(ArrowSchemaSetFormat(schema.children[0]->children[1], "+us:0"), 0);
    CHECK_EQ(cst_accumulator_add(accumulator, &schema, &array, NULL, -1, &error), CST_UNSUPPORTED);
    CHECK_STR(error.path, "s.a");
    array.release(&array);
    schema.release(&schema);
    CHECK_EQ(add_text(accumulator, "struct{a: int64}", "{1} null", &error), CST_UNSUPPORTED);
    CHECK_EQ(add_text(accumulator, "int64", "1", &error), CST_INVALID_ARGUMENT);
    CHECK_CONTAINS(error.message, "a record batch is a struct");
    struct ArrowSchema released = {.release = NULL};
    CHECK_EQ(cst_accumulator_add(accumulator, &released, &array, NULL, -1, &error),
             CST_INVALID_ARGUMENT);
    check_found(accumulator, k, nothing);
    free(nothing);
    cst_accumulator_free(accumulator);
  }
}

/* ---- failures ---- */

TEST(a_feature_of_another_type_changes_nothing) {
  for (kind k = INFERENCE; k <= PROPOSAL; k++) {
    cst_error error = CST_ERROR_INIT;
    cst_accumulator *accumulator = new_kind(k);
    cst_accumulator *other = new_kind(k);
    CHECK_EQ(add_text(accumulator, "struct{a: int64}", "{1}", NULL), CST_OK);
    CHECK_EQ(add_text(other, "struct{z: int64, a: string}", "{1, null} {1, 'x'}", NULL), CST_OK);
    char *before = found_text(accumulator, k);
    if (k != VALIDATION) {
      CHECK_EQ(add_text(accumulator, "struct{z: int64, a: string}", "{1, null} {1, 'x'}", &error),
               CST_SCHEMA);
      CHECK_STR(error.path, "a");
      CHECK_STR(error.file, "f");
      CHECK_EQ(error.record, 11);
      check_found(accumulator, k, before);
      CHECK_EQ(cst_accumulator_merge(accumulator, other, &error), CST_SCHEMA);
      CHECK_EQ(error.record, 11);
      check_found(accumulator, k, before);
    }
    CHECK_EQ(add_text(accumulator, "struct{a: int64}", "{2}", &error), CST_OK);
    free(before);
    cst_accumulator_free(other);
    cst_accumulator_free(accumulator);
  }
}

TEST(accumulators_that_do_not_merge) {
  cst_error error = CST_ERROR_INIT;
  cst_accumulator *all[NUM_KINDS];
  for (kind k = 0; k < NUM_KINDS; k++) {
    all[k] = new_kind(k);
  }
  for (kind k = 0; k < NUM_KINDS; k++) {
    for (kind m = 0; m < NUM_KINDS; m++) {
      CHECK_EQ(cst_accumulator_merge(all[k], all[m], &error), CST_INVALID_ARGUMENT);
      CHECK(error.message[0] != '\0');
    }
  }
  cst_validate_options options = CST_VALIDATE_OPTIONS_INIT;
  cst_schema *schema = parse_schema();
  cst_accumulator *other;
  options.schema = schema;
  options.max_places = 2;
  CHECK_EQ(cst_accumulator_new_validation(&options, NULL, &other, NULL), CST_OK);
  CHECK_EQ(cst_accumulator_merge(all[VALIDATION], other, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "different options");
  cst_accumulator_free(other);
  cst_schema_release(schema);
  for (kind k = 0; k < NUM_KINDS; k++) {
    cst_accumulator_free(all[k]);
  }
}

TEST(saved_bytes_are_loaded_by_their_own_kind_and_options) {
  cst_error error = CST_ERROR_INIT;
  for (kind k = 0; k < NUM_KINDS; k++) {
    cst_accumulator *saved = new_kind(k);
    char *bytes = NULL;
    size_t size = 0;
    CHECK_EQ(add_text(saved, batch_type, first_rows, NULL), CST_OK);
    CHECK_EQ(cst_accumulator_to_bytes(saved, &bytes, &size, NULL), CST_OK);
    for (kind m = 0; m < NUM_KINDS; m++) {
      cst_accumulator *loaded = new_kind(m);
      CHECK_EQ(cst_accumulator_from_bytes(loaded, bytes, size, &error),
               m == k ? CST_OK : CST_INVALID_ARGUMENT);
      if (m != k) {
        CHECK_EQ(add_text(loaded, batch_type, first_rows, NULL), CST_OK); /* as it was before */
      }
      CHECK_EQ(cst_accumulator_from_bytes(loaded, bytes, size - 1, &error), CST_CORRUPT);
      CHECK_EQ(cst_accumulator_from_bytes(loaded, NULL, 0, &error), CST_CORRUPT);
      cst_accumulator_free(loaded);
    }
    cst_free(bytes);
    cst_accumulator_free(saved);
  }
}

TEST(what_one_finishes_as) {
  cst_error error = CST_ERROR_INIT;
  for (kind k = 0; k < NUM_KINDS; k++) {
    cst_accumulator *accumulator = new_kind(k);
    cst_schema *schema = NULL;
    cst_validation *validation = NULL;
    cst_counts *counts = NULL;
    bool is_schema = k == INFERENCE || k == LOOKING || k == PROPOSAL;
    CHECK_EQ(cst_accumulator_finish_schema(accumulator, &schema, &error) == CST_OK, is_schema);
    CHECK_EQ(cst_accumulator_finish_validation(accumulator, &validation, &error) == CST_OK,
             k == VALIDATION);
    CHECK_EQ(cst_accumulator_finish_counts(accumulator, &counts, &error) == CST_OK, k == COUNTS);
    CHECK_CONTAINS(error.message, "the accumulator is of another kind");
    cst_schema_release(schema);
    cst_validation_free(validation);
    cst_counts_free(counts);
    cst_accumulator_free(accumulator);
  }
}

TEST(arguments_that_are_missing) {
  cst_error error = CST_ERROR_INIT;
  cst_accumulator *accumulator = new_kind(COUNTS);
  cst_validate_options options = CST_VALIDATE_OPTIONS_INIT;
  struct ArrowSchema schema;
  struct ArrowArray array;
  arrow_text("struct{a: int64}", "{1}", &schema, &array);
  cst_accumulator *out = accumulator;
  CHECK_EQ(cst_accumulator_new_validation(NULL, NULL, &out, &error), CST_INVALID_ARGUMENT);
  CHECK(out == NULL);
  CHECK_EQ(cst_accumulator_new_validation(&options, NULL, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "schema");
  CHECK_EQ(cst_accumulator_add(NULL, &schema, &array, NULL, 0, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_accumulator_add(accumulator, NULL, &array, NULL, 0, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_accumulator_add(accumulator, &schema, NULL, NULL, 0, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_accumulator_merge(accumulator, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_accumulator_merge(NULL, accumulator, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_accumulator_from_bytes(NULL, "", 0, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_accumulator_from_bytes(accumulator, NULL, 1, &error), CST_INVALID_ARGUMENT);
  array.release(&array);
  schema.release(&schema);
  cst_accumulator_free(accumulator);
}

/* ---- memory ---- */

typedef struct memory_case {
  kind k;
  struct ArrowSchema schema;
  struct ArrowArray array;
} memory_case;

/* What one makes that has failed in the middle of a batch: nothing but the failure, again. */
static void check_broken(cst_accumulator *accumulator, const memory_case *m) {
  char *bytes = NULL;
  size_t size;
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst_accumulator_to_bytes(accumulator, &bytes, &size, &error);
  CHECK(status == CST_OK || status == CST_STATE);
  if (status == CST_STATE) {
    CHECK_EQ(cst_accumulator_add(accumulator, &m->schema, &m->array, NULL, -1, NULL), CST_STATE);
  }
  cst_free(bytes);
}

static int run_all(void *context) {
  const memory_case *m = context;
  cst_accumulator *all[2] = {NULL, NULL};
  char *bytes = NULL;
  size_t size = 0;
  cst_status status = CST_OK;
  for (int i = 0; i < 2 && status == CST_OK; i++) {
    status = make_kind(m->k, &all[i]);
    if (status == CST_OK) {
      status = cst_accumulator_add(all[i], &m->schema, &m->array, "f", 0, NULL);
      if (status == CST_NO_MEMORY) {
        check_broken(all[i], m);
      }
    }
  }
  if (status == CST_OK) {
    status = cst_accumulator_merge(all[0], all[1], NULL);
  }
  if (status == CST_OK) {
    status = cst_accumulator_to_bytes(all[0], &bytes, &size, NULL);
  }
  if (status == CST_OK) {
    status = cst_accumulator_from_bytes(all[1], bytes, size, NULL);
  }
  cst_free(bytes);
  cst_accumulator_free(all[0]);
  cst_accumulator_free(all[1]);
  return (int)status;
}

TEST(without_memory) {
  memory_case m;
  arrow_text("struct{a: list<int64>, b: int8, s: string}", "{[1], 0, 'x'} {[7], 1, null}",
             &m.schema, &m.array);
  CHECK_EQ(ArrowSchemaAllocateDictionary(m.schema.children[1]), 0);
  CHECK_EQ(ArrowArrayAllocateDictionary(m.array.children[1]), 0);
  arrow_text("string", "'w' 'x'", m.schema.children[1]->dictionary,
             m.array.children[1]->dictionary);
  for (m.k = 0; m.k < NUM_KINDS; m.k++) {
    FOR_EACH_ALLOCATION_FAILURE(run_all, &m, CST_NO_MEMORY);
  }
  m.array.release(&m.array);
  m.schema.release(&m.schema);
}
