/* columnstone index: where the records of TFRecord files lie, in a file beside each. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static cst_status make_index(const cli_settings *settings, const char *path, cst_index **out,
                             cst_error *error) {
  if (settings->index_text.read_from != NULL) {
    return cst_index_open_text(settings->index_text.read_from, path, NULL, out, error);
  }
  cli_progress progress;
  cli_progress_begin(&progress, "index", -1, false);
  cst_index_options options = CST_INDEX_OPTIONS_INIT;
  options.container = settings->source.container;
  options.on_progress = cli_progress_show;
  options.progress_ctx = &progress;
  cst_status status = cst_index_build(path, &options, out, error);
  cli_progress_end(&progress);
  return status;
}

static cst_status write_text(const cst_index *index, const char *path, cst_error *error) {
  size_t room = strlen(path) + sizeof ".idx";
  char *text_path = malloc(room);
  if (text_path == NULL) {
    error->code = CST_NO_MEMORY;
    return CST_NO_MEMORY;
  }
  snprintf(text_path, room, "%s.idx", path);
  cst_status status = cst_index_save_text(index, text_path, error);
  free(text_path);
  return status;
}

static void print_index(const cli_settings *settings, const char *path, const cst_index *index,
                        bool is_first) {
  const uint64_t records = cst_index_num_records(index);
  if (settings->json) {
    printf(is_first ? "\n  {\"file\": " : ",\n  {\"file\": ");
    cli_json_string(stdout, path);
    printf(", \"records\": %" PRIu64 "}", records);
  } else {
    cli_print_text(stdout, path);
    printf(".cstidx: %" PRIu64 " records\n", records);
  }
}

static cst_status index_file(const cli_settings *settings, const char *path, bool is_first,
                             cst_error *error) {
  cst_index *index;
  cst_status status = make_index(settings, path, &index, error);
  if (status != CST_OK) {
    return status;
  }
  status = cst_index_save(index, path, error);
  if (status == CST_OK && settings->index_text.also_written) {
    status = write_text(index, path, error);
  }
  if (status == CST_OK) {
    print_index(settings, path, index, is_first);
  }
  cst_index_free(index);
  return status;
}

/* The source is opened for its list of files only. */
static int index_files(const cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  cli_settings raw = *settings;
  cst_source *source;
  raw.source.format = "raw";
  if (cli_open(&raw, settings->paths, settings->num_paths, NULL, &source, &error) != CST_OK) {
    return cli_fail(&error);
  }
  cst_status status = CST_OK;
  size_t count = cst_source_num_files(source);
  if (settings->index_text.read_from != NULL && count != 1) {
    cst_source_release(source);
    return cli_usage(&cli_index, "name one file", "--import holds the offsets of one file");
  }
  printf(settings->json ? "{\"indexes\": [" : "");
  for (size_t i = 0; i < count && status == CST_OK; i++) {
    status = index_file(settings, cst_source_file(source, i), i == 0, &error);
  }
  printf(settings->json ? "]}\n" : "");
  cst_source_release(source);
  return cli_flush(status == CST_OK ? CLI_FINE : cli_fail(&error));
}

static int run_index(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_index, argc, argv, &settings);
  if (status < 0) {
    status = index_files(&settings);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_index = {
    .name = "index",
    .usage = "FILE... [--text] [--import IDX] [--json]",
    .summary = "Writes an index of record offsets, for random access",
    .details = "The index of FILE is FILE.cstidx. It is used whenever FILE is opened, and ignored "
               "if FILE has changed since. Compressed files cannot have an index: decompress them "
               "first (`columnstone merge a.gz b`).\n\nThe text form has one line per record, with "
               "offset and length. DALI and the Python package `tfrecord` read it.",
    .examples =
        CLI_EXAMPLES({"columnstone index trips.tfrecord", "index a file"},
                     {"columnstone index trips.tfrecord --text", "also write the text form"}),
    .see = "sample, shuffle, plan",
    .exits = "1 a file is damaged",
    .options =
        CLI_OPTIONS(OPTION_TEXT, OPTION_IMPORT, OPTION_JSON, OPTION_CONTAINER, OPTION_LINEAGE),
    .min_paths = 1,
    .run = run_index,
};
