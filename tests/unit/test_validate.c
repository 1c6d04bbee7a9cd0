/* Validation of sources: counts and places for every number of threads, batches of several types,
 * damage, pipes, and what happens without memory.
 */
#include <columnstone/validate.h>

#include "source_support.h"

static cst_schema *parse(const char *text) {
  cst_schema *schema = NULL;
  CHECK_EQ(cst_schema_from_text(text, strlen(text), &schema, NULL), CST_OK);
  return schema;
}

/* "kind path count: record record; ..." */
static void text_of_validation(bytes *out, const cst_findings *found) {
  for (size_t i = 0; i < cst_findings_num_rows(found); i++) {
    const char *kind = cst_findings_text(found, "kind", i);
    const char *path = cst_findings_text(found, "path", i);
    size_t begin, end;
    bytes_add(out, kind, strlen(kind));
    bytes_add(out, " ", 1);
    bytes_add(out, path, strlen(path));
    text_of(out, " %" PRId64 ":", cst_findings_number(found, "count", i));
    CHECK(cst_findings_items(found, "places", i, &begin, &end));
    for (size_t k = begin; k < end; k++) {
      text_of(out, " %" PRId64, cst_findings_number(found, "places.record", k));
    }
    bytes_add(out, "; ", 2);
  }
}

typedef struct setting {
  const char *const *paths;
  size_t num_paths;
  const char *schema;
  bool tensors;
  int32_t threads;
  cst_on_error on_error;
} setting;

static cst_status validate(const setting *s, bytes *out, uint64_t *rows) {
  cst_source_options source_options = CST_SOURCE_OPTIONS_INIT;
  cst_validate_options options = CST_VALIDATE_OPTIONS_INIT;
  cst_schema *schema;
  cst_source *source;
  cst_findings *validation;
  CST__TRY(cst_schema_from_text(s->schema, strlen(s->schema), &schema, NULL));
  source_options.threads = s->threads;
  source_options.on_error = s->on_error;
  cst_status status = cst_source_open(s->paths, s->num_paths, &source_options, &source, NULL);
  if (status == CST_OK) {
    options.schema = schema;
    options.skip_tensors = !s->tensors;
    status = cst_source_validate(source, &options, &validation, NULL);
    cst_source_release(source);
  }
  if (status == CST_OK) {
    *rows = (uint64_t)cst_findings_total(validation, "num_rows");
    if (out != NULL) {
      text_of_validation(out, validation);
    }
    cst_findings_free(validation);
  }
  cst_schema_release(schema);
  return status;
}

/* The same with one thread and with three, whatever the source does with damage. */
static void check_found(const setting *s, uint64_t wanted_rows, const char *wanted) {
  for (int i = 0; i < 4; i++) {
    setting one = *s;
    bytes text = {0};
    uint64_t rows = 0;
    one.threads = i % 2 == 0 ? 1 : 3;
    one.on_error = i / 2 == 0 ? CST_ON_ERROR_RAISE : CST_ON_ERROR_SKIP;
    CHECK_EQ(validate(&one, &text, &rows), CST_OK);
    bytes_add(&text, "", 1);
    CHECK_STR((const char *)text.data, wanted);
    CHECK_EQ(rows, wanted_rows);
    bytes_free(&text);
  }
}

#define RULES                                                          \
  "feature { name: 'id' type: INT int_domain { min: 3 max: 9998 } } "  \
  "feature { name: 'name' type: BYTES presence { min_fraction: 1 } } " \
  "feature { name: 'x' type: FLOAT presence { min_fraction: 0.9 } } "  \
  "feature { name: 'y' type: FLOAT presence { min_count: 1 } } "

TEST(counts_and_places_over_many_batches) {
  const char *paths[] = {write_examples("a", 0, 10000), write_examples("b", 0, 10001)};
  check_found(&(setting){.paths = paths, .num_paths = 2, .schema = RULES}, 20001,
              "int-domain id 9: 0 1 2 9999 0; presence x 6668: 0 3 6 9 12; "
              "missing-feature y 20001: 0 1 2 3 4; ");
}

