/* Reading Examples: which files, by which options, through which view. The rules stand in
 * columnstone/lineage.h; each of them is a function here. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arguments.h"
#include "io/raw.h"
#include "lineage/artifacts.h"
#include "lineage/examples.h"
#include "lineage/properties.h"
#include "lineage/store_paths.h"

enum { READ_SIZE = 5 /* of "read." */ };

struct cst_lineage_reading {
  cst__arena arena;
  const char **paths;
  size_t num_paths, path_capacity;
  cst_option *options;
  size_t num_options, option_capacity;
  int64_t *artifacts;
  size_t num_artifacts, artifact_capacity;
};

/* ---- what it consists of ---- */

static bool grow(cst_lineage_reading *reading, void **items, size_t *capacity, size_t want,
                 size_t item_size) {
  return cst__grow(&reading->arena.allocator, items, capacity, want, item_size);
}

static cst_status add_artifact(cst_lineage_reading *reading, int64_t artifact, cst_error *error) {
  for (size_t i = 0; i < reading->num_artifacts; i++) {
    if (reading->artifacts[i] == artifact) {
      return CST_OK;
    }
  }
  if (!grow(reading, (void **)&reading->artifacts, &reading->artifact_capacity,
            reading->num_artifacts + 1, sizeof *reading->artifacts)) {
    return cst__fail_memory(error, sizeof *reading->artifacts);
  }
  reading->artifacts[reading->num_artifacts++] = artifact;
  return CST_OK;
}

static cst_status add_option(cst_lineage_reading *reading, const char *name, const char *value,
                             cst_error *error) {
  char *own_name = cst__arena_copy(&reading->arena, name, strlen(name));
  char *own_value = cst__arena_copy(&reading->arena, value, strlen(value));
  if (own_name == NULL || own_value == NULL ||
      !grow(reading, (void **)&reading->options, &reading->option_capacity,
            reading->num_options + 1, sizeof *reading->options)) {
    return cst__fail_memory(error, sizeof *reading->options);
  }
  reading->options[reading->num_options++] = (cst_option){own_name, own_value, NULL};
  return CST_OK;
}

/* The path of the first file of an artifact that has this role (NULL: the data), as an option. */
static cst_status add_file_option(cst_lineage *store, cst_lineage_reading *reading,
                                  const char *option, int64_t artifact, const char *role,
                                  cst_error *error) {
  sqlite3_stmt *find;
  bool is_row;
  char *path;
  CST__TRY(cst__lineage_prepare(
      store,
      "SELECT path FROM artifact_file JOIN file ON id = file WHERE artifact = ? AND role IS ? "
      "ORDER BY position LIMIT 1",
      &find, error));
  sqlite3_bind_int64(find, 1, artifact);
  cst__lineage_bind_text(find, 2, role);
  CST__TRY(cst__lineage_step(store, find, &is_row, error));
  if (!is_row) {
    return CST_OK;
  }
  cst_status status = cst__lineage_path_out(store, cst__lineage_text(find, 0), &path, error);
  (void)sqlite3_reset(find);
  CST__TRY(status);
  status = add_option(reading, option, path, error);
  cst__delete(path);
  return status;
}

static bool is_wanted(const char *split, const char *const *splits, size_t num_splits) {
  for (size_t i = 0; i < num_splits; i++) {
    if (strcmp(splits[i], split) == 0) {
      return true;
    }
  }
  return splits == NULL;
}

static cst_status add_path(cst_lineage_reading *reading, const char *path, cst_error *error) {
  char *own = cst__arena_copy(&reading->arena, path, strlen(path));
  if (own == NULL || !grow(reading, (void **)&reading->paths, &reading->path_capacity,
                           reading->num_paths + 1, sizeof *reading->paths)) {
    return cst__fail_memory(error, sizeof *reading->paths);
  }
  reading->paths[reading->num_paths++] = own;
  return CST_OK;
}

