/* columnstone gc: deletes what nobody needs any more, or tells what that would be. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lineage/lineage.h"

/* ---- what is told ---- */

static bool is_going(const cst_findings *found, size_t row) {
  return strcmp(cst_findings_text(found, "action", row), "delete") == 0;
}

static int name_width(const cst_findings *found) {
  enum { MOST = 40 };
  int width = 8;
  for (size_t i = 0; i < cst_findings_num_rows(found); i++) {
    int size;
    (void)cli_cut(cst_findings_text(found, "reference", i), MOST, &size);
    width = size > width ? size : width;
  }
  return width;
}

/* Files of what goes that stay, and those that are gone already. */
static void print_files(const cst_findings *found, size_t row) {
  size_t begin, end;
  (void)cst_findings_items(found, "files", row, &begin, &end);
  for (; begin < end; begin++) {
    const char *action = cst_findings_text(found, "files.action", begin);
    const char *reason = cst_findings_text(found, "files.reason", begin);
    printf("    %s ", action);
    cli_print_name(stdout, cst_findings_text(found, "files.path", begin));
    if (reason != NULL) {
      printf(": ");
      cli_print_text(stdout, reason);
    }
    printf("\n");
  }
}

static void print_artifact(const cst_findings *found, size_t row, int width) {
  const char *reason = cst_findings_text(found, "reason", row);
  const bool goes = is_going(found, row);
  cli_set_style(goes ? CLI_WARNING : CLI_PLAIN);
  printf("%s  ", goes ? "delete" : "keep  ");
  cli_print_cell(cst_findings_text(found, "reference", row), width, true);
  cli_set_style(CLI_PLAIN);
  printf("  ");
  cli_print_cell(cst_findings_text(found, "type", row), 12, true);
  printf("  ");
  cli_print_text(stdout, reason != NULL ? reason : "");
  printf("\n");
  if (goes) {
    print_files(found, row);
  }
}

/* Artifacts of which a file could not be deleted. */
static size_t count_left(const cst_findings *found, bool is_dry_run) {
  size_t count = 0;
  for (size_t i = 0; i < cst_findings_num_rows(found) && !is_dry_run; i++) {
    count += is_going(found, i) && strcmp(cst_findings_text(found, "state", i), "deleted") != 0;
  }
  return count;
}

static void print_plan(const cst_findings *found, bool is_dry_run) {
  char room[32];
  const int width = name_width(found);
  for (int goes = 1; goes >= 0; goes--) {
    for (size_t i = 0; i < cst_findings_num_rows(found); i++) {
      if (is_going(found, i) == (goes == 1)) {
        print_artifact(found, i, width);
      }
    }
  }
  const int64_t deleted = cst_findings_total(found, "deleted");
  const int64_t files = cst_findings_total(found, "files");
  cli_set_style(CLI_BOLD);
  printf("%" PRId64 " artifact%s, %" PRId64 " file%s, %s %s; %" PRId64 " kept\n", deleted,
         deleted == 1 ? "" : "s", files, files == 1 ? "" : "s",
         cli_bytes((double)cst_findings_total(found, "bytes"), room),
         is_dry_run ? "would be deleted" : "deleted", cst_findings_total(found, "kept"));
  cli_set_style(CLI_PLAIN);
  const size_t left = count_left(found, is_dry_run);
  if (left > 0) {
    cli_set_style(CLI_FAULT);
    printf("%zu artifact%s still ha%s files that could not be deleted: run it again\n", left,
           left == 1 ? "" : "s", left == 1 ? "s" : "ve");
    cli_set_style(CLI_PLAIN);
  }
}

/* ---- the policies ---- */

static const char **types_of(const char *const *words, size_t count) {
  const char **types = calloc(count + 1, sizeof *types);
  for (size_t i = 0; types != NULL && i < count; i++) {
    types[i] = cli_lineage_type(words[i]);
  }
  return types;
}

