/* A format plug-in in plain C: text files, one line a row, in one column `line` of strings.
 *
 *   cc -shared -fPIC -o columnstone-lines.so plugin_lines.c $(pkg-config --cflags columnstone)
 *   COLUMNSTONE_PLUGIN_PATH=. columnstone head notes.lines
 *
 * It uses no function of the library, only the declarations of <columnstone/format.h>.
 */
#define _POSIX_C_SOURCE 200809L /* getline */

#include <columnstone/format.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static cst_status fail(cst_error *error, cst_status code, const char *message, const char *hint) {
  error->code = code;
  error->record = error->offset = -1;
  error->line = error->column = 0;
  error->path[0] = error->file[0] = '\0';
  snprintf(error->message, sizeof error->message, "%s", message);
  snprintf(error->hint, sizeof error->hint, "%s", hint);
  return code;
}

/* ---- the schema: a struct with the field `line`, a large_string ---- */

static void release_schema(struct ArrowSchema *schema) {
  for (int64_t i = 0; i < schema->n_children; i++) {
    if (schema->children[i]->release != NULL) {
      schema->children[i]->release(schema->children[i]);
    }
    free(schema->children[i]);
  }
  free(schema->children);
  schema->release = NULL;
}

static int make_schema(struct ArrowSchema *out) {
  struct ArrowSchema *line = calloc(1, sizeof *line);
  struct ArrowSchema **children = malloc(sizeof *children);
  if (line == NULL || children == NULL) {
    free(line);
    free(children);
    return ENOMEM;
  }
  *line = (struct ArrowSchema){.format = "U", .name = "line", .release = release_schema};
  children[0] = line;
  *out = (struct ArrowSchema){
      .format = "+s", .name = "", .n_children = 1, .children = children, .release = release_schema};
  return 0;
}

/* ---- reading ---- */

typedef struct reader {
  FILE *file;
  int64_t batch_size;
  char *line; /* getline's */
  size_t room;
} reader;

/* The offsets and bytes of the lines of one batch. */
typedef struct lines {
  int64_t *offsets; /* batch_size + 1 */
  char *bytes;
  size_t room;
  int64_t count;
} lines;

/* The child owns its buffers, the struct its child: each has a release of its own. */
static void release_array(struct ArrowArray *array) {
  for (int64_t i = 0; i < array->n_children; i++) {
    if (array->children[i]->release != NULL) { /* NULL: it was moved out */
      array->children[i]->release(array->children[i]);
    }
    free(array->children[i]);
  }
  for (int64_t i = 0; i < array->n_buffers; i++) {
    free((void *)array->buffers[i]);
  }
  free(array->children);
  free((void *)array->buffers);
  array->release = NULL;
}

static int append_line(lines *all, const char *line, size_t size) {
  size_t begin = (size_t)all->offsets[all->count];
  if (begin + size > all->room) {
    size_t room = (begin + size) * 2;
    char *bytes = realloc(all->bytes, room);
    if (bytes == NULL) {
      return ENOMEM;
    }
    all->bytes = bytes;
    all->room = room;
  }
  memcpy(all->bytes + begin, line, size);
  all->offsets[++all->count] = (int64_t)(begin + size);
  return 0;
}

static int read_lines(reader *r, lines *all) {
  while (all->count < r->batch_size) {
    ssize_t size = getline(&r->line, &r->room, r->file);
    if (size < 0) {
      return ferror(r->file) ? EIO : 0;
    }
    size -= r->line[size - 1] == '\n';
    int code = append_line(all, r->line, (size_t)size);
    if (code != 0) {
      return code;
    }
  }
  return 0;
}