TEST(no_records_lack_only_what_is_counted) {
  const char *path = write_examples("none", 0, 0);
  check_found(&(setting){.paths = &path, .num_paths = 1, .schema = RULES}, 0,
              "missing-feature y 0:; ");
}

static void add_other(bytes *file, int i) {
  bytes features = {0};
  bytes record = {0};
  if (i % 2 == 0) {
    put_text(&features, "id", "text");
  } else {
    put_float(&features, "id", 1);
  }
  put_text(&features, "name", "n");
  put_field(&record, 1, features.data, features.size);
  bytes_add_record(file, record.data, record.size);
  bytes_free(&features);
  bytes_free(&record);
}

/* Records 100, 200, ... have a feature of another type; among them are two that do not parse. */
TEST(records_of_other_types_come_in_smaller_batches) {
  bytes file = {0};
  for (int i = 0; i < 1000; i++) {
    if (i == 450 || i == 701) {
      bytes_add_record(&file, "\x0a\xff", 2);
    } else if (i > 0 && i % 100 == 0) {
      add_other(&file, i / 100);
    } else {
      add_examples(&file, i, i + 1);
    }
  }
  const char *path = write_bytes("mixed", &file);
  check_found(&(setting){.paths = &path,
                         .num_paths = 1,
                         .schema = "feature { name: 'id' type: INT int_domain { min: 2 } }"
                                   "feature { name: 'name' type: BYTES }"
                                   "feature { name: 'x' type: FLOAT }"},
              998, "type id 9: 100 200 300 400 500; int-domain id 2: 0 1; record  2: 450 701; ");
  bytes_free(&file);
}

TEST(damaged_records_are_passed_over) {
  bytes file = {0};
  add_examples(&file, 0, 9000);
  file.data[record_offset(&file, 70) + 20] ^= 1;   /* the payload */
  file.data[record_offset(&file, 8000) + 1] ^= 64; /* the length */
  const char *path = write_bytes("damaged", &file);
  check_found(&(setting){.paths = &path, .num_paths = 1, .schema = RULES}, 8998,
              "int-domain id 3: 0 1 2; presence x 3000: 0 3 6 9 12; "
              "missing-feature y 8998: 0 1 2 3 4; record  1: 70; record  1: 8000; ");
  bytes_free(&file);
}

TEST(tensors_are_checked_row_by_row) {
  const char *path = write_examples("tensors", 0, 5000);
  check_found(
      &(setting){.paths = &path,
                 .num_paths = 1,
                 .tensors = true,
                 .schema = "feature { name: 'id' type: INT }"
                           "feature { name: 'name' type: BYTES }"
                           "feature { name: 'x' type: FLOAT }"
                           "tensor_representation_group { key: '' value { "
                           "tensor_representation { key: 't' value { dense_tensor { "
                           "column_name: 'x' shape { } } } } "
                           "tensor_representation { key: 'u' value { varlen_sparse_tensor { "
                           "column_name: 'id' } } } } }"},
      5000, "representation x 1667: 0 3 6 9 12; ");
}

TEST(a_pipe_is_read_once) {
  bytes file = {0};
  add_examples(&file, 0, 12000);
  cst_schema *schema = parse(RULES);
  for (int threads = 1; threads <= 3; threads += 2) {
    memory m = {.data = file.data, .size = file.size};
    cst_reader reader = memory_reader(&m, false);
    cst_source_options source_options = CST_SOURCE_OPTIONS_INIT;
    cst_validate_options options = CST_VALIDATE_OPTIONS_INIT;
    cst_source *source;
    cst_findings *validation;
    source_options.threads = threads;
    options.schema = schema;
    CHECK_EQ(cst_source_open_readers(&reader, 1, &source_options, &source, NULL), CST_OK);
    CHECK_EQ(cst_source_validate(source, &options, &validation, NULL), CST_OK);
    CHECK_EQ(cst_findings_total(validation, "num_rows"), 12000);
    CHECK_EQ(cst_findings_number(validation, "count", 0), 3 + 2001);
    cst_findings_free(validation);
    CHECK_EQ(cst_source_validate(source, &options, &validation, NULL), CST_STATE);
    cst_source_release(source);
  }
  cst_schema_release(schema);
  bytes_free(&file);
}

