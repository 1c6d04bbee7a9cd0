/* Messages in a column of a table or stream: with nulls and bad ones, paths into them, and several
 * files.
 */
#include <columnstone/index.h>

#include "pair_support.h"

/* ---- columns ---- */

/* Lines of JSON with the i-th pair as text in `value`, null in each third. */
static const char *write_lines(const char *name, int count, int bad_every) {
  bytes text = {0};
  for (int i = 0; i < count; i++) {
    char line[128];
    const char *bad = is_bad(i, bad_every) ? "\\n\\u007f" : "";
    int size = i % 3 == 2
                   ? snprintf(line, sizeof line, "{\"key\": %d, \"value\": null}\n", i)
                   : snprintf(line, sizeof line,
                              "{\"key\": %d, \"value\": \"\\n\\u0004r %02d\\u0010\\u%04x%s\", "
                              "\"more\": \"m\"}\n",
                              i, i % 100, (unsigned)(i % 100), bad);
    bytes_add(&text, line, (size_t)size);
  }
  const char *path = write_bytes(name, &text);
  bytes_free(&text);
  return path;
}

static void expected_lines(bytes *out, int count, int batch_size, int bad_every, policy bad) {
  int total = 0;
  for (int i = 0; i < count; i++) {
    total += bad != SKIPPED || i % 3 == 2 || !is_bad(i, bad_every);
  }
  for (int i = 0, row = 0; i < count; i++) {
    bool is_null = i % 3 == 2;
    if (!is_null && bad == SKIPPED && is_bad(i, bad_every)) {
      continue;
    }
    if (row % batch_size == 0) {
      text_of(out, "%" PRId64 " rows:", total - row < batch_size ? total - row : batch_size);
    }
    if (is_null || (bad == NULLED && is_bad(i, bad_every))) {
      bytes_add(out, " value=null", 11);
    } else {
      char value[32];
      int size = snprintf(value, sizeof value, " value={%d,'r %02d'}", i % 100, i % 100);
      bytes_add(out, value, (size_t)size);
    }
    text_of(out, " key=%" PRId64 ";", i);
    row++;
    if (row == total || row % batch_size == 0) {
      bytes_add(out, "\n", 1);
    }
  }
}

static const char *const value_columns[] = {"value.id", "key", "value.name"};

static cst_source_options column_options(const cst_message_options *message) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.message = message;
  options.message_column = "value";
  options.columns = value_columns;
  options.num_columns = 3;
  return options;
}

static void check_lines(cst_source *source, int count, int batch_size, int bad_every, policy bad) {
  bytes text = {0}, expected = {0};
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(text_of_pass(source, &text, &error), CST_OK);
  CHECK_STR(error.message, "");
  expected_lines(&expected, count, batch_size, bad_every, bad);
  check_same(&text, &expected);
  bytes_free(&text);
  bytes_free(&expected);
}

TEST(messages_in_a_column_of_a_table) {
  cst_descriptors *descriptors = make_descriptors();
  cst_message_options message = pair_options(descriptors);
  const char *path = write_lines("column.jsonl", 300, 0);
  cst_source_options options = column_options(&message);
  options.batch_size = 70;
  cst_source *source = open_pairs(path, &options);
  CHECK_STR(cst_source_format(source), "json");
  check_lines(source, 300, 70, 0, SOUND);
  cst_specs *specs;
  CHECK_EQ(cst_source_specs(source, &specs, NULL), CST_OK);
  CHECK_EQ(cst_specs_num_specs(specs), 2);
  cst_specs_release(specs);
  cst_source_release(source);
  options.columns = NULL;
  options.num_columns = 0;
  source = open_pairs(path, &options);
  struct ArrowSchema schema;
  CHECK_EQ(cst_source_arrow_schema(source, &schema, NULL), CST_OK);
  CHECK_EQ(schema.n_children, 3);
  CHECK_STR(schema.children[1]->name, "value");
  CHECK_STR(schema.children[1]->format, "+s");
  CHECK_EQ(schema.children[1]->n_children, 2);
  schema.release(&schema);
  cst_source_release(source);
  static const char *const others[] = {"key"};
  options.columns = others; /* nothing is decoded */
  options.num_columns = 1;
  source = open_pairs(path, &options);
  CHECK_EQ(cst_source_arrow_schema(source, &schema, NULL), CST_OK);
  CHECK_EQ(schema.n_children, 1);
  schema.release(&schema);
  cst_source_release(source);
  cst_descriptors_release(descriptors);
}