/* Hands the buffers over on success. */
static int make_batch(lines *all, struct ArrowArray *out) {
  struct ArrowArray *line = calloc(1, sizeof *line);
  struct ArrowArray **children = malloc(sizeof *children);
  const void **line_buffers = calloc(3, sizeof *line_buffers);
  const void **buffers = calloc(1, sizeof *buffers);
  if (line == NULL || children == NULL || line_buffers == NULL || buffers == NULL) {
    free(line);
    free(children);
    free((void *)line_buffers);
    free((void *)buffers);
    return ENOMEM;
  }
  line_buffers[1] = all->offsets;
  line_buffers[2] = all->bytes;
  *line = (struct ArrowArray){
      .length = all->count, .n_buffers = 3, .buffers = line_buffers, .release = release_array};
  children[0] = line;
  *out = (struct ArrowArray){.length = all->count,
                             .n_buffers = 1,
                             .buffers = buffers,
                             .n_children = 1,
                             .children = children,
                             .release = release_array};
  return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  reader *r = stream->private_data;
  lines all = {.offsets = calloc((size_t)r->batch_size + 1, sizeof *all.offsets)};
  int code = all.offsets == NULL ? ENOMEM : read_lines(r, &all);
  out->release = NULL; /* the end, unless there are lines */
  if (code == 0 && all.count > 0) {
    code = make_batch(&all, out);
  }
  if (out->release == NULL) {
    free(all.offsets);
    free(all.bytes);
  }
  return code;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  (void)stream;
  return make_schema(out);
}

static const char *get_last_error(struct ArrowArrayStream *stream) {
  (void)stream;
  return "the lines cannot be read";
}

static void release_stream(struct ArrowArrayStream *stream) {
  reader *r = stream->private_data;
  fclose(r->file);
  free(r->line);
  free(r);
  stream->release = NULL;
}

static cst_status open_lines(const char *path, const cst_plugin_read_options *options,
                             struct ArrowArrayStream *out, cst_error *error) {
  for (size_t i = 0; i < options->num_columns; i++) {
    if (strcmp(options->columns[i], "line") != 0) {
      fail(error, CST_NOT_FOUND, "there is no such column", "the only column is line");
      snprintf(error->path, sizeof error->path, "%s", options->columns[i]);
      return CST_NOT_FOUND;
    }
  }
  reader *r = calloc(1, sizeof *r);
  if (r == NULL) {
    return fail(error, CST_NO_MEMORY, "out of memory", "");
  }
  r->batch_size = options->batch_size;
  r->file = fopen(path, "rb");
  if (r->file == NULL) {
    free(r);
    return fail(error, CST_IO, strerror(errno), "");
  }
  *out = (struct ArrowArrayStream){.get_schema = get_schema,
                                   .get_next = get_next,
                                   .get_last_error = get_last_error,
                                   .release = release_stream,
                                   .private_data = r};
  return CST_OK;
}

/* ---- writing: one column of strings ---- */

static cst_status create_lines(const char *path, const struct ArrowSchema *schema,
                               const cst_plugin_write_options *options, void **writer,
                               cst_error *error) {
  (void)options;
  if (schema->n_children != 1 || strcmp(schema->children[0]->format, "U") != 0) {
    return fail(error, CST_UNSUPPORTED, "a file of lines is one column of large strings",
                "choose one with --columns");
  }
  FILE *file = fopen(path, "wb");
  if (file == NULL) {
    return fail(error, CST_IO, strerror(errno), "");
  }
  *writer = file;
  return CST_OK;
}

static cst_status write_lines(void *writer, struct ArrowArray *batch, cst_error *error) {
  const struct ArrowArray *column = batch->children[0];
  int64_t first = batch->offset + column->offset;
  const int64_t *offsets = (const int64_t *)column->buffers[1] + first;
  const char *bytes = column->buffers[2];
  for (int64_t i = 0; i < batch->length; i++) {
    fwrite(bytes + offsets[i], 1, (size_t)(offsets[i + 1] - offsets[i]), writer);
    fputc('\n', writer);
  }
  batch->release(batch);
  return ferror((FILE *)writer) ? fail(error, CST_IO, "the lines cannot be written", "") : CST_OK;
}

static cst_status finish_lines(void *writer, cst_error *error) {
  return fflush(writer) == 0 ? CST_OK : fail(error, CST_IO, "the lines cannot be written", "");
}

static void free_lines(void *writer) { fclose(writer); }

/* ---- the table ---- */

static const char *const extensions[] = {".lines", NULL};

static const cst_plugin_format format = {
    .size = sizeof format,
    .abi_version = CST_PLUGIN_ABI_VERSION,
    .name = "lines",
    .description = "Text files, one line a row",
    .extensions = extensions,
    .open = open_lines,
    .create = create_lines,
    .write = write_lines,
    .finish = finish_lines,
    .free = free_lines,
};

const cst_plugin_format *cst_plugin(uint32_t host_abi_version) {
  return host_abi_version == CST_PLUGIN_ABI_VERSION ? &format : NULL;
}
