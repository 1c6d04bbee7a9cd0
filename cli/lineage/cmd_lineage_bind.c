/* columnstone lineage bind, lease: examples that are read through a view; who reads what. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lineage/lineage.h"

/* ---- bind ---- */

/* An artifact as `sessions@4`, which "sessions" may mean only today. */
typedef struct bound_part {
  int64_t id;
  char name[320];
} bound_part;

static cst_status find_part(cst_lineage *store, const char *reference, bound_part *out,
                            cst_error *error) {
  cst_status status = cli_lineage_lookup(store, reference, &out->id, error);
  return status == CST_OK ? cli_lineage_name(store, out->id, out->name, sizeof out->name, error)
                          : status;
}

static cst_status bind_view(const cli_settings *settings, cst_lineage *store, bound_part *examples,
                            bound_part *view, bound_part *made, cst_error *error) {
  cst_status status = find_part(store, settings->paths[0], examples, error);
  if (status == CST_OK) {
    status = find_part(store, settings->paths[1], view, error);
  }
  if (status == CST_OK) {
    status = cst_lineage_bind(store, examples->id, view->id, settings->lineage.artifact.name,
                              &made->id, error);
  }
  return status == CST_OK ? cli_lineage_name(store, made->id, made->name, sizeof made->name, error)
                          : status;
}

static int bind(const cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  cst_lineage *store;
  bound_part examples, view, made;
  int opened = cli_lineage_open(&cli_lineage_bind, settings, CST_LINEAGE_WRITE, &store);
  if (opened >= 0) {
    return opened;
  }
  cst_status status = bind_view(settings, store, &examples, &view, &made, &error);
  if (status == CST_OK && settings->json) {
    printf("{\"id\": %" PRId64 ", \"reference\": ", made.id);
    cli_json_string(stdout, made.name);
    printf("}\n");
  } else if (status == CST_OK) {
    cli_set_style(CLI_BOLD);
    cli_print_text(stdout, made.name);
    cli_set_style(CLI_PLAIN);
    printf(": ");
    cli_print_text(stdout, examples.name);
    printf(" through ");
    cli_print_text(stdout, view.name);
    printf("\n");
  }
  cst_lineage_free(store);
  return status == CST_OK ? cli_flush(CLI_FINE) : cli_fail(&error);
}

static int run_bind(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_lineage_bind, argc, argv, &settings);
  if (status < 0 && settings.num_paths > 2) {
    status = cli_usage(&cli_lineage_bind, NULL, "examples and a view, not %zu artifacts",
                       settings.num_paths);
  }
  status = status < 0 ? bind(&settings) : status;
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_lineage_bind = {
    .name = "lineage bind",
    .usage = "EXAMPLES VIEW [--name NAME] [--json]",
    .summary = "Adds an artifact that reads the same files through a view",
    .details = "EXAMPLES and VIEW are artifacts, as in `lineage bind sessions@3 ranking@2`; the "
               "new artifact is the next version of sessions. Files are neither read nor copied. "
               "Several views can be bound to the same examples.",
    .examples = CLI_EXAMPLES({"columnstone lineage bind sessions@1 ranking@1",
                              "a new version of sessions, read through ranking"}),
    .see = "lineage add, view build",
    .options = CLI_OPTIONS(OPTION_STORE, OPTION_ARTIFACT_NAME, OPTION_JSON),
    .min_paths = 2,
    .run = run_bind,
};

/* ---- lease ---- */

static void print_lease(const cst_findings *found, size_t row, time_t now) {
  char room[CLI_TIME];
  size_t begin, end;
  const int64_t expires = cst_findings_number(found, "expires", row);
  printf("%s", cli_lineage_show_time(expires, room));
  printf("  %6" PRId64 " s  ", expires / 1000000 - (int64_t)now);
  cli_print_text(stdout, cst_findings_text(found, "holder", row));
  printf(":");
  (void)cst_findings_items(found, "artifacts", row, &begin, &end);
  for (; begin < end; begin++) {
    printf(" ");
    cli_print_text(stdout, cst_findings_text(found, "artifacts.reference", begin));
  }
  printf("\n");
}

