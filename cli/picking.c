/* Records picked by their numbers, for sample and shuffle. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { PICKED_AT_ONCE = 4096 };

/* splitmix64 (Steele, Lea and Flood, 2014), brought to [0, n) by a multiplication. */
uint64_t cli_random(uint64_t *state, uint64_t n) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  z ^= z >> 31;
  return (uint64_t)(((unsigned __int128)z * n) >> 64);
}

typedef struct picked {
  cst_source *source;
  cst_sink *sink;
  const uint64_t *rows;
  size_t count;
  cli_progress *progress;
} picked;

static cst_status write_picked(const picked *p, cst_error *error) {
  for (size_t at = 0; at < p->count; at += PICKED_AT_ONCE) {
    size_t n = p->count - at < PICKED_AT_ONCE ? p->count - at : PICKED_AT_ONCE;
    struct ArrowArray batch;
    cst_status status = cst_source_take(p->source, p->rows + at, n, &batch, error);
    if (status != CST_OK) {
      return status;
    }
    status = cst_sink_write(p->sink, &batch, error);
    batch.release(&batch);
    if (status != CST_OK) {
      return status;
    }
    (void)cli_progress_show(p->progress, 0, at + n);
  }
  return cst_sink_finish(p->sink, error);
}

static cst_status picking_open_sink(const cli_settings *settings, cst_source *source,
                                    const char *output, size_t count, cst_sink **out,
                                    cst_error *error) {
  cst_sink_options options = cli_record_options(settings, source, output);
  struct ArrowSchema schema;
  options.expected_rows = count;
  cst_status status = cst_source_arrow_schema(source, &schema, error);
  if (status == CST_OK) {
    status = cst_sink_open(output, &schema, &options, out, error);
    schema.release(&schema);
  }
  return status;
}

static int pick_rows(const cli_settings *settings, cst_source *source, const uint64_t *rows,
                     size_t count) {
  const char *output = settings->paths[settings->num_paths - 1];
  cst_error error = CST_ERROR_INIT;
  cli_progress progress;
  cst_sink *sink;
  if (picking_open_sink(settings, source, output, count, &sink, &error) != CST_OK) {
    return cli_fail(&error);
  }
  cli_progress_begin(&progress, "pick", -1, strcmp(output, "-") == 0);
  picked p = {.source = source, .sink = sink, .rows = rows, .count = count, .progress = &progress};
  cst_status status = write_picked(&p, &error);
  cli_progress_end(&progress);
  cst_sink_free(sink);
  if (status != CST_OK) {
    return cli_fail(&error);
  }
  cli_print_done(output, count, "records", cli_progress_seconds(&progress));
  return cli_flush(CLI_FINE);
}

static int choose_and_pick(const cli_picking *picking, cst_source *source) {
  cst_error error = CST_ERROR_INIT;
  uint64_t total;
  uint64_t *rows = NULL;
  size_t count = 0;
  if (cst_source_num_rows(source, &total, &error) != CST_OK) {
    return cli_fail_records(&error);
  }
  if (!picking->choose(picking->settings, total, &rows, &count)) {
    return cli_usage(picking->verb, "choose from fewer records",
                     "there is no memory for the numbers of %" PRIu64 " records", total);
  }
  int status = pick_rows(picking->settings, source, rows, count);
  free(rows);
  return status;
}

int cli_pick_records(const cli_picking *picking) {
  const cli_settings *settings = picking->settings;
  const char *output = settings->paths[settings->num_paths - 1];
  cli_settings raw = *settings;
  cst_error error = CST_ERROR_INIT;
  cst_source *source;
  raw.source = cli_raw_options(settings, output);
  if (cli_would_overwrite(settings, output)) {
    return cli_overwrites(picking->verb, output);
  }
  if (cli_ends_otherwise(output)) {
    return cli_not_records(picking->verb, output);
  }
  if (cli_open(&raw, settings->paths, settings->num_paths - 1, NULL, &source, &error) != CST_OK) {
    return cli_fail(&error);
  }
  int status = choose_and_pick(picking, source);
  cst_source_release(source);
  return status;
}