static cst_status collect(const cli_settings *settings, cst_lineage *store, cst_findings **out,
                          cst_error *error) {
  const cli_garbage *garbage = &settings->lineage.garbage;
  cst_lineage_gc_options options = CST_LINEAGE_GC_OPTIONS_INIT;
  const char **types = types_of(garbage->types, garbage->num_types);
  const char **ancestors = types_of(garbage->ancestors, garbage->num_ancestors);
  cst_status status = types != NULL && ancestors != NULL ? CST_OK : cli_fail_memory(error);
  options.keep = garbage->keep;
  options.group_by = garbage->group_by;
  options.num_group_by = garbage->num_group_by;
  options.types = garbage->num_types > 0 ? types : NULL;
  options.num_types = garbage->num_types;
  options.keep_ancestors_of = ancestors;
  options.num_keep_ancestors_of = garbage->num_ancestors;
  options.is_dry_run = garbage->is_dry_run;
  if (status == CST_OK && garbage->older_than != NULL) {
    status = cli_lineage_seconds("older-than", garbage->older_than, &options.max_age, error);
  }
  if (status == CST_OK) {
    status = cst_lineage_gc(store, &options, out, error);
  }
  free((void *)types);
  free((void *)ancestors);
  return status;
}

static int gc(cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  cst_lineage *store;
  cst_findings *found = NULL;
  if (settings->num_paths > 0) {
    settings->lineage.store = settings->paths[0];
  }
  int opened = cli_lineage_open(&cli_gc, settings, CST_LINEAGE_WRITE, &store);
  if (opened >= 0) {
    return opened;
  }
  cst_status status = collect(settings, store, &found, &error);
  if (status == CST_OK && settings->json) {
    status = cli_print_json_findings(found, &error);
  } else if (status == CST_OK) {
    print_plan(found, settings->lineage.garbage.is_dry_run);
  }
  const bool is_done =
      status == CST_OK && count_left(found, settings->lineage.garbage.is_dry_run) == 0;
  cst_findings_free(found);
  cst_lineage_free(store);
  return status == CST_OK ? cli_flush(is_done ? CLI_FINE : CLI_FAULTS) : cli_fail(&error);
}

static int run_gc(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_gc, argc, argv, &settings);
  if (status < 0 && settings.num_paths > 1) {
    status = cli_usage(&cli_gc, NULL, "one store, not %zu", settings.num_paths);
  }
  if (status < 0 && settings.num_paths == 1 && settings.lineage.store != NULL) {
    status = cli_usage(&cli_gc, NULL, "STORE and --lineage are the same: give one of them");
  }
  status = status < 0 ? gc(&settings) : status;
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_gc = {
    .name = "gc",
    .usage = "[STORE] [--keep N] [--group-by A,B] [--older-than TIME] [--keep-ancestors-of A,B] "
             "[--dry-run]",
    .summary = "Deletes the artifacts and files of a store that are no longer needed",
    .details =
        "An artifact is deleted unless --keep or --older-than keeps it, an artifact that is kept "
        "refers to it, a reader has a lease on it, or a running execution uses it. Without --keep "
        "and --older-than, no live artifact is deleted. A file is deleted with the last artifact "
        "that names it. Files outside the roots of the store, and files of external artifacts, are "
        "never deleted. --dry-run shows what would be deleted, and why the rest is kept.",
    .examples =
        CLI_EXAMPLES({"columnstone gc --keep 3 --dry-run", "show what would be deleted"},
                     {"columnstone gc --older-than 30d --keep-ancestors-of model",
                      "delete what is older than 30 days, but keep the data of all models"}),
    .see = "lineage lease, lineage check",
    .exits = "1 a file could not be deleted",
    .options = CLI_OPTIONS(OPTION_STORE, OPTION_KEEP, OPTION_GROUP_BY, OPTION_OLDER_THAN,
                           OPTION_KEEP_ANCESTORS, OPTION_TYPES, OPTION_DRY_RUN, OPTION_JSON),
    .min_paths = 0,
    .run = run_gc,
};
