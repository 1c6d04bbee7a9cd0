/* <columnstone/accumulate.h>: batches from outside, failures, merging, saving and loading. */
#include <columnstone/accumulate.h>
#include <columnstone/sketch.h>

#include "array_layouts.h"
#include "arrow_text.h"
#include "findings_text.h"

static const char schema_text[] =
    "feature { name: 'a' type: INT int_domain { min: 0 max: 2 } }"
    "feature { name: 's' type: BYTES }"
    "feature { name: 'p_index' type: INT int_domain { min: 0 max: 9 } }"
    "feature { name: 'p_value' type: INT }"
    "sparse_feature { name: 'p' index_feature { name: 'p_index' }"
    "  value_feature { name: 'p_value' } }";

typedef enum kind { INFERENCE, LOOKING, VALIDATION, PROPOSAL, COUNTS, LENGTHS, NUM_KINDS } kind;

static cst_status make_kind(kind k, cst_accumulator **out) {
  static const char *const names[] = {"inference", "inference", "validation",
                                      "proposal",  "counts",    "lengths"};
  const cst_option looking = {"look_at_values", "true", NULL};
  const cst_option validation[] = {{"schema", schema_text, NULL}, {"group", "\"\"", NULL}};
  return cst_accumulator_new(names[k],
                             k == LOOKING      ? &looking
                             : k == VALIDATION ? validation
                                               : NULL,
                             k == LOOKING      ? 1
                             : k == VALIDATION ? 2
                                               : 0,
                             NULL, out, NULL);
}

static cst_accumulator *new_kind(kind k) {
  cst_accumulator *made = NULL;
  CHECK_EQ(make_kind(k, &made), CST_OK);
  return made;
}

/* What it has found, as text (free). */
static char *found_text(const cst_accumulator *accumulator, kind k) {
  cst_schema *schema;
  cst_findings *found;
  char *text = NULL;
  size_t size;
  CHECK_EQ(cst_accumulator_finish(accumulator, &found, NULL), CST_OK);
  if (k == INFERENCE || k == LOOKING || k == PROPOSAL) {
    CHECK_EQ(cst_accumulator_finish_schema(accumulator, &schema, NULL), CST_OK);
    CHECK_EQ(cst_schema_to_text(schema, &text, &size, NULL), CST_OK);
    CHECK_EQ(cst_findings_num_rows(found), cst_schema_num_features(schema));
    cst_schema_release(schema);
  } else {
    text = findings_text(found);
  }
  cst_findings_free(found);
  return text;
}

