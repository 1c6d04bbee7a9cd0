/* columnstone lineage init, check: making a store, and whether it is sound. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "lineage/lineage.h"

/* ---- init ---- */

static int init_store(const cli_settings *settings) {
  cst_lineage_options options = CST_LINEAGE_OPTIONS_INIT;
  cst_error error = CST_ERROR_INIT;
  cst_lineage *store;
  cst_findings *about = NULL;
  const char *path = settings->num_paths > 0 ? settings->paths[0] : cli_lineage_path(settings);
  if (path == NULL || settings->num_paths > 1) {
    return cli_usage(&cli_lineage_init, NULL, "usage: columnstone lineage init STORE");
  }
  if (access(path, F_OK) == 0) {
    return cli_usage(&cli_lineage_init, "columnstone lineage ls --lineage STORE looks into a store",
                     "%.200s is there already", path);
  }
  options.mode = CST_LINEAGE_CREATE;
  options.roots = settings->lineage.roots;
  options.num_roots = settings->lineage.num_roots;
  options.is_shared = settings->lineage.is_shared;
  if (cst_lineage_open(path, &options, &store, &error) != CST_OK) {
    return cli_fail(&error);
  }
  cst_status status = cst_lineage_info(store, &about, &error);
  if (status == CST_OK && settings->json) {
    status = cli_print_json_findings(about, &error);
  } else if (status == CST_OK) {
    cli_print_text(stdout, cst_lineage_path(store));
    printf(": a new store; garbage may be deleted in ");
    for (size_t i = 0; i < cst_findings_num_rows(about); i++) {
      printf("%s", i > 0 ? ", " : "");
      cli_print_text(stdout, cst_findings_text(about, "path", i));
    }
    printf("\n");
  }
  cst_findings_free(about);
  cst_lineage_free(store);
  return status == CST_OK ? cli_flush(CLI_FINE) : cli_fail(&error);
}

static int run_init(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_lineage_init, argc, argv, &settings);
  status = status < 0 ? init_store(&settings) : status;
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_lineage_init = {
    .name = "lineage init",
    .usage = "STORE [--root FOLDER]... [--shared] [--json]",
    .summary = "Creates a lineage store: a single file, without a server",
    .details = "`columnstone gc` only deletes files within the roots, and does not follow links "
               "out of them. Other verbs find the store by --lineage or the environment variable "
               "COLUMNSTONE_LINEAGE.",
    .examples = CLI_EXAMPLES({"columnstone lineage init store.db --root data",
                              "create a store; gc may delete files in data/"}),
    .see = "lineage add, gc",
    .options = CLI_OPTIONS(OPTION_STORE, OPTION_STORE_ROOTS, OPTION_SHARED, OPTION_JSON),
    .min_paths = 0,
    .run = run_init,
};

/* ---- check ---- */

static void print_faults(const cst_findings *found) {
  for (size_t i = 0; i < cst_findings_num_rows(found); i++) {
    const char *reference = cst_findings_text(found, "reference", i);
    const char *path = cst_findings_text(found, "path", i);
    if (reference != NULL) {
      cli_set_style(CLI_BOLD);
      cli_print_text(stdout, reference);
      cli_set_style(CLI_PLAIN);
      printf(": ");
    }
    if (path != NULL) {
      cli_print_name(stdout, path);
      printf(": ");
    }
    cli_set_style(CLI_FAULT);
    cli_print_text(stdout, cst_findings_text(found, "fault", i));
    cli_set_style(CLI_PLAIN);
    printf("\n");
  }
}

static void print_sound(cst_lineage *store, bool with_digests) {
  cst_error ignored = CST_ERROR_INIT;
  cst_findings *about;
  if (cst_lineage_info(store, &about, &ignored) != CST_OK) {
    return;
  }
  cli_print_text(stdout, cst_lineage_path(store));
  printf(": sound; %" PRId64 " artifacts, whose files have the same %s as before\n",
         cst_findings_total(about, "artifacts"), with_digests ? "bytes" : "sizes");
  cst_findings_free(about);
}

static int check_store(const cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  cst_lineage *store;
  cst_findings *found = NULL;
  int opened = cli_lineage_open(&cli_lineage_check, settings, CST_LINEAGE_READ, &store);
  if (opened >= 0) {
    return opened;
  }
  const bool with_digests = settings->lineage.digests;
  cst_status status = cst_lineage_check(store, with_digests, &found, &error);
  const bool is_sound = status == CST_OK && cst_findings_num_rows(found) == 0;
  if (status == CST_OK && settings->json) {
    status = cli_print_json_findings(found, &error);
  } else if (is_sound) {
    print_sound(store, with_digests);
  } else if (status == CST_OK) {
    print_faults(found);
  }
  cst_findings_free(found);
  cst_lineage_free(store);
  return status != CST_OK ? cli_fail(&error) : cli_flush(is_sound ? CLI_FINE : CLI_FAULTS);
}

static int run_check(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_lineage_check, argc, argv, &settings);
  if (status < 0 && settings.num_paths > 0) {
    status = cli_usage(&cli_lineage_check, "name the store by --lineage", "it takes no files");
  }
  status = status < 0 ? check_store(&settings) : status;
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_lineage_check = {
    .name = "lineage check",
    .usage = "[--digests] [--json]",
    .summary = "Checks a store and the files that it names",
    .details =
        "Reports files that are missing or have a different size (with --digests: different "
        "contents), references to deleted artifacts, executions without an end, and SQLite errors.",
    .examples = CLI_EXAMPLES({"columnstone lineage check", "check a store"},
                             {"columnstone lineage check --digests", "also read all files"}),
    .see = "lineage ls, verify",
    .exits = "1 problems were found",
    .options = CLI_OPTIONS(OPTION_STORE, OPTION_DIGESTS, OPTION_JSON),
    .min_paths = 0,
    .run = run_check,
};