static cst_status list_leases(const cli_settings *settings, cst_lineage *store, cst_error *error) {
  cst_findings *found;
  cst_status status = cst_lineage_leases(store, &found, error);
  if (status != CST_OK) {
    return status;
  }
  if (settings->json) {
    status = cli_print_json_findings(found, error);
  } else if (cst_findings_num_rows(found) == 0) {
    printf("no leases\n");
  } else {
    cli_set_style(CLI_BOLD);
    printf("%-19s  %8s  holder: artifacts\n", "until", "left");
    cli_set_style(CLI_PLAIN);
    for (size_t i = 0; i < cst_findings_num_rows(found); i++) {
      print_lease(found, i, time(NULL));
    }
  }
  cst_findings_free(found);
  return status;
}

static cst_status take_lease(const cli_settings *settings, cst_lineage *store, cst_error *error) {
  cst_lineage_lease_options options = CST_LINEAGE_LEASE_OPTIONS_INIT;
  cst_lineage_lease *lease;
  int64_t *ids;
  options.seconds = 300;
  options.holder = settings->lineage.holder;
  options.is_detached = true;
  cst_status status =
      settings->lineage.lasts != NULL
          ? cli_lineage_seconds("for", settings->lineage.lasts, &options.seconds, error)
          : CST_OK;
  if (status == CST_OK && options.seconds == 0) {
    status = cli_fail_argument(error, "as in --for 2h", "--for takes a time that is not over");
  }
  if (status == CST_OK) {
    status = cli_lineage_lookup_all(store, settings->paths, settings->num_paths, &ids, error);
  }
  if (status != CST_OK) {
    return status;
  }
  status = cst_lineage_lease_new(store, ids, settings->num_paths, &options, &lease, error);
  free(ids);
  if (status == CST_OK) {
    cst_lineage_lease_free(lease);
  }
  if (status == CST_OK && settings->json) {
    printf("{\"artifacts\": %zu, \"seconds\": %" PRId64 "}\n", settings->num_paths,
           options.seconds);
  } else if (status == CST_OK) {
    printf("%zu artifact%s held for %" PRId64 " s\n", settings->num_paths,
           settings->num_paths == 1 ? "" : "s", options.seconds);
  }
  return status;
}

static int lease(const cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  cst_lineage *store;
  const bool lists = settings->num_paths == 0;
  int opened = cli_lineage_open(&cli_lineage_lease, settings,
                                lists ? CST_LINEAGE_READ : CST_LINEAGE_WRITE, &store);
  if (opened >= 0) {
    return opened;
  }
  cst_status status =
      lists ? list_leases(settings, store, &error) : take_lease(settings, store, &error);
  cst_lineage_free(store);
  return status == CST_OK ? cli_flush(CLI_FINE) : cli_fail(&error);
}

static int run_lease(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_lineage_lease, argc, argv, &settings);
  const bool takes = settings.lineage.lasts != NULL || settings.lineage.holder != NULL;
  if (status < 0 && takes && settings.num_paths == 0) {
    status = cli_usage(&cli_lineage_lease, "name what is read: columnstone lineage lease REF...",
                       "a lease of no artifacts");
  }
  status = status < 0 ? lease(&settings) : status;
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_lineage_lease = {
    .name = "lineage lease",
    .usage = "[REF... [--for TIME] [--holder NAME]] [--json]",
    .summary = "Protects artifacts from gc for a while, or lists such leases",
    .details =
        "Verbs that read artifacts take leases on their own. This verb is for other programs: gc "
        "keeps the files until the lease ends. Without REF, lists the current leases.",
    .examples =
        CLI_EXAMPLES({"columnstone lineage lease trips@1 --for 2h", "keep the files for two hours"},
                     {"columnstone lineage lease", "list the leases"}),
    .see = "gc, lineage ls",
    .options = CLI_OPTIONS(OPTION_STORE, OPTION_LASTS, OPTION_HOLDER, OPTION_JSON),
    .min_paths = 0,
    .run = run_lease,
};
