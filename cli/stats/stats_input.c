/* Statistics of files: of data, saved ones, which are merged, or TFDV's. */
#include <columnstone/statistics.h>
#include <string.h>

#include "stats/stats.h"

static const char name_of_statistics[] = "statistics";

static bool ends_in(const char *path, const char *ending) {
  const size_t size = strlen(path);
  const size_t end = strlen(ending);
  return size > end && strcmp(path + size - end, ending) == 0;
}

bool cli_names_saved_statistics(const char *path) {
  return ends_in(path, ".cststats") || ends_in(path, ".cststats.gz") ||
         ends_in(path, ".cststats.zst");
}

bool cli_names_tfdv(const char *path) { return ends_in(path, ".pb") || ends_in(path, ".pb.gz"); }

bool cli_is_saved_statistics(const char *path) {
  char first[4];
  if (cli_names_saved_statistics(path)) {
    return true;
  }
  FILE *file = cli_are_files(&path, 1) ? fopen(path, "rb") : NULL;
  if (file == NULL) {
    return false;
  }
  const bool is_saved = fread(first, 1, sizeof first, file) == sizeof first &&
                        memcmp(first, "CSTS", sizeof first) == 0;
  (void)fclose(file);
  return is_saved;
}

/* The size that follows a tag, of a varint; -1: there is none. */
static int64_t read_size(FILE *file) {
  uint64_t size = 0;
  for (unsigned i = 0; i < 5; i++) {
    const int byte = fgetc(file);
    if (byte == EOF) {
      return -1;
    }
    size |= (uint64_t)(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      return (int64_t)size;
    }
  }
  return -1;
}

/* Data sets, one after the other, and nothing else. */
bool cli_is_tfdv(const char *path) {
  enum { DATASET = 1 << 3 | 2 }; /* the tag */
  if (cli_names_tfdv(path)) {
    return true;
  }
  FILE *file = cli_are_files(&path, 1) ? fopen(path, "rb") : NULL;
  if (file == NULL) {
    return false;
  }
  int64_t at = -1;
  const int64_t end = fseek(file, 0, SEEK_END) == 0 ? (int64_t)ftell(file) : -1;
  bool is_one = end > 0 && fseek(file, 0, SEEK_SET) == 0;
  while (is_one && at < end) {
    const int64_t size = fgetc(file) == DATASET ? read_size(file) : -1;
    at = size >= 0 ? (int64_t)ftell(file) + size : -1;
    is_one = at >= 0 && at <= end && fseek(file, (long)at, SEEK_SET) == 0;
  }
  (void)fclose(file);
  return is_one;
}

/* ---- saved ones ---- */

static cst_status open_saved(const char *path, cst_accumulator **out, cst_error *error) {
  cst_status status = cst_accumulator_open(path, NULL, out, error);
  if (status == CST_OK && strcmp(cst_accumulator_name(*out), name_of_statistics) != 0) {
    status = cli_fail_argument(error, "name saved statistics: columnstone stats -o x.cststats",
                               "%.80s holds what the accumulator '%.40s' saved", path,
                               cst_accumulator_name(*out));
    cst_accumulator_free(*out);
    *out = NULL;
  }
  return status;
}

static cst_status merge_saved(const cli_files *files, cst_accumulator **out, cst_error *error) {
  cst_status status = open_saved(files->paths[0], out, error);
  for (size_t i = 1; status == CST_OK && i < files->count; i++) {
    cst_accumulator *other;
    status = open_saved(files->paths[i], &other, error);
    if (status == CST_OK) {
      status = cst_accumulator_merge(*out, other, error);
      cst_accumulator_free(other);
    }
  }
  return status;
}

/* ---- of whatever there is ---- */

static cst_status check_options(const cli_finding *finding, cst_error *error) {
  const bool any = finding->num_options > 0 || finding->columns != NULL || finding->by != NULL ||
                   finding->weight != NULL;
  return any ? cli_fail_argument(error, "leave out --columns, --by, --weight and -O",
                                 "saved statistics have their options already")
             : CST_OK;
}

static cst_status read_tfdv(const cli_settings *settings, const char *path, cli_statistics *out,
                            cst_error *error) {
  cst_status status = check_options(&settings->finding, error);
  return status == CST_OK ? cst_statistics_open_tfdv(path, NULL, NULL, &out->features, error)
                          : status;
}

static cst_status read_accumulator(const cli_verb *verb, const cli_settings *settings,
                                   const cli_files *files, cst_accumulator **out,
                                   cst_error *error) {
  size_t num_saved = 0;
  for (size_t i = 0; i < files->count; i++) {
    num_saved += cli_is_saved_statistics(files->paths[i]);
  }
  if (num_saved > 0 && num_saved < files->count) {
    return cli_fail_argument(error,
                             "save the statistics of the data (-o x.cststats), and merge both",
                             "saved statistics and data stand beside each other");
  }
  if (num_saved > 0) {
    cst_status status = check_options(&settings->finding, error);
    return status == CST_OK ? merge_saved(files, out, error) : status;
  }
  cst_status status = cli_accumulator_new(settings, name_of_statistics, out, error);
  return status == CST_OK ? cli_accumulate_files(verb, settings, files, *out, error) : status;
}

cst_status cli_statistics_read(const cli_verb *verb, const cli_settings *settings,
                               const cli_files *files, cli_statistics *out, cst_error *error) {
  *out = (cli_statistics){NULL, NULL};
  for (size_t i = 0; i < files->count; i++) {
    if (!cli_is_saved_statistics(files->paths[i]) && cli_is_tfdv(files->paths[i])) {
      return files->count > 1 ? cli_fail_argument(error, "name one file of them alone",
                                                  "TFDV's statistics cannot be merged")
                              : read_tfdv(settings, files->paths[0], out, error);
    }
  }
  cst_status status = read_accumulator(verb, settings, files, &out->accumulator, error);
  if (status == CST_OK) {
    status = cst_accumulator_finish(out->accumulator, &out->features, error);
  }
  if (status != CST_OK) {
    cli_hint_column(settings, files->paths, files->count, error);
  }
  return status;
}

void cli_statistics_reset(cli_statistics *statistics) {
  cst_accumulator_free(statistics->accumulator);
  cst_findings_free(statistics->features);
}
