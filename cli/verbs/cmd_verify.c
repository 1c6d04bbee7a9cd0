/* columnstone verify: every checksum, every record; one line per fault. */
#include <inttypes.h>

#include "cli.h"

typedef struct report {
  bool json;
  uint64_t faults, files, records, stream_bytes;
  cli_progress progress;
} report;

static void print_fault(void *ctx, const cst_fault *fault) {
  report *all = ctx;
  cli_progress_end(&all->progress);
  if (all->json) {
    printf("%s\n  {\"kind\": ", all->faults == 0 ? "" : ",");
    cli_json_string(stdout, fault->kind);
    printf(", \"error\": ");
    cli_json_error(stdout, fault->error);
    printf("}");
  } else {
    cli_print_error(stdout, fault->error);
    printf(" [%s]\n", fault->kind);
  }
  all->faults++;
}

static void print_verified_file(void *ctx, const cst_file_count *count) {
  report *all = ctx;
  all->files++;
  all->records += count->records;
  all->stream_bytes += count->stream_bytes;
}

static bool show_verify_progress(void *ctx, uint64_t bytes, uint64_t records) {
  report *all = ctx;
  return cli_progress_show(&all->progress, bytes, records);
}

static void print_json_end(const report *all, uint64_t faults, const cst_error *error) {
  printf("],\n \"num_faults\": %" PRIu64 ", \"files\": %" PRIu64 ", \"records\": %" PRIu64
         ", \"stream_bytes\": %" PRIu64 ",\n \"error\": ",
         faults, all->files, all->records, all->stream_bytes);
  if (error != NULL) {
    cli_json_error(stdout, error);
  } else {
    printf("null");
  }
  printf("}\n");
}

static void print_verify_end(const report *all, uint64_t faults) {
  char size[32];
  printf("%" PRIu64 " %s, %" PRIu64 " records, %s: ", all->files,
         all->files == 1 ? "file" : "files", all->records,
         cli_bytes((double)all->stream_bytes, size));
  if (faults == 0) {
    printf("no faults\n");
  } else {
    printf("%" PRIu64 " %s\n", faults, faults == 1 ? "fault" : "faults");
  }
}

static int verify_inputs(const cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  cst_source *source;
  if (cli_open(settings, settings->paths, settings->num_paths, NULL, &source, &error) != CST_OK) {
    return cli_fail(&error);
  }
  report all = {.json = settings->json};
  uint64_t faults = 0;
  if (all.json) {
    printf("{\"faults\": [");
  }
  cli_progress_begin(&all.progress, "verify", cst_source_total_bytes(source), false);
  cst_status status = cst_source_verify(source, print_fault, print_verified_file,
                                        show_verify_progress, &all, &faults, &error);
  cli_progress_end(&all.progress);
  cst_source_release(source);
  if (all.json) {
    print_json_end(&all, faults, status == CST_OK ? NULL : &error);
  } else if (status == CST_OK) {
    print_verify_end(&all, faults);
  }
  if (status != CST_OK) {
    return cli_flush(cli_fail(&error));
  }
  return cli_flush(faults == 0 ? CLI_FINE : CLI_FAULTS);
}

static int run_verify(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_verify, argc, argv, &settings);
  if (status < 0) {
    status = verify_inputs(&settings);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_verify = {
    .name = "verify",
    .usage = "FILE... [--schema FILE] [--json]",
    .summary = "Checks every checksum and that every record parses",
    .details =
        "Prints one line per fault: file, record, byte offset, what is wrong, and its kind\n"
        "(length-crc, data-crc, truncated, limit, record, compression, format); goes on after a "
        "fault where\n"
        "it can. With a schema, the records have to fit it. `--format raw` leaves the "
        "records' inside\n"
        "alone. Exit status 1 if there are faults.\n",
    .options = CLI_OPTIONS(OPTION_SCHEMA, OPTION_FORMAT, OPTION_JSON, OPTION_THREADS,
                           OPTIONS_FORMATS, OPTIONS_MESSAGE, OPTION_CONTAINER, OPTIONS_LIMITS),
    .min_paths = 1,
    .run = run_verify,
};
