/* Opening the inputs of a verb by its settings, and writing small files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* A batch also ends here, so that memory is bounded whatever the records' size. */
enum { BATCH_BYTES = 16 << 20, USUAL_THREADS = 2 };

cst_status cli_read_schema(const cli_settings *settings, cst_schema **out, cst_error *error) {
  *out = NULL;
  return settings->schema == NULL ? CST_OK : cst_schema_read_file(settings->schema, out, error);
}

static int32_t usual_threads(void) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return cores < 1 ? 1 : cores < USUAL_THREADS ? (int32_t)cores : USUAL_THREADS;
}

/* Between the rows of a verb that prints them to the same terminal, but never within a line. */
static bool print_warning(void *ctx, const cst_error *warning) {
  (void)ctx;
  fflush(stdout);
  fputs("warning: ", stderr);
  cli_print_error(stderr, warning);
  fputc('\n', stderr);
  return true;
}

cst_source_options cli_source_options(const cli_settings *settings, const cst_schema *schema) {
  cst_source_options options = settings->source;
  options.schema = schema;
  options.batch_bytes = BATCH_BYTES;
  options.threads = options.threads > 0 ? options.threads : usual_threads();
  options.csv = &settings->csv;
  options.message = cli_message_of_input(settings);
  options.on_warning = print_warning;
  return options;
}

cst_status cli_open(const cli_settings *settings, const char *const *paths, size_t num_paths,
                    cli_dropped *dropped, cst_source **out, cst_error *error) {
  cst_schema *schema;
  cst_status status = cli_read_schema(settings, &schema, error);
  if (status != CST_OK) {
    return status;
  }
  cst_source_options options = cli_source_options(settings, schema);
  options.on_dropped = dropped != NULL ? cli_print_dropped : NULL;
  options.dropped_ctx = dropped;
  status = cst_source_open(paths, num_paths, &options, out, error);
  cst_schema_release(schema);
  return status;
}

static cst_status write_failed(const char *path, cst_error *error) {
  *error = (cst_error)CST_ERROR_INIT;
  error->code = CST_IO;
  snprintf(error->message, sizeof error->message, "cannot be written: %s", strerror(errno));
  snprintf(error->file, sizeof error->file, "%s", path);
  return CST_IO;
}

/* The file's mode is what the umask leaves, as for every new file. */
static bool write_new_file(const char *path, const char *data, size_t size) {
  FILE *file = fopen(path, "wbx");
  if (file == NULL) {
    return false;
  }
  bool fine = fwrite(data, 1, size, file) == size;
  return fclose(file) == 0 && fine;
}

cst_status cli_write_file(const char *path, const char *data, size_t size, cst_error *error) {
  size_t room = strlen(path) + 32;
  char *temporary = malloc(room);
  if (temporary == NULL) {
    return write_failed(path, error);
  }
  snprintf(temporary, room, "%s.%ld.tmp", path, (long)getpid());
  bool fine = write_new_file(temporary, data, size) && rename(temporary, path) == 0;
  cst_status status = fine ? CST_OK : write_failed(path, error);
  if (!fine) {
    unlink(temporary);
  }
  free(temporary);
  return status;
}
