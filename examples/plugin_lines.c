/* A format plug-in in plain C: it reads text files, one line a row, as a column `line` of strings.
 *   cc -shared -fPIC -o columnstone-lines.so plugin_lines.c $(pkg-config --cflags columnstone)
 * plugin_lines_write.c adds a writer. */
#include <columnstone/format.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cst_status fail(cst_error *error, cst_status code, const char *message, const char *hint) {
  *error = (cst_error){.size = error->size, .code = code, .record = -1, .offset = -1};
  snprintf(error->message, sizeof error->message, "%s", message);
  snprintf(error->hint, sizeof error->hint, "%s", hint);
  return code;
}

static void release_schema(struct ArrowSchema *schema) {
  free(schema->private_data); /* a struct's child, which owns nothing */
  schema->release = NULL;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  (void)stream;
  struct ArrowSchema **child = malloc(sizeof *child + sizeof **child);
  if (child == NULL) return ENOMEM;
  *child = (struct ArrowSchema *)(child + 1);
  **child = (struct ArrowSchema){"U", "line", NULL, 0, 0, NULL, NULL, release_schema, NULL};
  *out = (struct ArrowSchema){"+s", "", NULL, 0, 1, child, NULL, release_schema, child};
  return 0;
}

enum { MAX_ROWS = 4096, STEP = 65536 }; /* Columnstone cuts and joins batches as it needs them */

typedef struct lines {    /* what a column owns, as it may be moved out of its batch */
  const void *buffers[3]; /* no nulls; offsets; bytes */
  int64_t offsets[MAX_ROWS + 1];
  char bytes[];
} lines;

static void release_array(struct ArrowArray *array) {
  struct ArrowArray *child = array->n_children > 0 ? array->children[0] : NULL;
  if (child != NULL && child->release != NULL) child->release(child); /* unless moved out */
  free(array->private_data);
  array->release = NULL;
}

/* Reads as many lines as there are, at most MAX_ROWS. */
static int read_lines(FILE *file, lines **all, int64_t *rows) {
  int64_t size = 0;
  int c = 0;
  while (*rows < MAX_ROWS && (c = getc(file)) != EOF) {
    if (size % STEP == 0) {
      lines *more = realloc(*all, sizeof **all + (size_t)size + STEP);
      if (more == NULL) return ENOMEM;
      *all = more;
    }
    if (c != '\n') (*all)->bytes[size++] = (char)c;
    if (c == '\n') (*all)->offsets[++*rows] = size;
  }
  if (size > (*all)->offsets[*rows]) (*all)->offsets[++*rows] = size; /* the last has no end */
  return ferror(file) ? EIO : 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  static const void *no_nulls[1];
  struct ArrowArray **child = malloc(sizeof *child + sizeof **child);
  lines *all = calloc(1, sizeof *all);
  int64_t rows = 0;
  int code = child && all ? read_lines(stream->private_data, &all, &rows) : ENOMEM;
  out->release = NULL;
  if (code != 0 || rows == 0) {
    free(child);
    free(all);
    return code;
  }
  all->buffers[1] = all->offsets;
  all->buffers[2] = all->bytes;
  *child = (struct ArrowArray *)(child + 1);
  **child = (struct ArrowArray){rows, 0, 0, 3, 0, all->buffers, NULL, NULL, release_array, all};
  *out = (struct ArrowArray){rows, 0, 0, 1, 1, no_nulls, child, NULL, release_array, child};
  return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream) {
  return ferror((FILE *)stream->private_data) ? "the file cannot be read" : "out of memory";
}

static void release_stream(struct ArrowArrayStream *stream) {
  fclose(stream->private_data);
  stream->release = NULL;
}

static cst_status open_lines(const char *path, const cst_plugin_read_options *options,
                             struct ArrowArrayStream *out, cst_error *error) {
  for (size_t i = 0; i < options->num_columns; i++) {
    if (strcmp(options->columns[i], "line") == 0) continue;
    fail(error, CST_NOT_FOUND, "no such column", "the only column is line");
    snprintf(error->path, sizeof error->path, "%s", options->columns[i]);
    return CST_NOT_FOUND;
  }
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    return fail(error, errno == ENOMEM ? CST_NO_MEMORY : CST_IO, strerror(errno), "");
  }
  *out = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release_stream, file};
  return CST_OK;
}

static const cst_plugin_format format = {
    .size = sizeof format,
    .abi_version = CST_PLUGIN_ABI_VERSION,
    .name = "lines",
    .description = "Text files, one line a row",
    .extensions = (const char *const[]){".lines", NULL},
    .open = open_lines,
};

const cst_plugin_format *cst_plugin(uint32_t host_abi_version) {
  return host_abi_version == CST_PLUGIN_ABI_VERSION ? &format : NULL;
}
