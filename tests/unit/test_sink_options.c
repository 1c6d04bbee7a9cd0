/* Options of sinks by their names. */
#include "format/sink_options.h"

#include <string.h>

#include "harness.h"

static cst_status set(cst_sink_options *options, const char *name, const char *value) {
  return cst_sink_options_set(options, name, value, NULL);
}

TEST(every_option_by_name) {
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  CHECK_EQ(set(&options, "format", "csv"), CST_OK);
  CHECK_STR(options.format, "csv");
  CHECK_EQ(set(&options, "compression", "zstd"), CST_OK);
  CHECK_EQ(options.compression, CST_COMPRESSION_ZSTD);
  CHECK_EQ(set(&options, "compression", "by_name"), CST_OK);
  CHECK_EQ(options.compression, CST_COMPRESSION_BY_NAME);
  CHECK_EQ(set(&options, "level", "-100"), CST_OK);
  CHECK_EQ(options.level, -100);
  CHECK_EQ(set(&options, "level", "0"), CST_OK);
  CHECK_EQ(options.level, 0);
  CHECK_EQ(set(&options, "lossy", "true"), CST_OK);
  CHECK(options.lossy);
  CHECK_EQ(set(&options, "threads", "2"), CST_OK);
  CHECK_EQ(options.threads, 2);
  CHECK_EQ(set(&options, "num_shards", "99999"), CST_OK);
  CHECK_EQ(options.num_shards, 99999);
  CHECK_EQ(set(&options, "shard_bytes", "9223372036854775807"), CST_OK);
  CHECK_EQ(options.shard_bytes, INT64_MAX);
  CHECK_EQ(set(&options, "container", "lines"), CST_OK);
  CHECK_STR(options.container, "lines");
  CHECK_EQ(cst__options_check(&cst__sink_option_table, &options, NULL), CST_OK);
}

TEST(all_are_told) {
  const cst_option_info *info;
  size_t count = 0;
  for (; (info = cst_sink_option_get(count)) != NULL; count++) {
    CHECK(info->help != NULL && info->writes && !info->reads);
  }
  CHECK_EQ(count, 8);
  CHECK(cst_sink_option_get(SIZE_MAX) == NULL);
}

TEST(what_is_refused) {
  static const char *const wrong[][2] = {
      {"levels", "7"},       {"level", "101"},       {"threads", "0"},
      {"threads", "1025"},   {"num_shards", "0"},    {"num_shards", "1e5"},
      {"lossy", "1"},        {"compression", "lz4"}, {"num_shards", "100000"},
      {"shard_bytes", "-1"}, {"overwrite", "true"},
  };
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  const cst_sink_options as_before = options;
  cst_error error = CST_ERROR_INIT;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    CHECK_EQ(cst_sink_options_set(&options, wrong[i][0], wrong[i][1], &error),
             CST_INVALID_ARGUMENT);
    CHECK_CONTAINS(error.message, wrong[i][0]);
    CHECK_EQ(memcmp(&options, &as_before, sizeof options), 0);
  }
}

/* What a program sets in the struct itself is looked at where the sink is opened. */
TEST(out_of_range) {
  cst_sink_options options[4] = {CST_SINK_OPTIONS_INIT, CST_SINK_OPTIONS_INIT,
                                 CST_SINK_OPTIONS_INIT, CST_SINK_OPTIONS_INIT};
  options[0].num_shards = UINT32_MAX;
  options[1].threads = -1;
  options[2].compression = (cst_compression)5;
  options[3].level = 1000;
  for (size_t i = 0; i < 4; i++) {
    cst_error error = CST_ERROR_INIT;
    CHECK_EQ(cst_sink_format("x.csv", &options[i], NULL, &error), CST_INVALID_ARGUMENT);
    CHECK_CONTAINS(error.message, "is out of its range");
  }
}
