/* A plug-in that fails in the way that the first letter of its input says, for plugin_data.sh. */
#include <columnstone/format.h>
#include <errno.h>
#include <stdio.h>

static char way;
static int64_t offsets[3] = {0, 1, 2};
static const void *text_buffers[3] = {NULL, offsets, "ab"};
static const void *no_buffers[1] = {NULL};

static void release_schema(struct ArrowSchema *schema) { schema->release = NULL; }
static void release_array(struct ArrowArray *array) { array->release = NULL; }

static struct ArrowSchema text_schema;
static struct ArrowSchema *schema_children[1] = {&text_schema};
static struct ArrowArray text_array;
static struct ArrowArray *array_children[1] = {&text_array};

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  (void)stream;
  text_schema = (struct ArrowSchema){.format = "U", .name = "text", .release = release_schema};
  *out = (struct ArrowSchema){.format = "+s",
                              .name = "",
                              .n_children = 1,
                              .children = schema_children,
                              .release = release_schema};
  return way == 's' ? EINVAL : 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  (void)stream;
  switch (way) {
    case 'i':
      return EIO;
    case 'n':
      return ENOTSUP;
    case 'm':
      return ENOMEM;
    case 'd':
      return EINVAL;
    case 'o': /* offsets that go back */
      offsets[1] = 1000000;
      break;
    case 'u': /* no UTF-8 */
      text_buffers[2] = "\xff\xff";
      break;
  }
  text_array = (struct ArrowArray){.length = way == 'l' ? 1 : 2,
                                   .n_buffers = 3,
                                   .buffers = text_buffers,
                                   .release = release_array};
  *out = (struct ArrowArray){.length = 2,
                             .n_buffers = 1,
                             .buffers = no_buffers,
                             .n_children = 1,
                             .children = array_children,
                             .release = release_array};
  return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream) {
  (void)stream;
  return "this is what failed";
}

static void release_stream(struct ArrowArrayStream *stream) { stream->release = NULL; }

static cst_status open_bad(const char *path, const cst_plugin_read_options *options,
                           struct ArrowArrayStream *out, cst_error *error) {
  FILE *file = fopen(path, "rb");
  (void)options;
  way = file != NULL ? (char)fgetc(file) : 'x';
  if (file != NULL) {
    fclose(file);
  }
  if (way == 'x') {
    error->code = CST_CORRUPT;
    snprintf(error->message, sizeof error->message, "it cannot be opened");
    return CST_CORRUPT;
  }
  *out = (struct ArrowArrayStream){.get_schema = get_schema,
                                   .get_next = get_next,
                                   .get_last_error = get_last_error,
                                   .release = release_stream};
  return CST_OK;
}

static const char *const extensions[] = {".awful", NULL};

static const cst_plugin_format format = {.size = sizeof format,
                                         .abi_version = CST_PLUGIN_ABI_VERSION,
                                         .name = "bad",
                                         .extensions = extensions,
                                         .open = open_bad};

const cst_plugin_format *cst_plugin(uint32_t host_abi_version) {
  (void)host_abi_version;
  return &format;
}
