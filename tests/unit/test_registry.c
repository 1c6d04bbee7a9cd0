/* Formats by name, by the ending of a path, and by the first bytes. */
#include "format/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

/* The name of the format of an output; "" if there is none. */
static const char *by_path(const char *path) {
  static cst__format format;
  cst_error error = CST_ERROR_INIT;
  if (cst__format_find_by_path(path, &format, &error) != CST_OK) {
    CHECK_EQ(error.code, CST_NOT_FOUND);
    CHECK(error.hint[0] != '\0');
    return "";
  }
  return format.name;
}

TEST(paths) {
  CHECK_STR(by_path("x.tfrecord"), "example");
  CHECK_STR(by_path("a.b/x.tfrecords.gz"), "example");
  CHECK_STR(by_path("x.tfrecord-00001-of-00010"), "example");
  CHECK_STR(by_path("x.tfrecord-00001-of-00010.gz"), "example");
  CHECK_STR(by_path("x.jsonl.zst"), "json");
  CHECK_STR(by_path("x.ndjson"), "json");
  CHECK_STR(by_path("x.arrow"), "arrow");
  CHECK_STR(by_path("x.feather"), "arrow");
  CHECK_STR(by_path("x.arrows"), "arrows");
  CHECK_STR(by_path("x"), "");
  CHECK_STR(by_path(""), "");
  CHECK_STR(by_path(".gz"), "");
  CHECK_STR(by_path("x.tfrecord/y"), "");
  CHECK_STR(by_path(".tfrecord"), "");
}

TEST(names) {
  cst__format format;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__format_find("example", &format, &error), CST_OK);
  CHECK(format.payload == &cst__example_payload && format.sink == &cst__sink_records);
  CHECK_EQ(cst__format_find("raw", &format, &error), CST_OK);
  CHECK(format.payload == &cst__raw_payload && format.plugin == NULL);
  CHECK_EQ(cst__format_find("json", &format, &error), CST_OK);
  CHECK(format.payload == NULL && format.sink == &cst__sink_json);
  CHECK_EQ(cst__format_find("exampel", &format, &error), CST_NOT_FOUND);
  CHECK_STR(error.hint, "did you mean 'example'?");
  CHECK_EQ(cst__format_find("", &format, &error), CST_NOT_FOUND);
  CHECK_EQ(cst__format_find("/etc/passwd", &format, &error), CST_NOT_FOUND);
  CHECK_EQ(cst__format_find("an-unknown-format", &format, NULL), CST_NOT_FOUND);
}

TEST(a_missing_parquet_plugin_says_how_to_get_it) {
  cst__format format;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(setenv("COLUMNSTONE_PLUGIN_PATH", "none", 1), 0); /* there may be an installed one */
  CHECK_EQ(cst__format_find("parquet", &format, &error), CST_NOT_FOUND);
  CHECK_EQ(unsetenv("COLUMNSTONE_PLUGIN_PATH"), 0);
  CHECK_CONTAINS(error.hint, "pip install");
  CHECK_CONTAINS(error.hint, "meson -Dparquet");
  char text[512];
  CHECK(cst_error_format(&error, text, sizeof text) <= 256);
}

TEST(what_is_listed_is_what_there_is) {
  const cst_format_info *info;
  size_t count = 0;
  for (; (info = cst_format_get(count)) != NULL; count++) {
    cst__format format;
    if (info->is_plugin) {
      continue;
    }
    CHECK_EQ(cst__format_find(info->name, &format, NULL), CST_OK);
    CHECK_STR(format.name, info->name);
    CHECK(info->reads == (format.payload != NULL || format.table != NULL));
    CHECK(info->writes == (format.sink != NULL));
    CHECK(info->is_records == (format.payload != NULL));
    bool of_data = format.payload != NULL && format.payload->types_from == CST__TYPES_OF_DATA;
    CHECK(info->needs_schema == of_data);
    CHECK(info->is_text == (format.table != NULL && format.table->is_text));
    for (const char *const *extension = info->extensions; *extension != NULL; extension++) {
      char path[32];
      snprintf(path, sizeof path, "x%s", *extension);
      CHECK_STR(by_path(path), info->name);
    }
  }
  CHECK(count >= 8);
  CHECK(cst_format_get(SIZE_MAX) == NULL);
  CHECK_STR(cst_container_get(0)->name, "tfrecord");
  CHECK_STR(cst_container_get(0)->extensions[0], ".tfrecord");
  CHECK(cst_container_get(SIZE_MAX) == NULL);
}

/* By the bytes, else by the ending of the name. */
static cst_status find_by_head(const char *path, const uint8_t *head, size_t size,
                               cst__format *format, cst_error *error) {
  CST__TRY(cst__format_find_by_head(head, size, format, error));
  return cst__format_is_tabular(format) ? CST_OK : cst__format_find_by_ending(path, format, error);
}

TEST(first_bytes) {
  cst__format format;
  cst_error error = CST_ERROR_INIT;
  const uint8_t text[] = "some words";
  CHECK_EQ(find_by_head("x.txt", text, sizeof text, &format, &error), CST_OK);
  CHECK(format.plugin == NULL && format.payload == NULL);
  CHECK_EQ(find_by_head("x.parquet", text, 0, &format, &error), CST_OK);
  CHECK(format.plugin == NULL);
  cst_status status =
      find_by_head("x", (const uint8_t *)"PAR1\x15\x04\x15\x10", 8, &format, &error);
  CHECK(status == CST_NOT_FOUND || (status == CST_OK && format.plugin != NULL));
  static const char *const tables[] = {"PAR1,b\n1,2\n", "ARROW1,b\n1,2\n", "FEA1,b\n1,2\n"};
  for (size_t i = 0; i < 3; i++) { /* names of columns */
    CHECK_EQ(find_by_head("x.csv", (const uint8_t *)tables[i], strlen(tables[i]), &format, &error),
             CST_OK);
    CHECK_STR(format.name, "csv");
  }
}

/* A folder of files that are no plug-ins: asking for one by name fails, looking for any passes
 * over. */
TEST(unusable_plugins) {
  cst__format format;
  cst_error error = CST_ERROR_INIT;
  char list[4200];
  harness_write_file(harness_temp_path("columnstone-fake.so"), "no shared object", 16);
  harness_write_file(harness_temp_path("columnstone-.so"), "", 0);
  harness_write_file(harness_temp_path("columnstone-BAD.so"), "", 0);
  snprintf(list, sizeof list, ":/nowhere::%s:", harness_temp_dir());
  CHECK_EQ(setenv("COLUMNSTONE_PLUGIN_PATH", list, 1), 0);
  CHECK_EQ(cst__format_find("fake", &format, &error), CST_IO);
  CHECK_CONTAINS(error.file, "columnstone-fake.so");
  CHECK_EQ(cst__format_find_by_path("x.fake", &format, &error), CST_IO);
  CHECK_EQ(cst__format_find_by_path("x.other", &format, &error), CST_NOT_FOUND);
  CHECK_EQ(find_by_head("x", (const uint8_t *)"????", 4, &format, &error), CST_OK);
  CHECK(format.plugin == NULL);
  CHECK_EQ(unsetenv("COLUMNSTONE_PLUGIN_PATH"), 0);
}
