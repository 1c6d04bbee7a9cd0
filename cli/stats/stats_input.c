/* Statistics of files: of data, or saved ones, which are merged. */
#include <string.h>

#include "stats/stats.h"

static const char name_of_statistics[] = "statistics";

bool cli_names_saved_statistics(const char *path) {
  static const char *const endings[] = {".cststats", ".cststats.gz", ".cststats.zst"};
  const size_t size = strlen(path);
  for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
    const size_t end = strlen(endings[i]);
    if (size > end && strcmp(path + size - end, endings[i]) == 0) {
      return true;
    }
  }
  return false;
}

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

static cst_status fail_argument(cst_error *error, const char *message, const char *hint) {
  error->code = CST_INVALID_ARGUMENT;
  snprintf(error->message, sizeof error->message, "%s", message);
  snprintf(error->hint, sizeof error->hint, "%s", hint);
  return CST_INVALID_ARGUMENT;
}

/* ---- saved ones ---- */

static cst_status open_saved(const char *path, cst_accumulator **out, cst_error *error) {
  cst_status status = cst_accumulator_open(path, NULL, out, error);
  if (status == CST_OK && strcmp(cst_accumulator_name(*out), name_of_statistics) != 0) {
    char message[200];
    snprintf(message, sizeof message, "%.100s holds what the accumulator '%.40s' saved", path,
             cst_accumulator_name(*out));
    cst_accumulator_free(*out);
    *out = NULL;
    status =
        fail_argument(error, message, "name saved statistics: columnstone stats -o x.cststats");
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
  return any ? fail_argument(error, "saved statistics have their options already",
                             "leave out --columns, --by, --weight and -O")
             : CST_OK;
}

static cst_status read_accumulator(const cli_verb *verb, const cli_settings *settings,
                                   const cli_files *files, cst_accumulator **out,
                                   cst_error *error) {
  size_t num_saved = 0;
  for (size_t i = 0; i < files->count; i++) {
    num_saved += cli_is_saved_statistics(files->paths[i]);
  }
  if (num_saved > 0 && num_saved < files->count) {
    return fail_argument(error, "saved statistics and data stand beside each other",
                         "save the statistics of the data (-o x.cststats), and merge both");
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
  cst_status status = read_accumulator(verb, settings, files, &out->accumulator, error);
  return status == CST_OK ? cst_accumulator_finish(out->accumulator, &out->features, error)
                          : status;
}

void cli_statistics_reset(cli_statistics *statistics) {
  cst_accumulator_free(statistics->accumulator);
  cst_findings_free(statistics->features);
}
