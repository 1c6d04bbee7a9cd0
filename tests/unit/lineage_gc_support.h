/* For tests of leases and garbage collection: stores with files, and what a run says of them. */
#ifndef LINEAGE_GC_SUPPORT_H
#define LINEAGE_GC_SUPPORT_H

#include <columnstone/lineage.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"

/* A store in an empty folder of its own, whose path `folder` gets. */
static inline cst_lineage *gc_store(char folder[512]) {
  static int number;
  char path[600];
  char real[4096];
  cst_lineage *store;
  cst_lineage_options options = CST_LINEAGE_OPTIONS_INIT;
  options.mode = CST_LINEAGE_CREATE;
  CHECK(realpath(harness_temp_dir(), real) != NULL);
  (void)snprintf(folder, 512, "%.480s/%ld-%d", real, (long)getpid(), number++);
  CHECK_EQ(mkdir(folder, 0777), 0);
  (void)snprintf(path, sizeof path, "%s/lineage.db", folder);
  CHECK_EQ(cst_lineage_open(path, &options, &store, NULL), CST_OK);
  return store;
}

/* "FOLDER/name" in a ring of buffers. */
static inline const char *gc_path(const char *folder, const char *name) {
  static char paths[16][1024];
  static int next;
  char *path = paths[next++ % 16];
  (void)snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

/* Writes a file of its own name; folders on the way are made. */
static inline const char *gc_file(const char *folder, const char *name) {
  char path[1024];
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
    *slash = '\0';
    (void)mkdir(path, 0777);
    *slash = '/';
  }
  harness_write_file(path, name, strlen(name));
  return gc_path(folder, name);
}

static inline bool gc_exists(const char *folder, const char *name) {
  struct stat info;
  return lstat(gc_path(folder, name), &info) == 0;
}

typedef struct gc_more {
  const cst_lineage_reference *references;
  size_t num_references;
  const cst_lineage_property *properties;
  size_t num_properties;
  cst_lineage_state state;
  bool is_external;
  bool allows_missing;
  int64_t created;
} gc_more;

/* Adds an artifact of one file (NULL: none). */
static inline int64_t gc_add(cst_lineage *store, const char *type, const char *name,
                             const char *path, gc_more more) {
  int64_t id = 0;
  cst_error error = CST_ERROR_INIT;
  const cst_lineage_file file = {path, NULL, NULL};
  cst_lineage_artifact artifact = CST_LINEAGE_ARTIFACT_INIT;
  artifact.type = type;
  artifact.name = name;
  artifact.files = &file;
  artifact.num_files = path != NULL;
  artifact.references = more.references;
  artifact.num_references = more.num_references;
  artifact.properties = more.properties;
  artifact.num_properties = more.num_properties;
  artifact.state = more.state;
  artifact.is_external = more.is_external;
  artifact.allows_missing = more.allows_missing;
  artifact.skips_digest = true;
  artifact.created = more.created;
  if (cst_lineage_add(store, &artifact, &id, NULL, &error) != CST_OK) {
    printf("cannot add %s: %s\n", path, error.message);
    CHECK(false);
  }
  return id;
}

static inline cst_findings *gc_run(cst_lineage *store, const cst_lineage_gc_options *options) {
  cst_findings *found = NULL;
  cst_error error = CST_ERROR_INIT;
  if (cst_lineage_gc(store, options, &found, &error) != CST_OK) {
    printf("gc fails: %s (%s)\n", error.message, error.file);
    CHECK(false);
  }
  return found;
}

/* The row of an artifact; SIZE_MAX: there is none. */
static inline size_t gc_row(const cst_findings *found, int64_t id) {
  for (size_t i = 0; i < cst_findings_num_rows(found); i++) {
    if (cst_findings_number(found, "id", i) == id) {
      return i;
    }
  }
  return SIZE_MAX;
}

/* "delete: no policy keeps it". */
static inline const char *gc_says(const cst_findings *found, int64_t id) {
  static char texts[8][900];
  static int next;
  const size_t row = gc_row(found, id);
  if (row == SIZE_MAX) {
    return "no row";
  }
  char *text = texts[next++ % 8];
  (void)snprintf(text, sizeof texts[0], "%s: %s", cst_findings_text(found, "action", row),
                 cst_findings_text(found, "reason", row));
  return text;
}

/* The same of its i-th file. */
static inline const char *gc_says_of_file(const cst_findings *found, int64_t id, size_t i) {
  static char texts[8][900];
  static int next;
  size_t begin, end;
  if (!cst_findings_items(found, "files", gc_row(found, id), &begin, &end) || begin + i >= end) {
    return "no file";
  }
  const char *reason = cst_findings_text(found, "files.reason", begin + i);
  char *text = texts[next++ % 8];
  (void)snprintf(text, sizeof texts[0], "%s%s%s",
                 cst_findings_text(found, "files.action", begin + i), reason != NULL ? ": " : "",
                 reason != NULL ? reason : "");
  return text;
}

static inline const char *gc_state(cst_lineage *store, int64_t id) {
  static char state[32];
  cst_findings *found;
  cst_lineage_query query = CST_LINEAGE_QUERY_INIT;
  query.ids = &id;
  query.num_ids = 1;
  query.every_state = true;
  CHECK_EQ(cst_lineage_find(store, &query, &found, NULL), CST_OK);
  CHECK_EQ(cst_findings_num_rows(found), 1);
  (void)snprintf(state, sizeof state, "%s", cst_findings_text(found, "state", 0));
  cst_findings_free(found);
  return state;
}

#endif /* LINEAGE_GC_SUPPORT_H */
