/* Options of formats: told, given by name, and refused where they mean nothing. */
#include "format/format_options.h"

#include <columnstone/sink.h>
#include <columnstone/source.h>
#include <string.h>

#include "format/csv/csv_options.h"
#include "harness.h"

typedef struct reading {
  cst__arena arena;
  cst__format format;
  const void *options;
  cst_error error;
} reading;

static cst_status read_given(reading *r, const char *format, const cst_option *given,
                             size_t count) {
  r->error = (cst_error)CST_ERROR_INIT;
  cst__arena_init(&r->arena, NULL);
  r->options = NULL;
  CST__TRY(cst__format_find(format, &r->format, &r->error));
  return cst__format_options_read(&r->format, CST__FOR_READING, (cst__option_list){given, count},
                                  &r->arena, &r->options, &r->error);
}

TEST(every_kind) {
  static const cst_option given[] = {
      {"delimiter", "\\t", NULL}, {"names", "a,\"b,\"\"c\",,d,", "csv"},
      {"skip_lines", "7", NULL},  {"keep_blank_lines", "true", NULL},
      {"multivalent", "", NULL},  {"nothing", "of ours", "json"},
      {"comment", "#", NULL},
  };
  reading r;
  CHECK_EQ(read_given(&r, "csv", given, sizeof given / sizeof *given), CST_OK);
  const cst__csv_options *csv = r.options;
  CHECK_EQ(csv->delimiter, '\t');
  CHECK_EQ(csv->comment, '#');
  CHECK_EQ(csv->secondary_delimiter, 0);
  CHECK_EQ(csv->skip_lines, 7);
  CHECK(csv->keep_blank_lines);
  CHECK(csv->header); /* the usual value */
  CHECK(csv->multivalent != NULL);
  CHECK_EQ(csv->num_multivalent, 0);
  CHECK_EQ(csv->num_names, 5);
  CHECK_STR(csv->names[0], "a");
  CHECK_STR(csv->names[1], "b,\"c");
  CHECK_STR(csv->names[2], "");
  CHECK_STR(csv->names[3], "d");
  CHECK_STR(csv->names[4], "");
  cst__arena_reset(&r.arena);
}

static void check_refused(const char *format, const char *name, const char *value,
                          const char *message, const char *hint) {
  const cst_option given = {name, value, NULL};
  reading r;
  CHECK_EQ(read_given(&r, format, &given, 1), CST_INVALID_ARGUMENT);
  CHECK_STR(r.error.message, message);
  CHECK_STR(r.error.hint, hint);
  CHECK(r.options == NULL);
  cst__arena_reset(&r.arena);
}

TEST(wrong_options) {
  check_refused("json", "delimiter", ";", "json has no option 'delimiter'",
                "it belongs to the format csv: name that format if you mean it");
  check_refused("csv", "sequence_column", "s", "csv has no option 'sequence_column'",
                "it belongs to the format sequence_example: name that format if you mean it");
  check_refused("csv", "delimiters", ";", "csv has no option 'delimiters'",
                "did you mean 'delimiter'?");
  check_refused("sequence_example", "x", ";", "sequence_example has no option 'x'",
                "it has sequence_column");
  check_refused("arrow", "x", ";", "arrow has no option 'x'", "it has none");
  check_refused("csv", "delimiter", "ab",
                "csv option delimiter is 'ab': expected one ASCII character",
                "neither a quote nor a line end");
  check_refused("csv", "skip_lines", "-1",
                "csv option skip_lines is '-1': expected a number of at least 0", "");
  check_refused("csv", "keep_blank_lines", "yes",
                "csv option keep_blank_lines is 'yes': expected false or true", "");
  check_refused("csv", "header", "false", "csv has no option 'header' of reading",
                "it is an option for writing");
  check_refused("csv", "names", "\"a\"b",
                "csv option names has a quote that is not closed, or text after it",
                "write names between commas, in quotes if they have commas or quotes");
  check_refused("csv", "names", "a,\"b",
                "csv option names has a quote that is not closed, or text after it",
                "write names between commas, in quotes if they have commas or quotes");
}

/* Each option is told, with what programs need for their help. */
TEST(what_there_is) {
  const cst_format_info *format;
  size_t count = 0;
  for (size_t i = 0; (format = cst_format_get(i)) != NULL; i++) {
    const cst_option_info *info;
    for (size_t k = 0; (info = cst_format_option_get(format->name, k)) != NULL; k++) {
      CHECK(info->name[0] != '\0' && info->help != NULL);
      CHECK(info->reads || info->writes);
      count++;
    }
  }
  CHECK_EQ(count, 18);
  CHECK(cst_format_option_get("json", 0) == NULL);
  CHECK(cst_format_option_get("nothing", 0) == NULL);
  CHECK(cst_format_option_get(NULL, 0) == NULL);
}

TEST(without_name_or_value) {
  cst_option given = {"delimiter", NULL, NULL};
  const char *path = "a.csv";
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_source *source;
  cst_error error = CST_ERROR_INIT;
  options.num_format_options = 1;
  CHECK_EQ(cst_source_open(&path, 1, &options, &source, &error), CST_INVALID_ARGUMENT);
  options.format_options = &given;
  CHECK_EQ(cst_source_open(&path, 1, &options, &source, &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, "option 0 has no name or no value");
}

/* A sink tells its format, and refuses what it does not have, before anything is written. */
TEST(formats_of_outputs) {
  const cst_option given = {"delimiter", ";", NULL};
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  const char *format;
  CHECK_EQ(cst_sink_format("x.csv.gz", &options, &format, NULL), CST_OK);
  CHECK_STR(format, "csv");
  CHECK_EQ(cst_sink_format("x.tfrecord", &options, &format, NULL), CST_OK);
  CHECK(format == NULL);
  options.format_options = &given;
  options.num_format_options = 1;
  CHECK_EQ(cst_sink_format("x.tsv", &options, NULL, NULL), CST_OK);
  CHECK_EQ(cst_sink_format("x.jsonl", &options, &format, NULL), CST_INVALID_ARGUMENT);
  CHECK(format == NULL);
}

static int read_names(void *ctx) {
  static const cst_option given[] = {{"names", "a,b", NULL}, {"comment", "#", NULL}};
  reading r;
  (void)ctx;
  cst_status status = read_given(&r, "csv", given, 2);
  cst__arena_reset(&r.arena);
  return (int)status;
}

static int read_column(void *ctx) {
  static const cst_option given[] = {{"sequence_column", "steps", NULL}};
  reading r;
  (void)ctx;
  cst_status status = read_given(&r, "sequence_example", given, 1);
  cst__arena_reset(&r.arena);
  return (int)status;
}

TEST(allocation_failures) {
  FOR_EACH_ALLOCATION_FAILURE(read_names, NULL, CST_NO_MEMORY);
  FOR_EACH_ALLOCATION_FAILURE(read_column, NULL, CST_NO_MEMORY);
}