TEST(the_validation_outlives_its_source_and_schema) {
  const char *path = write_examples("outlives", 0, 10);
  cst_source_options source_options = CST_SOURCE_OPTIONS_INIT;
  cst_schema *schema = parse(RULES);
  cst_source *source;
  cst_findings *validation;
  source_options.schema = schema;
  CHECK_EQ(cst_source_open(&path, 1, &source_options, &source, NULL), CST_OK);
  CHECK_EQ(cst_source_validate(source, NULL, &validation, NULL), CST_OK);
  cst_source_release(source);
  cst_schema_release(schema);
  CHECK_STR(cst_findings_text(validation, "message", 0),
            "3 of 10 records have values outside [3, 9998]: the smallest 0, the largest 2");
  CHECK_STR(cst_findings_text(validation, "hint", 0),
            "widen int_domain of \"id\" to [0, 9998], or repair the data");
  CHECK_STR(cst_findings_text(validation, "places.file", 1), path);
  CHECK_STR(cst_findings_text(validation, "places.found", 1), "1");
  CHECK(cst_findings_text(validation, "kind", 99) == NULL);
  cst_findings_free(validation);
}

TEST(arguments) {
  const char *path = write_examples("arguments", 0, 10);
  cst_validate_options options = CST_VALIDATE_OPTIONS_INIT;
  cst_schema *schema = parse(RULES);
  cst_source *source;
  cst_findings *validation;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_source_open(&path, 1, NULL, &source, NULL), CST_OK);
  CHECK_EQ(cst_source_validate(NULL, &options, &validation, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_source_validate(source, &options, NULL, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_source_validate(source, &options, &validation, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "no schema");
  options.schema = schema;
  options.num_groups = 1;
  CHECK_EQ(cst_source_validate(source, &options, &validation, NULL), CST_INVALID_ARGUMENT);
  const char *group[] = {"missing"};
  options.group = group;
  CHECK_EQ(cst_source_validate(source, &options, &validation, NULL), CST_NOT_FOUND);
  options.num_groups = 0;
  options.environment = "missing";
  CHECK_EQ(cst_source_validate(source, &options, &validation, NULL), CST_NOT_FOUND);
  cst_source_release(source);
  cst_schema_release(schema);
}

static int scenario(void *context) {
  uint64_t rows;
  return (int)validate(context, NULL, &rows);
}

TEST(every_allocation_failure_is_reported) {
  bytes file = {0};
  add_examples(&file, 0, 20);
  add_other(&file, 0);
  add_other(&file, 1);
  bytes_add_record(&file, "\x0a\xff", 2);
  add_examples(&file, 20, 40);
  file.data[record_offset(&file, 7) + 20] ^= 1;
  const char *path = write_bytes("memory", &file);
  setting s = {.paths = &path,
               .num_paths = 1,
               .threads = 1,
               .tensors = true,
               .schema = "feature { name: 'id' type: INT int_domain { min: 0 max: 9 } "
                         "value_count { min: 2 } } "
                         "feature { name: 'name' type: BYTES string_domain { value: 'a' } } "
                         "feature { name: 'y' type: FLOAT presence { min_count: 1 } } "
                         "sparse_feature { name: 's' index_feature { name: 'id' } "
                         "value_feature { name: 'y' } dense_shape { dim { size: 5 } } }"};
  FOR_EACH_ALLOCATION_FAILURE(scenario, &s, CST_NO_MEMORY);
  bytes_free(&file);
}
