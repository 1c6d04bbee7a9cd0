/* A lineage store as a new store of MLMD: its numbers stay, one for one. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arrow/findings.h"
#include "base/arguments.h"
#include "io/output.h"
#include "lineage/mlmd/mlmd_write.h"

static cst_status write_each(cst__mlmd_export *at, const char *sql,
                             cst_status (*each)(cst__mlmd_export *, sqlite3_stmt *, cst_error *),
                             int64_t *count, cst_error *error) {
  sqlite3_stmt *read;
  bool is_row = true;
  *count = 0;
  CST__TRY(cst__lineage_prepare_own(at->store, sql, &read, error));
  cst_status status;
  while ((status = cst__lineage_step(at->store, read, &is_row, error)) == CST_OK && is_row &&
         (status = each(at, read, error)) == CST_OK) {
    (*count)++;
  }
  (void)sqlite3_finalize(read);
  return status;
}

static const cst__finding_column columns[] = {CST__TEXT("kind"), CST__NUMBER("count")};
static const cst__finding_type exported = {"exported", columns, 2};

static cst_status write_all(cst__mlmd_export *at, int64_t counts[3], cst_error *error) {
  int64_t members;
  CST__TRY(cst__mlmd_write_prepare(at, error));
  CST__TRY(cst__mlmd_write_types(at, error));
  CST__TRY(write_each(at, cst__mlmd_all_artifacts, cst__mlmd_write_artifact, &counts[0], error));
  CST__TRY(write_each(at, cst__mlmd_all_executions, cst__mlmd_write_execution, &counts[1], error));
  CST__TRY(write_each(at, cst__mlmd_all_contexts, cst__mlmd_write_context, &counts[2], error));
  return write_each(at, cst__mlmd_all_members, cst__mlmd_write_member, &members, error);
}

static cst_status tell(const cst__mlmd_export *at, const int64_t counts[3], cst_findings **out,
                       cst_error *error) {
  static const char *const names[] = {"artifacts", "executions", "contexts", "events", "members"};
  const int64_t all[] = {counts[0], counts[1], counts[2], at->num_events, at->num_members};
  cst_findings *found;
  CST__TRY(cst__findings_new(&exported, &at->store->allocator, &found, error));
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    cst__put_text(found, names[i]);
    cst__put_signed(found, all[i]);
  }
  return cst__findings_finish(found, out, error);
}

static cst_status write_file(cst_lineage *store, const char *path, const char *name,
                             cst_findings **out, cst_error *error) {
  const cst_allocator allocator = store->allocator;
  cst__mlmd_export at = {.store = store,
                         .to = {.allocator = allocator},
                         .own = {.allocator = allocator},
                         .properties = {.allocator = allocator},
                         .splits = {.allocator = allocator},
                         .uri = {.allocator = allocator},
                         .name = {.allocator = allocator},
                         .external_id = {.allocator = allocator}};
  int64_t counts[3] = {0};
  cst_status status = cst__mlmd_create(&at.to, path, name, error);
  if (status == CST_OK) {
    status = write_all(&at, counts, error);
    cst__mlmd_write_end(&at);
  }
  if (status == CST_OK) {
    status = cst__mlmd_finish(&at.to, error);
  }
  if (status == CST_OK) {
    status = tell(&at, counts, out, error);
  }
  if (at.to.db != NULL) {
    cst__mlmd_close(&at.to);
  }
  cst__text_free(&at.own);
  cst__text_free(&at.properties);
  cst__text_free(&at.splits);
  cst__text_free(&at.uri);
  cst__text_free(&at.name);
  cst__text_free(&at.external_id);
  return status;
}

/* The journal of a program that is at work on the old file, or has crashed, would be taken for one
 * of the new file. */
static cst_status check_no_journal(const char *path, const cst_allocator *allocator,
                                   cst_error *error) {
  static const char *const endings[] = {"-journal", "-wal"};
  cst_status status = CST_OK;
  for (size_t i = 0; status == CST_OK && i < sizeof endings / sizeof *endings; i++) {
    cst__text name = {.allocator = *allocator};
    cst__text_printf(&name, "%s%s", path, endings[i]);
    if (name.failed) {
      status = cst__fail_memory(error, name.size);
    } else if (access(name.data, F_OK) == 0) {
      status = cst__fail(error, CST_STATE, "end it, or take another name",
                         "a program is writing to this file: there is its \"%s\"", endings[i]);
    }
    cst__text_free(&name);
  }
  return status;
}

static cst_status check_target(const cst_lineage *store, const char *path, bool overwrites,
                               cst_error *error) {
  if (strcmp(path, "-") == 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "name a file", "an MLMD store is a file");
  }
  struct stat theirs, ours;
  const bool exists = lstat(path, &theirs) == 0;
  if (exists && !overwrites) {
    return cst__fail(error, CST_IO, "take another name, or overwrite it",
                     "there is such a file already");
  }
  if (exists && stat(path, &theirs) == 0 && stat(store->path, &ours) == 0 &&
      theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "use another name",
                     "this is the lineage store itself");
  }
  return check_no_journal(path, &store->allocator, error);
}

cst_status cst_lineage_export_mlmd(cst_lineage *store, const char *path, bool overwrites,
                                   cst_findings **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(store, "store", out, error));
  CST__TRY(cst__check_given(path, "path", out, error));
  cst__output *output = NULL;
  cst_status status = check_target(store, path, overwrites, error);
  if (status == CST_OK) {
    status = cst__output_open(path, CST_COMPRESSION_NONE, 0, &store->allocator, &output, error);
  }
  const char *temporary = output != NULL ? cst__output_temporary_path(output) : NULL;
  if (status == CST_OK && temporary == NULL) {
    status =
        cst__fail(error, CST_INVALID_ARGUMENT, "name a regular file", "an MLMD store is a file");
  }
  if (status == CST_OK) {
    status = cst__lineage_enter(store, CST__LINEAGE_READS, error);
    if (status == CST_OK) {
      status = cst__lineage_leave(store, write_file(store, temporary, path, out, error), error);
    }
  }
  if (status == CST_OK) {
    status = cst__output_close(output, error);
  }
  if (status == CST_OK) {
    status = cst__output_publish(output, NULL, !overwrites, error);
  }
  cst__output_free(output);
  if (status != CST_OK) {
    cst_findings_free(*out);
    *out = NULL;
    cst__error_add_file(error, path);
  }
  return status;
}