/* What lies beside data in a folder has other names: "_SUCCESS", ".part-0.crc". */
static int is_data(const struct dirent *entry) {
  return entry->d_name[0] != '.' && entry->d_name[0] != '_';
}

static int compare_names(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

/* The files of a folder, in the order of their names. What is no folder is itself. */
static cst_status add_files(cst_lineage_reading *reading, const char *path, cst_error *error) {
  struct dirent **names;
  struct stat about;
  cst_status status = CST_OK;
  if (cst__lineage_path_is_url(path) || stat(path, &about) != 0 || !S_ISDIR(about.st_mode)) {
    return add_path(reading, path, error);
  }
  const int count = scandir(path, &names, is_data, compare_names);
  if (count < 0) {
    status = cst__fail_system(error, errno, "cannot list");
    cst__error_add_file(error, path);
    return status;
  }
  for (int i = 0; i < count; i++) {
    char file[PATH_MAX];
    const int size = snprintf(file, sizeof file, "%s/%s", path, names[i]->d_name);
    if (status == CST_OK && size > 0 && (size_t)size < sizeof file && stat(file, &about) == 0 &&
        S_ISREG(about.st_mode)) {
      status = add_path(reading, file, error);
    }
    free(names[i]);
  }
  free(names);
  return status;
}

static cst_status add_paths(cst_lineage *store, cst_lineage_reading *reading, int64_t artifact,
                            const char *const *splits, size_t num_splits, cst_error *error) {
  sqlite3_stmt *rows;
  bool is_row = false;
  cst_status status;
  CST__TRY(cst__lineage_prepare(
      store,
      "SELECT path, split FROM artifact_file JOIN file ON id = file WHERE artifact = ? AND role IS "
      "NULL ORDER BY position",
      &rows, error));
  sqlite3_bind_int64(rows, 1, artifact);
  while ((status = cst__lineage_step(store, rows, &is_row, error)) == CST_OK && is_row) {
    char *path = NULL;
    if (!is_wanted(cst__lineage_text(rows, 1), splits, num_splits)) {
      continue;
    }
    status = cst__lineage_path_out(store, cst__lineage_text(rows, 0), &path, error);
    status = status == CST_OK ? add_files(reading, path, error) : status;
    cst__delete(path);
    if (status != CST_OK) {
      (void)sqlite3_reset(rows);
      return status;
    }
  }
  return status;
}

/* ---- rules 2 and 3 ---- */

/* Two artifacts that cannot be read together, and why. */
static cst_status fail_pair(cst_lineage *store, int64_t first, int64_t second, const char *fault,
                            const char *hint, cst_error *error) {
  char a[CST__LINEAGE_LABEL], b[CST__LINEAGE_LABEL];
  CST__TRY(cst__lineage_label(store, first, a, error));
  CST__TRY(cst__lineage_label(store, second, b, error));
  return cst__fail(error, CST_INVALID_ARGUMENT, hint, "%.50s and %.50s %s", a, b, fault);
}

static bool are_equal(const char *a, const char *b) {
  return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Whether both have the same options of reading ("read.…"), which are more than the payload. */
static cst_status check_same_options(cst_lineage *store, int64_t first, int64_t second,
                                     cst_error *error) {
  sqlite3_stmt *find;
  bool is_row;
  CST__TRY(cst__lineage_prepare(
      store,
      "SELECT count(*) FROM (SELECT name, value FROM property WHERE kind = 0 AND owner = ?1 AND "
      "name GLOB 'read.*' EXCEPT SELECT name, value FROM property WHERE kind = 0 AND owner = ?2)",
      &find, error));
  for (int i = 0; i < 2; i++) {
    sqlite3_bind_int64(find, 1, i == 0 ? first : second);
    sqlite3_bind_int64(find, 2, i == 0 ? second : first);
    CST__TRY(cst__lineage_step(store, find, &is_row, error));
    const int64_t count = is_row ? sqlite3_column_int64(find, 0) : 0;
    (void)sqlite3_reset(find);
    if (count > 0) {
      return fail_pair(store, first, second, "are read by different options",
                       "compare their properties read.…; read them one after the other", error);
    }
  }
  return CST_OK;
}

/* Whether both are read by the same descriptors and the same schema: by one file, or by files of
 * one content. A schema is that of a reference, before a file of the examples themselves. */
static cst_status check_same_part(cst_lineage *store, const char *role, const int64_t pair[2],
                                  const char *fault, cst_error *error) {
  sqlite3_stmt *find;
  bool is_row;
  CST__TRY(cst__lineage_prepare(
      store,
      "WITH part AS (SELECT a.id AS owner, f.file, f.digest, r.target, f.position FROM artifact a "
      "LEFT JOIN reference r ON r.artifact = a.id AND r.role = 'schema' AND ?1 = 'schema' JOIN "
      "artifact_file f ON f.artifact = coalesce(r.target, a.id) AND f.role IS iif(r.target IS "
      "NULL, "
      "?1, NULL) WHERE a.id IN (?2, ?3)), "
      "x AS (SELECT * FROM part WHERE owner = ?2 ORDER BY target, position LIMIT 1), "
      "y AS (SELECT * FROM part WHERE owner = ?3 ORDER BY target, position LIMIT 1) "
      "SELECT (SELECT file FROM x) IS (SELECT file FROM y) OR (SELECT digest FROM x) = (SELECT "
      "digest FROM y)",
      &find, error));
  cst__lineage_bind_text(find, 1, role);
  sqlite3_bind_int64(find, 2, pair[0]);
  sqlite3_bind_int64(find, 3, pair[1]);
  CST__TRY(cst__lineage_step(store, find, &is_row, error));
  const bool is_same = is_row && sqlite3_column_int(find, 0) != 0;
  (void)sqlite3_reset(find);
  return is_same ? CST_OK
                 : fail_pair(store, pair[0], pair[1], fault,
                             "bind them to one view, or read them one after the other", error);
}

static cst_status check_same_parts(cst_lineage *store, int64_t first, int64_t second,
                                   cst_error *error) {
  const int64_t pair[] = {first, second};
  CST__TRY(check_same_part(store, "descriptors", pair, "have different descriptors", error));
  return check_same_part(store, "schema", pair, "have different schemas", error);
}

static cst_status check_same_payload(cst_lineage *store, int64_t first, int64_t second,
                                     cst_error *error) {
  cst__lineage_payload a, b;
  CST__TRY(cst__lineage_payload_of(store, first, &a, error));
  cst_status status = cst__lineage_payload_of(store, second, &b, error);
  if (status != CST_OK) {
    cst__lineage_payload_reset(&a);
    return status;
  }
  const char *fault = !are_equal(a.format, b.format)         ? "have different payloads"
                      : !are_equal(a.container, b.container) ? "have different containers"
                      : !are_equal(a.message, b.message)     ? "have different messages"
                                                             : NULL;
  cst__lineage_payload_reset(&a);
  cst__lineage_payload_reset(&b);
  return fault != NULL
             ? fail_pair(store, first, second, fault, "read them one after the other", error)
             : check_same_options(store, first, second, error);
}

static const char choose_hint[] =
    "choose view=... for all of them, or view=None to read them as they are";

/* The view that Examples are bound to; 0: none. Whoever adds them by hand may give several. */
static cst_status bound_view(cst_lineage *store, int64_t artifact, int64_t *view,
                             cst_error *error) {
  sqlite3_stmt *find;
  bool is_row;
  CST__TRY(cst__lineage_prepare(
      store, "SELECT min(target), count(*) FROM reference WHERE artifact = ? AND role = 'view'",
      &find, error));
  sqlite3_bind_int64(find, 1, artifact);
  CST__TRY(cst__lineage_step(store, find, &is_row, error));
  *view = is_row ? sqlite3_column_int64(find, 0) : 0;
  const int64_t count = is_row ? sqlite3_column_int64(find, 1) : 0;
  (void)sqlite3_reset(find);
  if (count > 1) {
    char label[CST__LINEAGE_LABEL];
    CST__TRY(cst__lineage_label(store, artifact, label, error));
    return cst__fail(error, CST_INVALID_ARGUMENT, choose_hint,
                     "%.50s is bound to %" PRId64 " views at once", label, count);
  }
  return CST_OK;
}

static cst_status are_same_views(cst_lineage *store, int64_t first, int64_t second, bool *same,
                                 cst_error *error) {
  sqlite3_stmt *find;
  CST__TRY(cst__lineage_prepare(
      store,
      "SELECT 1 FROM artifact a JOIN artifact b ON a.digest = b.digest WHERE a.id = ? AND b.id = ?",
      &find, error));
  sqlite3_bind_int64(find, 1, first);
  sqlite3_bind_int64(find, 2, second);
  CST__TRY(cst__lineage_step(store, find, same, error));
  (void)sqlite3_reset(find);
  *same = *same || first == second;
  return CST_OK;
}

/* All of them that are (not) bound, for the error. */
static cst_status fail_some_bound(cst_lineage *store, const int64_t *artifacts, size_t count,
                                  cst_error *error) {
  cst__text names = {.allocator = store->allocator};
  char label[CST__LINEAGE_LABEL];
  for (size_t i = 0; i < count && names.size < 100; i++) {
    int64_t view;
    cst_status status = bound_view(store, artifacts[i], &view, error);
    if (status == CST_OK && view == 0) {
      status = cst__lineage_label(store, artifacts[i], label, error);
      cst__text_printf(&names, "%s%.40s", names.size > 0 ? ", " : "", label);
    }
    if (status != CST_OK) {
      cst__text_free(&names);
      return status;
    }
  }
  cst_status status =
      cst__fail(error, CST_INVALID_ARGUMENT, choose_hint,
                "some are bound to a view, but not: %.120s", names.data != NULL ? names.data : "");
  cst__text_free(&names);
  return status;
}

static cst_status choose_bound(cst_lineage *store, const int64_t *artifacts, size_t count,
                               int64_t *view, cst_error *error) {
  CST__TRY(bound_view(store, artifacts[0], view, error));
  for (size_t i = 1; i < count; i++) {
    int64_t other;
    bool same = true;
    CST__TRY(bound_view(store, artifacts[i], &other, error));
    if ((other == 0) != (*view == 0)) {
      return fail_some_bound(store, artifacts, count, error);
    }
    if (*view != 0) {
      CST__TRY(are_same_views(store, *view, other, &same, error));
    }
    if (!same) {
      return fail_pair(store, artifacts[0], artifacts[i], "are bound to different views",
                       choose_hint, error);
    }
  }
  return CST_OK;
}

/* ---- options ---- */

/* An option of a source that a view brings along. */
static bool is_of_view(const char *name, bool is_of_messages) {
  return is_of_messages && (strcmp(name, "format") == 0 || strcmp(name, "message") == 0 ||
                            strcmp(name, "descriptors") == 0);
}

static cst_status add_stored_options(cst_lineage *store, cst_lineage_reading *reading,
                                     int64_t artifact, bool through_messages, cst_error *error) {
  sqlite3_stmt *rows;
  bool is_row = false;
  cst_status status;
  CST__TRY(cst__lineage_prepare(
      store,
      "SELECT name, value FROM property WHERE kind = 0 AND owner = ? AND name GLOB 'read.*' AND "
      "type = 2 ORDER BY name",
      &rows, error));
  sqlite3_bind_int64(rows, 1, artifact);
  while ((status = cst__lineage_step(store, rows, &is_row, error)) == CST_OK && is_row) {
    const char *name = cst__lineage_text(rows, 0) + READ_SIZE;
    if (is_of_view(name, through_messages)) {
      continue;
    }
    status = add_option(reading, name, cst__lineage_text(rows, 1), error);
    if (status != CST_OK) {
      (void)sqlite3_reset(rows);
      return status;
    }
  }
  return status;
}

/* The payload, where no "read.format" says it. Messages of which nobody knows the type are bytes.
 */
static cst_status add_format(cst_lineage *store, cst_lineage_reading *reading, int64_t artifact,
                             cst_error *error) {
  cst__lineage_payload payload;
  char *format;
  CST__TRY(cst__lineage_text_property(store, artifact, "read.format", &format, error));
  const bool is_said = format != NULL;
  cst__delete(format);
  if (is_said) {
    return CST_OK;
  }
  CST__TRY(cst__lineage_payload_of(store, artifact, &payload, error));
  cst_status status = CST_OK;
  if (payload.format != NULL) {
    const bool is_unknown = strcmp(payload.format, "message") == 0 && payload.message == NULL;
    status = add_option(reading, "format", is_unknown ? "raw" : payload.format, error);
  }
  cst__lineage_payload_reset(&payload);
  return status;
}

static cst_status add_schema(cst_lineage *store, cst_lineage_reading *reading, int64_t artifact,
                             cst_error *error) {
  sqlite3_stmt *find;
  bool is_row;
  CST__TRY(cst__lineage_prepare(
      store, "SELECT target FROM reference WHERE artifact = ? AND role = 'schema' LIMIT 1", &find,
      error));
  sqlite3_bind_int64(find, 1, artifact);
  CST__TRY(cst__lineage_step(store, find, &is_row, error));
  if (!is_row) {
    return add_file_option(store, reading, "schema", artifact, "schema", error);
  }
  const int64_t schema = sqlite3_column_int64(find, 0);
  (void)sqlite3_reset(find);
  CST__TRY(add_artifact(reading, schema, error));
  return add_file_option(store, reading, "schema", schema, NULL, error);
}

static cst_status add_view(cst_lineage *store, cst_lineage_reading *reading, int64_t examples,
                           int64_t view, cst_error *error) {
  char *input;
  CST__TRY(add_artifact(reading, view, error));
  CST__TRY(add_file_option(store, reading, "view", view, NULL, error));
  CST__TRY(cst__lineage_text_property(store, view, "input", &input, error));
  const bool is_of_messages = input == NULL || strcmp(input, "message") == 0;
  cst__delete(input);
  CST__TRY(add_stored_options(store, reading, examples, is_of_messages, error));
  return is_of_messages ? CST_OK : add_format(store, reading, examples, error);
}

/* All are read by the options of the first one, which are those of all. */
static cst_status add_options(cst_lineage *store, cst_lineage_reading *reading, int64_t examples,
                              int64_t view, cst_error *error) {
  if (view != 0) {
    return add_view(store, reading, examples, view, error);
  }
  CST__TRY(add_stored_options(store, reading, examples, false, error));
  CST__TRY(add_format(store, reading, examples, error));
  CST__TRY(add_file_option(store, reading, "descriptors", examples, "descriptors", error));
  return add_schema(store, reading, examples, error);
}

/* ---- all of it ---- */

typedef struct wanted {
  const int64_t *artifacts;
  size_t num_artifacts;
  cst_lineage_read_options options;
} wanted;

static cst_status choose(cst_lineage *store, const wanted *w, int64_t *view, cst_error *error) {
  *view = w->options.choice == CST_LINEAGE_BY_VIEW ? w->options.view : 0;
  if (w->options.choice == CST_LINEAGE_AS_BOUND) {
    CST__TRY(choose_bound(store, w->artifacts, w->num_artifacts, view, error));
  }
  for (size_t i = 0; i < w->num_artifacts && *view != 0; i++) {
    CST__TRY(cst__lineage_check_view(store, w->artifacts[i], *view, error));
  }
  return CST_OK;
}

static cst_status fail_no_files(const wanted *w, cst_error *error) {
  return w->options.splits == NULL
             ? cst__fail(error, CST_NOT_FOUND, NULL, "these artifacts have no files")
             : cst__fail(error, CST_NOT_FOUND, "`columnstone lineage show` lists the splits",
                         "no files of split '%.60s'",
                         w->options.num_splits > 0 ? w->options.splits[0] : "");
}

static cst_status read_examples(cst_lineage *store, const wanted *w, cst_lineage_reading *reading,
                                cst_error *error) {
  int64_t view;
  for (size_t i = 0; i < w->num_artifacts; i++) {
    CST__TRY(cst__lineage_check_examples(store, w->artifacts[i], error));
    if (i > 0) {
      CST__TRY(check_same_payload(store, w->artifacts[0], w->artifacts[i], error));
    }
  }
  CST__TRY(choose(store, w, &view, error));
  for (size_t i = 1; i < w->num_artifacts && view == 0 && !w->options.has_own_parts; i++) {
    CST__TRY(check_same_parts(store, w->artifacts[0], w->artifacts[i], error));
  }
  for (size_t i = 0; i < w->num_artifacts; i++) {
    CST__TRY(add_artifact(reading, w->artifacts[i], error));
    CST__TRY(add_paths(store, reading, w->artifacts[i], w->options.splits, w->options.num_splits,
                       error));
  }
  return reading->num_paths == 0 ? fail_no_files(w, error)
                                 : add_options(store, reading, w->artifacts[0], view, error);
}

cst_status cst_lineage_read(cst_lineage *store, const int64_t *artifacts, size_t num_artifacts,
                            const cst_lineage_read_options *options, cst_lineage_reading **out,
                            cst_error *error) {
  cst_lineage_read_options own = CST_LINEAGE_READ_OPTIONS_INIT;
  CST__CLEAR(out);
  CST__TRY(cst__check_given(store, "store", out, error));
  CST__TRY(cst__check_given(artifacts, "artifacts", out, error));
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  if (num_artifacts == 0 || (unsigned)own.choice > CST_LINEAGE_BY_VIEW) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "no artifacts, or no such choice");
  }
  cst_lineage_reading *reading = cst__new_zero(&store->allocator, sizeof *reading);
  if (reading == NULL) {
    return cst__fail_memory(error, sizeof *reading);
  }
  cst__arena_init(&reading->arena, &store->allocator);
  const wanted w = {artifacts, num_artifacts, own};
  cst_status status = cst__lineage_enter(store, CST__LINEAGE_READS, error);
  if (status == CST_OK) {
    status = cst__lineage_leave(store, read_examples(store, &w, reading, error), error);
  }
  if (status != CST_OK) {
    cst_lineage_reading_free(reading);
    return status;
  }
  *out = reading;
  return CST_OK;
}

size_t cst_lineage_reading_num_paths(const cst_lineage_reading *reading) {
  return reading != NULL ? reading->num_paths : 0;
}

const char *cst_lineage_reading_path(const cst_lineage_reading *reading, size_t i) {
  return reading != NULL && i < reading->num_paths ? reading->paths[i] : NULL;
}

size_t cst_lineage_reading_num_options(const cst_lineage_reading *reading) {
  return reading != NULL ? reading->num_options : 0;
}

const cst_option *cst_lineage_reading_option(const cst_lineage_reading *reading, size_t i) {
  return reading != NULL && i < reading->num_options ? &reading->options[i] : NULL;
}

const int64_t *cst_lineage_reading_artifacts(const cst_lineage_reading *reading, size_t *count) {
  if (count != NULL) {
    *count = reading != NULL ? reading->num_artifacts : 0;
  }
  return reading != NULL ? reading->artifacts : NULL;
}

void cst_lineage_reading_free(cst_lineage_reading *reading) {
  if (reading == NULL) {
    return;
  }
  cst__arena_reset(&reading->arena);
  cst__delete(reading->paths);
  cst__delete(reading->options);
  cst__delete(reading->artifacts);
  cst__delete(reading);
}
