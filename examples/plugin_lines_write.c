/* The plug-in of plugin_lines.c with a writer besides: a table of one column of strings becomes a
 * text file. It is compiled in the place of plugin_lines.c.
 */
#include <columnstone/format.h>

#define cst_plugin reading_plugin /* another name for the one that only reads */
#include "plugin_lines.c"
#undef cst_plugin

typedef struct writer {
  FILE *file;       /* NULL: finished */
  char column[256]; /* its name, for errors */
} writer;

static cst_status fail_errno(cst_error *error) {
  return fail(error, errno == ENOMEM ? CST_NO_MEMORY : CST_IO, strerror(errno), "");
}

static cst_status create_lines(const char *path, const struct ArrowSchema *schema,
                               const cst_plugin_write_options *options, void **out,
                               cst_error *error) {
  (void)options;
  if (schema->n_children != 1 || strcmp(schema->children[0]->format, "U") != 0) {
    return fail(error, CST_UNSUPPORTED, "a file of lines is one column of large strings",
                "choose one with --columns");
  }
  const char *name = schema->children[0]->name; /* borrowed */
  writer *w = calloc(1, sizeof *w);
  if (w == NULL || (w->file = fopen(path, "wb")) == NULL) {
    cst_status status = fail_errno(error);
    free(w);
    return status;
  }
  snprintf(w->column, sizeof w->column, "%s", name != NULL ? name : "");
  *out = w;
  return CST_OK;
}

static cst_status fail_row(const writer *w, int64_t row, cst_error *error) {
  fail(error, CST_UNSUPPORTED, "a line cannot be null or hold a line break", "");
  error->record = row;
  snprintf(error->path, sizeof error->path, "%s", w->column);
  return CST_UNSUPPORTED;
}

static cst_status write_lines(void *ctx, struct ArrowArray *batch, cst_error *error) {
  writer *w = ctx;
  const struct ArrowArray *line = batch->children[0];
  const uint8_t *valid = line->buffers[0]; /* NULL: there are no nulls */
  const int64_t *offsets = line->buffers[1];
  cst_status status = CST_OK;
  for (int64_t row = 0; row < batch->length && status == CST_OK; row++) {
    int64_t slot = batch->offset + line->offset + row;
    size_t size = (size_t)(offsets[slot + 1] - offsets[slot]);
    const char *text = size > 0 ? (const char *)line->buffers[2] + offsets[slot] : "";
    bool is_null = valid != NULL && (valid[slot / 8] >> slot % 8 & 1) == 0;
    if (is_null || memchr(text, '\n', size) != NULL) {
      status = fail_row(w, row, error);
    } else if (fwrite(text, 1, size, w->file) < size || putc('\n', w->file) == EOF) {
      status = fail_errno(error);
    }
  }
  batch->release(batch);
  /* Nothing stays in the stream: a forked child of the caller would write it at its end, too. */
  return status == CST_OK && fflush(w->file) != 0 ? fail_errno(error) : status;
}

static cst_status finish_lines(void *ctx, cst_error *error) {
  writer *w = ctx;
  FILE *file = w->file;
  w->file = NULL;
  return fclose(file) == 0 ? CST_OK : fail_errno(error);
}

static void free_lines(void *ctx) {
  writer *w = ctx;
  if (w->file != NULL) fclose(w->file);
  free(w);
}

static const cst_plugin_format both = {
    .size = sizeof both,
    .abi_version = CST_PLUGIN_ABI_VERSION,
    .name = "lines",
    .description = "Text files, one line a row",
    .extensions = (const char *const[]){".lines", NULL},
    .open = open_lines,
    .create = create_lines,
    .write = write_lines,
    .finish = finish_lines,
    .free = free_lines,
};

const cst_plugin_format *cst_plugin(uint32_t host_abi_version) {
  return host_abi_version == CST_PLUGIN_ABI_VERSION ? &both : NULL;
}
