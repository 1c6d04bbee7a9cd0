/* Statistics as a page for a browser: --html. */
#include <inttypes.h>
#include <string.h>

#include "stats/stats.h"

/* The first file without its folder, and how many others there are. */
const char *cli_data_name(const cli_files *files, char room[CLI_DATA_NAME]) {
  const char *slash = strrchr(files->paths[0], '/');
  const char *name = slash != NULL && slash[1] != '\0' ? slash + 1 : files->paths[0];
  if (files->count == 1) {
    snprintf(room, CLI_DATA_NAME, "%s", strcmp(name, "-") == 0 ? "standard input" : name);
  } else {
    snprintf(room, CLI_DATA_NAME, "%.200s and %zu more", name, files->count - 1);
  }
  return room;
}

cst_status cli_write_page(const cli_settings *settings, const cst_statistics_named *tables,
                          size_t num_tables, const cst_findings *comparison, cst_error *error) {
  const char *path = settings->finding.page;
  char *html;
  size_t size;
  cst_status status = cst_statistics_page(tables, num_tables, comparison, &html, &size, error);
  if (status != CST_OK) {
    return status;
  }
  status = cli_write_file(path, html, size, error);
  cst_free(html);
  if (status == CST_OK && strcmp(path, "-") != 0 && settings->output == NULL && !settings->json) {
    printf("%s: ", path);
    for (size_t i = 0; i < num_tables; i++) {
      printf("%s%" PRId64, i > 0 ? " and " : "",
             cst_findings_total(tables[i].features, "num_rows"));
    }
    printf(" rows\n");
  }
  return status;
}

int cli_check_page(const cli_verb *verb, const cli_settings *settings) {
  const char *path = settings->finding.page;
  return path != NULL && cli_would_overwrite(settings, path) ? cli_overwrites(verb, path) : -1;
}
