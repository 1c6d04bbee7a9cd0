/* Options of sources by their names. */
#include "source/input/source_options.h"

#include <string.h>

#include "harness.h"

static cst_status set(cst_source_options *options, const char *name, const char *value) {
  return cst_source_options_set(options, name, value, NULL);
}

TEST(every_kind_by_name) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  CHECK_EQ(set(&options, "format", "csv"), CST_OK);
  CHECK_STR(options.format, "csv");
  CHECK_EQ(set(&options, "batch_size", "7"), CST_OK);
  CHECK_EQ(options.batch_size, 7);
  CHECK_EQ(set(&options, "threads", "1024"), CST_OK);
  CHECK_EQ(options.threads, 1024);
  CHECK_EQ(set(&options, "max_errors", "9223372036854775807"), CST_OK);
  CHECK_EQ(options.max_errors, INT64_MAX);
  CHECK_EQ(set(&options, "flat", "true"), CST_OK);
  CHECK(options.flat);
  CHECK_EQ(set(&options, "check_crc", "false"), CST_OK);
  CHECK_EQ(set(&options, "memory_map", "true"), CST_OK);
  CHECK_EQ(options.flags, CST_SOURCE_SKIP_CRC | CST_SOURCE_MEMORY_MAP);
  CHECK_EQ(set(&options, "check_crc", "true"), CST_OK);
  CHECK_EQ(options.flags, CST_SOURCE_MEMORY_MAP);
  CHECK_EQ(set(&options, "offsets", "32"), CST_OK);
  CHECK_EQ(set(&options, "nested", "true"), CST_OK);
  CHECK_EQ(options.column_flags, CST_COLUMNS_OFFSETS_32 | CST_COLUMNS_NESTED);
  CHECK_EQ(set(&options, "offsets", "64"), CST_OK);
  CHECK_EQ(options.column_flags, CST_COLUMNS_NESTED);
  CHECK_EQ(set(&options, "on_error", "skip"), CST_OK);
  CHECK_EQ(options.on_error, CST_ON_ERROR_SKIP);
  CHECK_EQ(set(&options, "on_error", "null"), CST_OK);
  CHECK_EQ(options.on_error, CST_ON_ERROR_NULL);
}

/* What is told as usual is what nobody has to set, and what a value says, the struct does. */
TEST(usual_values_change_nothing) {
  const cst_option_info *info;
  size_t count = 0;
  for (; (info = cst_source_option_get(count)) != NULL; count++) {
    cst_source_options options = CST_SOURCE_OPTIONS_INIT;
    cst_source_options settled = CST_SOURCE_OPTIONS_INIT;
    cst__arena arena;
    cst__arena_init(&arena, NULL);
    CHECK(info->help != NULL && info->reads);
    if (info->usual != NULL) {
      CHECK_EQ(set(&options, info->name, info->usual), CST_OK);
    }
    CHECK_EQ(cst__source_options_settle(&options, &arena, NULL), CST_OK);
    CHECK_EQ(cst__source_options_settle(&settled, &arena, NULL), CST_OK);
    CHECK_EQ(memcmp(&options, &settled, sizeof options), 0);
    cst__arena_reset(&arena);
  }
  CHECK_EQ(count, 23);
  CHECK(cst_source_option_get(SIZE_MAX) == NULL);
}

TEST(what_is_refused) {
  static const char *const wrong[][2] = {
      {"batch_sizes", "7"}, {"batch_size", "0"},   {"batch_size", "-1"},   {"threads", "1025"},
      {"threads", "two"},   {"offsets", "16"},     {"flat", "1"},          {"on_error", "drop"},
      {"columns", "a"},     {"max_errors", "1e3"}, {"sample_records", ""},
  };
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  const cst_source_options as_before = options;
  cst_error error = CST_ERROR_INIT;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    CHECK_EQ(cst_source_options_set(&options, wrong[i][0], wrong[i][1], &error),
             CST_INVALID_ARGUMENT);
    CHECK_CONTAINS(error.message, wrong[i][0]);
    CHECK_EQ(memcmp(&options, &as_before, sizeof options), 0);
  }
  CHECK_EQ(cst_source_options_set(&options, "batch_sizes", "7", &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, "source has no option 'batch_sizes'");
  CHECK_STR(error.hint, "did you mean 'batch_size'?");
  CHECK_EQ(set(NULL, "flat", "true"), CST_INVALID_ARGUMENT);
  CHECK_EQ(set(&options, NULL, "true"), CST_INVALID_ARGUMENT);
  CHECK_EQ(set(&options, "flat", NULL), CST_INVALID_ARGUMENT);
}

/* The struct of an earlier version is written no further than it goes. */
TEST(of_an_earlier_version) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.size = offsetof(cst_source_options, threads);
  options.threads = 77;
  CHECK_EQ(set(&options, "batch_size", "7"), CST_OK);
  CHECK_EQ(options.size, offsetof(cst_source_options, threads));
  CHECK_EQ(options.batch_size, 7);
  CHECK_EQ(options.threads, 77);
}

TEST(ranges_of_what_was_set_in_the_struct) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__options_check(&cst__source_option_table, &options, NULL), CST_OK);
  options.max_inflation = UINT64_MAX; /* as good as none */
  CHECK_EQ(cst__options_check(&cst__source_option_table, &options, NULL), CST_OK);
  options.batch_size = -1;
  CHECK_EQ(cst__options_check(&cst__source_option_table, &options, &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, "source option batch_size is out of its range: -1");
  options.batch_size = 0;
  options.on_error = (cst_on_error)3;
  CHECK_EQ(cst__options_check(&cst__source_option_table, &options, NULL), CST_INVALID_ARGUMENT);
  options.on_error = CST_ON_ERROR_RAISE;
  options.raw_column = "\xff";
  CHECK_EQ(cst__options_check(&cst__source_option_table, &options, NULL), CST_INVALID_ARGUMENT);
}