static void check_found(const cst_accumulator *accumulator, kind k, const char *expected) {
  char *text = found_text(accumulator, k);
  CHECK_STR(text, expected);
  cst_free(text);
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
    cst_accumulator_free(parts[1]);
    CHECK_EQ(cst_accumulator_from_bytes(bytes, size, NULL, &parts[1], NULL), CST_OK);
    cst_accumulator *again = new_kind(k);
    CHECK_EQ(add_text(again, batch_type, first_rows, NULL), CST_OK);
    cst_free(found_text(again, k)); /* more may come afterwards */
    CHECK_EQ(cst_accumulator_merge(again, parts[1], NULL), CST_OK);
    check_found(again, k, expected);
    cst_free(expected);
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
  char *text = found_text(validation, VALIDATION);
  CHECK_CONTAINS(text,
                 "\"count\": 3, \"places\": [{\"file\": \"f\", \"record\": 11, \"found\": \"7\"}, "
                 "{\"file\": \"\", \"record\": null, \"found\": \"8\"}, "
                 "{\"file\": \"g\", \"record\": null, \"found\": \"8\"}]}\nnum_rows 4\n");
  cst_free(text);
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
  cst_accumulator_free(whole);
  CHECK_EQ(cst_accumulator_from_bytes(bytes, size, NULL, &whole, NULL), CST_OK);
  check_found(whole, VALIDATION, expected);
  cst_free(expected);
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
    cst_free(expected);
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
  const cst_option options[] = {
      {"schema", schema_text, NULL}, {"group", "\"\"", NULL}, {"places", "2", NULL}};
  cst_accumulator *other;
  CHECK_EQ(cst_accumulator_new("validation", options, 3, NULL, &other, NULL), CST_OK);
  CHECK_EQ(cst_accumulator_merge(all[VALIDATION], other, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "with different options: places differs");
  cst_accumulator_free(other);
  for (kind k = 0; k < NUM_KINDS; k++) {
    cst_accumulator_free(all[k]);
  }
}

TEST(what_one_finishes_as) {
  cst_error error = CST_ERROR_INIT;
  for (kind k = 0; k < NUM_KINDS; k++) {
    cst_accumulator *accumulator = new_kind(k);
    cst_schema *schema = NULL;
    bool is_schema = k == INFERENCE || k == LOOKING || k == PROPOSAL;
    CHECK_EQ(cst_accumulator_finish_schema(accumulator, &schema, &error),
             is_schema ? CST_OK : CST_INVALID_ARGUMENT);
    CHECK(is_schema || schema == NULL);
    cst_schema_release(schema);
    cst_accumulator_free(accumulator);
  }
}

TEST(arguments_that_are_missing) {
  cst_error error = CST_ERROR_INIT;
  cst_accumulator *accumulator = new_kind(COUNTS);
  struct ArrowSchema schema;
  struct ArrowArray array;
  arrow_text("struct{a: int64}", "{1}", &schema, &array);
  cst_accumulator *out = accumulator;
  CHECK_EQ(cst_accumulator_new(NULL, NULL, 0, NULL, &out, &error), CST_INVALID_ARGUMENT);
  CHECK(out == NULL);
  CHECK_EQ(cst_accumulator_new("counts", NULL, 1, NULL, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_accumulator_new("validation", NULL, 0, NULL, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "schema");
  CHECK_EQ(cst_accumulator_add(NULL, &schema, &array, NULL, 0, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_accumulator_add(accumulator, NULL, &array, NULL, 0, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_accumulator_add(accumulator, &schema, NULL, NULL, 0, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_accumulator_merge(accumulator, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_accumulator_merge(NULL, accumulator, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_accumulator_from_bytes("", 0, NULL, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_accumulator_from_bytes(NULL, 1, NULL, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_accumulator_open(NULL, NULL, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_accumulator_save(accumulator, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_accumulator_save(NULL, "x", &error), CST_INVALID_ARGUMENT);
  array.release(&array);
  schema.release(&schema);
  cst_accumulator_free(accumulator);
}

static void check_refused(const char *name, const cst_option *options, size_t num_options,
                          const char *message) {
  cst_error error = CST_ERROR_INIT;
  cst_accumulator *out;
  CHECK_EQ(cst_accumulator_new(name, options, num_options, NULL, &out, &error),
           CST_INVALID_ARGUMENT);
  CHECK(out == NULL);
  CHECK_CONTAINS(error.message, message);
}

TEST(names_and_options_that_are_none) {
  const cst_option unknown = {"column", "a", NULL};
  const cst_option no_switch = {"ragged", "yes", NULL};
  const cst_option numbers[] = {{"max_domain", "0", NULL},
                                {"max_domain", "1x", NULL},
                                {"max_domain", "", NULL},
                                {"max_domain", "99999999999999999999999", NULL}};
  const cst_option no_name = {NULL, "a", NULL};
  const cst_option no_value = {"columns", NULL, NULL};
  check_refused("lenght", NULL, 0, "unknown accumulator 'lenght'");
  check_refused("lengths", &unknown, 1, "lengths has no option 'column'");
  check_refused("counts", &unknown, 1, "counts has no option 'column'");
  check_refused("proposal", &no_switch, 1, "ragged");
  for (size_t i = 0; i < 4; i++) {
    check_refused("proposal", &numbers[i], 1, "max_domain");
  }
  check_refused("lengths", &no_name, 1, "no name or no value");
  check_refused("lengths", &no_value, 1, "no name or no value");
}

TEST(options_that_say_the_same_merge) {
  const cst_option said[] = {{"max_domain", "100", NULL}, {"ragged", "false", NULL}};
  const cst_option two[] = {{"columns", "a", NULL}, {"columns", "a,s", NULL}};
  cst_accumulator *usual = new_kind(PROPOSAL);
  cst_accumulator *lengths[2];
  cst_accumulator *same;
  CHECK_EQ(cst_accumulator_new("proposal", said, 2, NULL, &same, NULL), CST_OK);
  CHECK_EQ(cst_accumulator_merge(usual, same, NULL), CST_OK);
  for (size_t i = 0; i < 2; i++) {
    CHECK_EQ(cst_accumulator_new("lengths", &two[i], 1, NULL, &lengths[i], NULL), CST_OK);
  }
  CHECK_EQ(cst_accumulator_merge(lengths[0], lengths[1], NULL), CST_INVALID_ARGUMENT);
  cst_accumulator_free(usual);
  cst_accumulator_free(same);
  cst_accumulator_free(lengths[0]);
  cst_accumulator_free(lengths[1]);
}

static void check_loads(const cst_accumulator *saved) {
  char *bytes[2];
  size_t size[2];
  cst_accumulator *loaded;
  CHECK_EQ(cst_accumulator_to_bytes(saved, &bytes[0], &size[0], NULL), CST_OK);
  CHECK_EQ(cst_accumulator_from_bytes(bytes[0], size[0], NULL, &loaded, NULL), CST_OK);
  CHECK_STR(cst_accumulator_name(loaded), cst_accumulator_name(saved));
  CHECK_EQ(cst_accumulator_to_bytes(loaded, &bytes[1], &size[1], NULL), CST_OK);
  CHECK(size[0] == size[1] && memcmp(bytes[0], bytes[1], size[0]) == 0);
  CHECK_EQ(cst_accumulator_merge(loaded, saved, NULL), CST_OK);
  cst_accumulator_free(loaded);
  cst_free(bytes[0]);
  cst_free(bytes[1]);
}

TEST(saved_bytes_say_name_and_options) {
  const cst_option names[] = {{"columns", "a,\"b,c\",\"say \"\"d\"\"\",\"\"", NULL},
                              {"error", "0.1", NULL}};
  cst_accumulator *made;
  for (kind k = 0; k < NUM_KINDS; k++) {
    made = new_kind(k);
    check_loads(made);
    cst_accumulator_free(made);
  }
  CHECK_EQ(cst_accumulator_new("statistics", names, 2, NULL, &made, NULL), CST_OK);
  check_loads(made);
  cst_findings *options;
  CHECK_EQ(cst_accumulator_options(made, &options, NULL), CST_OK);
  CHECK_STR(cst_findings_text(options, "name", 0), "columns");
  CHECK_STR(cst_findings_text(options, "value", 0), "\"a\",\"b,c\",\"say \"\"d\"\"\",\"\"");
  cst_findings_free(options);
  cst_accumulator_free(made);
}

TEST(what_no_accumulator_saved_is_not_loaded) {
  char *bytes;
  size_t size;
  cst_error error = CST_ERROR_INIT;
  cst_sketch *sketch;
  cst_accumulator *made = new_kind(VALIDATION);
  cst_accumulator *loaded;
  CHECK_EQ(cst_sketch_new("distinct", NULL, 0, NULL, &sketch, NULL), CST_OK);
  CHECK_EQ(cst_sketch_to_bytes(sketch, &bytes, &size, NULL), CST_OK);
  CHECK_EQ(cst_accumulator_from_bytes(bytes, size, NULL, &loaded, &error), CST_CORRUPT);
  CHECK_CONTAINS(error.message, "saved state of an unknown accumulator");
  cst_free(bytes);
  cst_sketch_free(sketch);
  CHECK_EQ(cst_accumulator_to_bytes(made, &bytes, &size, NULL), CST_OK);
  for (size_t i = 0; i < size; i++) {
    CHECK_EQ(cst_accumulator_from_bytes(bytes, i, NULL, &loaded, &error), CST_CORRUPT);
    CHECK(loaded == NULL);
  }
  cst_free(bytes);
  cst_accumulator_free(made);
  CHECK(cst_accumulator_name(NULL) == NULL);
}

TEST(a_list_of_all) {
  cst_findings *all;
  cst_accumulator *made;
  CHECK_EQ(cst_accumulators(&all, NULL), CST_OK);
  CHECK_STR(cst_findings_name(all), "accumulators");
  for (size_t i = 0; i < cst_findings_num_rows(all); i++) {
    const char *name = cst_findings_text(all, "name", i);
    size_t begin, end;
    CHECK(cst_findings_items(all, "options", i, &begin, &end));
    bool needs_schema =
        begin < end && strcmp(cst_findings_text(all, "options.kind", begin), "schema") == 0;
    CHECK_EQ(cst_accumulator_new(name, NULL, 0, NULL, &made, NULL),
             needs_schema ? CST_INVALID_ARGUMENT : CST_OK);
    cst_accumulator_free(made);
  }
  cst_findings_free(all);
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
    cst_accumulator_free(all[1]);
    status = cst_accumulator_from_bytes(bytes, size, NULL, &all[1], NULL);
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