/* An Arrow stream of batches of another size, with bad messages. */
TEST(messages_in_a_column_of_a_file) {
  cst_descriptors *descriptors = make_descriptors();
  cst_message_options message = pair_options(descriptors);
  static const int every[] = {0, 1, 5, 100};
  for (size_t k = 0; k < sizeof every / sizeof *every; k++) {
    const char *lines = write_lines("file.jsonl", 400, every[k]);
    const char *path = harness_temp_path("file.arrow");
    cst_source_options plain = CST_SOURCE_OPTIONS_INIT;
    plain.batch_size = 150;
    cst_source *from = open_pairs(lines, &plain);
    cst_sink_options sink = CST_SINK_OPTIONS_INIT;
    sink.overwrite = true;
    CHECK_EQ(cst_convert(from, path, &sink, NULL, NULL, NULL, NULL), CST_OK);
    cst_source_release(from);
    for (cst_on_error bad = CST_ON_ERROR_SKIP; bad <= CST_ON_ERROR_NULL; bad++) {
      cst_source_options options = column_options(&message);
      options.batch_size = 64;
      options.on_error = bad;
      cst_source *source = open_pairs(path, &options);
      check_lines(source, 400, 64, every[k], bad == CST_ON_ERROR_SKIP ? SKIPPED : NULLED);
      cst_source_release(source);
    }
    cst_source_options options = column_options(&message);
    options.batch_size = 64;
    cst_source *source = open_pairs(path, &options);
    bytes text = {0};
    cst_error error = CST_ERROR_INIT;
    CHECK_EQ(text_of_pass(source, &text, &error), every[k] > 0 ? CST_CORRUPT : CST_OK);
    if (every[k] > 0) {
      int first = every[k] - 1;
      while (first % 3 == 2) {
        first += every[k];
      }
      CHECK_EQ(error.record, first);
      CHECK_CONTAINS(error.file, "file.arrow");
      CHECK_CONTAINS(error.path, "value");
    }
    bytes_free(&text);
    cst_source_release(source);
  }
  cst_descriptors_release(descriptors);
}

static bool note_place(void *ctx, const cst_dropped *dropped) {
  const char *slash = strrchr(dropped->file, '/');
  bytes_add(ctx, slash, strlen(slash));
  text_of(ctx, " %" PRId64 ";", dropped->record);
  return true;
}

TEST(bad_messages_of_several_files) {
  cst_descriptors *descriptors = make_descriptors();
  cst_message_options message = pair_options(descriptors);
  const char *paths[3];
  for (int i = 0; i < 3; i++) {
    char name[16];
    (void)snprintf(name, sizeof name, "%d.arrow", i);
    paths[i] = harness_temp_path(name);
    cst_source *from = open_pairs(write_lines("several.jsonl", i == 1 ? 1 : 30, 20), NULL);
    CHECK_EQ(cst_convert(from, paths[i], NULL, NULL, NULL, NULL, NULL), CST_OK);
    cst_source_release(from);
  }
  for (cst_on_error bad = CST_ON_ERROR_SKIP; bad <= CST_ON_ERROR_NULL; bad++) {
    bytes places = {0}, text = {0};
    cst_source_options options = column_options(&message);
    cst_source *source = NULL;
    options.batch_size = 50;
    options.on_error = bad;
    options.on_dropped = note_place;
    options.dropped_ctx = &places;
    CHECK_EQ(cst_source_open(paths, 3, &options, &source, NULL), CST_OK);
    CHECK_EQ(text_of_pass(source, &text, NULL), CST_OK);
    bytes_add(&places, "", 1);
    CHECK_STR((const char *)places.data, "/0.arrow 19;/2.arrow 19;");
    cst_source *part = NULL;
    CHECK_EQ(cst_source_split(source, 1, 3, &part, NULL), CST_OK);
    check_text(part, "1 rows: value={0,'r 00'} key=0;\n");
    cst_source_release(part);
    cst_source_release(source);
    bytes_free(&places);
    bytes_free(&text);
  }
  cst_descriptors_release(descriptors);
}

TEST(a_column_that_has_no_messages) {
  cst_descriptors *descriptors = make_descriptors();
  cst_message_options message = pair_options(descriptors);
  const char *path = write_lines("none.jsonl", 3, 0);
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  struct ArrowSchema schema;
  cst_error error = CST_ERROR_INIT;
  options.message = &message;
  options.message_column = "key";
  cst_source *source = open_pairs(path, &options);
  CHECK_EQ(cst_source_arrow_schema(source, &schema, &error), CST_SCHEMA);
  CHECK_CONTAINS(error.message, "expected binary or text");
  CHECK_STR(error.path, "key");
  cst_source_release(source);
  options.message_column = "valu";
  source = open_pairs(path, &options);
  CHECK_EQ(cst_source_arrow_schema(source, &schema, &error), CST_NOT_FOUND);
  CHECK_STR(error.path, "valu");
  cst_source_release(source);
  static const char *const columns[] = {"value.ib"};
  options.message_column = "value";
  options.columns = columns;
  options.num_columns = 1;
  CHECK_EQ(cst_source_open(&path, 1, &options, &source, &error), CST_NOT_FOUND);
  CHECK_STR(error.path, "value.ib");
  cst_descriptors_release(descriptors);
}

/* ---- memory ---- */

TEST(no_memory) {
  cst_descriptors *descriptors = make_descriptors();
  cst_message_options message = pair_options(descriptors);
  for (cst_on_error bad = CST_ON_ERROR_SKIP; bad <= CST_ON_ERROR_NULL; bad++) {
    reading r = {write_lines("memory.jsonl", 12, 5), column_options(&message)};
    r.options.batch_size = 5;
    r.options.on_error = bad;
    FOR_EACH_ALLOCATION_FAILURE(open_and_read, &r, CST_NO_MEMORY);
  }
  cst_descriptors_release(descriptors);
}
