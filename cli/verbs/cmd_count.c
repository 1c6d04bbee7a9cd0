/* columnstone count: records and bytes of each file, without decoding. */
#include <inttypes.h>

#include "cli.h"

typedef struct totals {
  bool json;
  uint64_t files, records, record_bytes, file_bytes;
} totals;

static void print_count(uint64_t records, uint64_t record_bytes, uint64_t file_bytes,
                        const char *name) {
  printf("%12" PRIu64 " %16" PRIu64 " %16" PRIu64 "  ", records, record_bytes, file_bytes);
  cli_print_text(stdout, name);
  putchar('\n');
}

static void print_json_file(const cst_file_count *count, bool first) {
  printf("%s\n  {\"file\": ", first ? "" : ",");
  cli_json_string(stdout, count->file);
  printf(", \"records\": %" PRIu64 ", \"record_bytes\": %" PRIu64 ", \"stream_bytes\": %" PRIu64
         ", \"file_bytes\": %" PRIu64 "}",
         count->records, count->record_bytes, count->stream_bytes, count->file_bytes);
}

static void print_file_count(void *ctx, const cst_file_count *count) {
  totals *all = ctx;
  if (all->json) {
    print_json_file(count, all->files == 0);
  } else {
    if (all->files == 0) {
      printf("%12s %16s %16s  %s\n", "records", "record bytes", "file bytes", "file");
    }
    print_count(count->records, count->record_bytes, count->file_bytes, count->file);
  }
  all->files++;
  all->records += count->records;
  all->record_bytes += count->record_bytes;
  all->file_bytes += count->file_bytes;
}

/* error: NULL if all files were counted. */
static void print_totals(const totals *all, const cst_error *error) {
  if (!all->json) {
    if (all->files > 1 && error == NULL) {
      print_count(all->records, all->record_bytes, all->file_bytes, "total");
    }
    return;
  }
  printf("],\n \"records\": %" PRIu64 ", \"record_bytes\": %" PRIu64 ", \"file_bytes\": %" PRIu64
         ",\n \"error\": ",
         all->records, all->record_bytes, all->file_bytes);
  if (error == NULL) {
    printf("null}\n");
  } else {
    cli_json_error(stdout, error);
    printf("}\n");
  }
}

static int count_inputs(const cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  cst_source *source;
  if (cli_open(settings, settings->paths, settings->num_paths, NULL, &source, &error) != CST_OK) {
    return cli_fail(&error);
  }
  totals all = {.json = settings->json};
  if (all.json) {
    printf("{\"files\": [");
  }
  cst_status status = cst_source_count(source, print_file_count, &all, &error);
  print_totals(&all, status == CST_OK ? NULL : &error);
  cst_source_release(source);
  return cli_flush(status == CST_OK ? CLI_FINE : cli_fail(&error));
}

static int run_count(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_count, argc, argv, &settings);
  if (status < 0) {
    status = count_inputs(&settings);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_count = {
    .name = "count",
    .usage = "FILE... [--json]",
    .summary = "Counts records and bytes per file, without decoding",
    .details =
        "Checks the lengths of the records and that each file ends at a record's end, and stops\n"
        "at the first fault. `verify` looks into the records. Files of other formats are read for "
        "their\n"
        "rows.\n",
    .options =
        CLI_OPTIONS(OPTION_JSON, OPTION_FORMAT, OPTIONS_FORMATS, OPTION_CONTAINER, OPTIONS_LIMITS),
    .min_paths = 1,
    .run = run_count,
};
