/* Sources that are made of others: the same inputs, other parts, other options. */
#include "schema/schema.h"
#include "source/input/source.h"
#include "source_support.h"

static cst_source *open_options(const cst_source_options *options) {
  const char *path = write_examples("with.tfrecord", 0, 10);
  cst_source *source = NULL;
  CHECK_EQ(cst_source_open(&path, 1, options, &source, NULL), CST_OK);
  return source;
}

/* The options of the source that it was made of stay as they are, whichever is released first. */
TEST(other_options) {
  static const char text[] = "feature { name: \"id\" type: INT }";
  const char *columns[] = {"id", "x"};
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.offset_column = "offset";
  options.batch_size = 3;
  cst_source *source = open_options(&options);
  cst_schema *schema = NULL;
  CHECK_EQ(cst_schema_from_text(text, sizeof text - 1, &schema, NULL), CST_OK);

  cst__reading_options other = source->options;
  other.values.columns = columns;
  other.values.num_columns = 2;
  other.values.schema = schema;
  other.values.batch_size = 7;
  cst_source *with = NULL;
  CHECK_EQ(cst__source_with(source, NULL, 0, &other, &with, NULL), CST_OK);
  cst_schema_release(schema); /* `with` holds on to it */
  CHECK(with->inputs == source->inputs);
  CHECK(with->parts[0].file == source->parts[0].file);
  CHECK_EQ(source->options.values.batch_size, 3);
  CHECK(source->options.values.columns == NULL);
  CHECK(source->options.values.schema == NULL);
  cst_source_release(source);
  CHECK_EQ(with->num_parts, 1);
  CHECK_EQ(with->options.values.batch_size, 7);
  CHECK_STR(with->options.values.offset_column, "offset");
  CHECK_EQ(cst_schema_num_features(with->options.values.schema), 1);
  CHECK(cst__source_known_schema(with) == with->options.values.schema);
  cst_source_release(with);
}

TEST(other_parts) {
  cst_source *source = open_options(NULL);
  int64_t all = source->parts[0].size;
  cst__part parts[2] = {source->parts[0], source->parts[0]};
  cst_source *twice = NULL;
  cst_source *none = NULL;
  CHECK_EQ(cst__source_with(source, parts, 2, NULL, &twice, NULL), CST_OK);
  CHECK_EQ(cst__source_with(source, parts, 0, NULL, &none, NULL), CST_OK);
  cst_source_release(source);
  CHECK_EQ(cst_source_total_bytes(twice), 2 * all);
  CHECK_EQ(cst_source_total_bytes(none), 0);
  bytes text = {0};
  bytes single = {0};
  CHECK_EQ(text_of_pass(none, &text, NULL), CST_OK);
  CHECK_EQ(text.size, 0);
  CHECK_EQ(text_of_pass(twice, &text, NULL), CST_OK);
  source = open_options(NULL);
  CHECK_EQ(text_of_pass(source, &single, NULL), CST_OK);
  CHECK(text.size > single.size);
  bytes_free(&single);
  bytes_free(&text);
  cst_source_release(source);
  cst_source_release(none);
  cst_source_release(twice);
}

static int with_scenario(void *ctx) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.group = "group";
  options.format = "raw";
  cst_source *source;
  CST__TRY(cst_source_open(ctx, 1, &options, &source, NULL));
  cst_source *with = NULL;
  cst_status status = cst__source_with(source, NULL, 0, NULL, &with, NULL);
  cst_source_release(source);
  cst_source_release(with);
  return (int)status;
}

TEST(every_allocation_failure_is_reported) {
  const char *path = write_examples("memory.tfrecord", 0, 3);
  FOR_EACH_ALLOCATION_FAILURE(with_scenario, &path, CST_NO_MEMORY);
}
