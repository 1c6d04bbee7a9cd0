/* Outputs of the verbs that write files, and copying records into them as they are. */
#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

cst_sink_options cli_sink_options(const cli_settings *settings) {
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  options.format = settings->to;
  options.level = (int32_t)settings->level;
  options.lossy = settings->lossy;
  options.sequence_column = settings->sequence_column;
  options.csv = &settings->csv;
  options.threads = settings->threads > 0 ? (int32_t)settings->threads : 2;
  options.num_shards = (uint32_t)settings->shards;
  options.shard_bytes = (uint64_t)settings->shard_size;
  return options;
}

static bool is_file(const char *path) {
  struct stat there;
  return stat(path, &there) == 0 && S_ISREG(there.st_mode);
}

static const char *const compressed[] = {".gz", ".zlib", ".zz", ".zst", NULL};

/* `size` without an ending of `endings` (NULL behind the last), or the same. */
static size_t strip_ending(const char *name, size_t size, const char *const *endings) {
  for (; *endings != NULL; endings++) {
    size_t tail = strlen(*endings);
    if (size > tail && strncmp(name + size - tail, *endings, tail) == 0) {
      return size - tail;
    }
  }
  return size;
}

/* Where the number of a shard goes in the name of an output, as cst_sink_options says. */
static size_t number_at(const char *output) {
  const char *slash = strrchr(output, '/');
  size_t begin = slash != NULL ? (size_t)(slash + 1 - output) : 0;
  size_t end = begin + strip_ending(output + begin, strlen(output + begin), compressed);
  size_t dot = end;
  while (dot > begin && output[dot - 1] != '.') {
    dot--;
  }
  return dot > begin + 1 ? dot - 1 : end;
}

/* True if there is a first shard of this output, of however many. */
static bool has_shard(const char *output) {
  size_t at = number_at(output);
  size_t room = strlen(output) * 2 + 32; /* every character may be a wildcard */
  char *pattern = malloc(room);
  size_t used = 0;
  glob_t found = {0};
  if (pattern == NULL) {
    return false;
  }
  for (const char *c = output; *c != '\0' || (size_t)(c - output) == at; c++) {
    if ((size_t)(c - output) == at) {
      used += (size_t)snprintf(pattern + used, room - used, "-00000-of-?????");
    }
    if (*c == '\0') {
      break;
    }
    if (strchr("*?[\\", *c) != NULL) {
      pattern[used++] = '\\';
    }
    pattern[used++] = *c;
  }
  pattern[used] = '\0';
  bool there = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;
  globfree(&found);
  free(pattern);
  return there;
}

/* A device, also one that leads to a file as /dev/stdout does, is meant to be written to. */
bool cli_would_overwrite(const cli_settings *settings, const char *output) {
  if (settings->force || strcmp(output, "-") == 0 || strncmp(output, "/dev/", 5) == 0) {
    return false;
  }
  bool sharded = settings->shards > 0 || settings->shard_size > 0;
  return is_file(output) || (sharded && has_shard(output));
}

int cli_overwrites(const cli_verb *verb, const char *output) {
  return cli_usage(verb, "name an output that does not exist, or add --force",
                   "the output %.80s exists", output);
}

bool cli_ends_otherwise(const char *output) {
  static const char *const others[] = {".csv",     ".tsv", ".jsonl",   ".ndjson",
                                       ".json",    ".ipc", ".arrow",   ".arrows",
                                       ".feather", ".pq",  ".parquet", NULL};
  size_t size = strip_ending(output, strlen(output), compressed);
  return strip_ending(output, size, others) < size;
}

int cli_not_records(const cli_verb *verb, const char *output) {
  return cli_usage(verb, "end the name with .tfrecord, or use convert for other formats",
                   "the output %.80s would hold TFRecords", output);
}

void cli_print_done(const char *output, uint64_t rows, const char *unit, double seconds) {
  if (strcmp(output, "-") != 0) {
    cli_print_text(stdout, output);
    printf(": %" PRIu64 " %s, %.1f s\n", rows, unit, seconds);
  }
}

static int report(const cli_settings *settings, const cli_dropped *dropped, const char *output,
                  uint64_t rows, double seconds) {
  if (dropped->json) {
    printf("%s],\n \"dropped_records\": %" PRIu64 ", \"dropped_bytes\": %" PRIu64
           ", \"records\": %" PRIu64 "}\n",
           dropped->count > 0 ? "\n" : "", dropped->count, dropped->bytes, rows);
  } else {
    cli_print_done(output, rows, "records", seconds);
    if (dropped->count > 0) {
      char size[32];
      fprintf(dropped->out, "%" PRIu64 " %s dropped, %s\n", dropped->count,
              dropped->count == 1 ? "record" : "records", cli_bytes((double)dropped->bytes, size));
    }
  }
  return cli_flush(settings->skip && dropped->count > 0 ? CLI_FAULTS : CLI_FINE);
}

int cli_fail_records(cst_error *error) {
  if (error->code == CST_FORMAT) {
    snprintf(error->hint, sizeof error->hint,
             "this verb copies TFRecords: see columnstone convert for other formats");
  }
  return cli_fail(error);
}

static int copy(const cli_settings *settings, cst_source *source, cli_dropped *dropped,
                uint64_t total) {
  const char *output = settings->paths[settings->num_paths - 1];
  cst_error error = CST_ERROR_INIT;
  cst_sink_options options = cli_sink_options(settings);
  cli_progress progress;
  uint64_t rows = 0;
  options.format = "raw";
  options.expected_rows = total;
  cli_progress_begin(&progress, "copy", cst_source_total_bytes(source), strcmp(output, "-") == 0);
  cst_status status =
      cst_convert(source, output, &options, cli_progress_show, &progress, &rows, &error);
  cli_progress_end(&progress);
  return status == CST_OK ? report(settings, dropped, output, rows, cli_progress_seconds(&progress))
                          : cli_fail_records(&error);
}

int cli_copy_records(const cli_verb *verb, const cli_settings *settings, bool equal_shards) {
  const char *output = settings->paths[settings->num_paths - 1];
  bool to_stdout = strcmp(output, "-") == 0;
  cli_dropped dropped = {.out = to_stdout ? stderr : stdout, .json = settings->json && !to_stdout};
  cli_settings raw = *settings;
  cst_error error = CST_ERROR_INIT;
  cst_source *source;
  uint64_t total = 0;
  raw.format = "raw";
  if (cli_would_overwrite(settings, output)) {
    return cli_overwrites(verb, output);
  }
  if (cli_ends_otherwise(output)) {
    return cli_not_records(verb, output);
  }
  if (cli_open(&raw, settings->paths, settings->num_paths - 1, &dropped, &source, &error) !=
      CST_OK) {
    return cli_fail_records(&error);
  }
  cst_status status = equal_shards ? cst_source_num_rows(source, &total, &error) : CST_OK;
  if (status == CST_OK && dropped.json) {
    printf("{\"dropped\": [");
  }
  int result =
      status == CST_OK ? copy(settings, source, &dropped, total) : cli_fail_records(&error);
  cst_source_release(source);
  return result;
}
