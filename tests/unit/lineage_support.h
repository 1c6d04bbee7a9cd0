/* Stores and artifacts for the tests of lineage. */
#ifndef TESTS_UNIT_LINEAGE_SUPPORT_H
#define TESTS_UNIT_LINEAGE_SUPPORT_H

#include <columnstone/lineage.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"

/* A new store of this name in the test's folder. */
static inline cst_lineage *new_store(const char *name) {
  cst_lineage *store = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_lineage_options options = CST_LINEAGE_OPTIONS_INIT;
  options.mode = CST_LINEAGE_CREATE;
  cst_status status = cst_lineage_open(harness_temp_path(name), &options, &store, &error);
  CHECK_STR(status == CST_OK ? "" : error.message, "");
  return store;
}

static inline cst_lineage *open_store(const char *name, cst_lineage_mode mode) {
  cst_lineage *store = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_lineage_options options = CST_LINEAGE_OPTIONS_INIT;
  options.mode = mode;
  cst_status status = cst_lineage_open(harness_temp_path(name), &options, &store, &error);
  CHECK_STR(status == CST_OK ? "" : error.message, "");
  return store;
}

static inline cst_lineage_property text_property(const char *name, const char *text) {
  return (cst_lineage_property){
      .name = name, .kind = CST_LINEAGE_TEXT, .bytes = {(const uint8_t *)text, strlen(text)}};
}

static inline cst_lineage_property int_property(const char *name, int64_t number) {
  return (cst_lineage_property){.name = name, .kind = CST_LINEAGE_INT, .number = number};
}

/* An artifact of a type, a name (or NULL) and one file (or NULL); 0 if it fails, which is checked.
 */
static inline int64_t add_artifact(cst_lineage *store, const char *type, const char *name,
                                   const char *path) {
  cst_error error = CST_ERROR_INIT;
  const cst_lineage_file file = {path, NULL, NULL};
  cst_lineage_artifact artifact = CST_LINEAGE_ARTIFACT_INIT;
  int64_t id = 0;
  artifact.type = type;
  artifact.name = name;
  artifact.files = &file;
  artifact.num_files = path != NULL ? 1 : 0;
  cst_status status = cst_lineage_add(store, &artifact, &id, NULL, &error);
  CHECK_STR(status == CST_OK ? "" : error.message, "");
  return id;
}

/* A file of this content in the test's folder, and its path. */
static inline const char *write_text(const char *name, const char *text) {
  const char *path = harness_temp_path(name);
  harness_write_file(path, text, strlen(text));
  return path;
}

/* The artifact of an id, alone; cst_findings_free. */
static inline cst_findings *find_one(cst_lineage *store, int64_t id) {
  cst_findings *found = NULL;
  cst_lineage_query query = CST_LINEAGE_QUERY_INIT;
  query.ids = &id;
  query.num_ids = 1;
  query.every_state = true;
  CHECK_EQ(cst_lineage_find(store, &query, &found, NULL), CST_OK);
  CHECK_EQ(cst_findings_num_rows(found), 1);
  return found;
}

#endif
