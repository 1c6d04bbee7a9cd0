/* The table of the built-in formats, and the ways to find one. */
#include "format/registry.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/names.h"
#include "base/utf8.h"
#include "format/avro/avro_options.h"
#include "format/container/container.h"
#include "format/csv/csv_options.h"
#include "format/plugin/plugin.h"
#include "io/url.h"

/* A format that is known by name. Without payload and table: a plug-in of this project, so that it
 * is known when the plug-in is not there. */
typedef struct known_format {
  cst_format_info info;
  const cst__payload *payload; /* with a table: of its values in a container of others */
  const cst__table_format *table;
  const cst__sink_format *sink;                    /* of a payload, all have the same */
  const cst__option_table *options;                /* NULL: it has none */
  bool (*sniff)(const uint8_t *head, size_t size); /* of a plug-in */
  const char *missing[2]; /* the message when the plug-in is not there, and the hint */
} known_format;

/* A table of text may begin with a column of that name. */
static bool is_parquet(const uint8_t *head, size_t size) {
  return size >= 4 && memcmp(head, "PAR1", 4) == 0 &&
         (size == 4 || !cst__is_text(head, size < 64 ? size : 64));
}

static const char *const no_extensions[] = {NULL};
static const char *const csv_extensions[] = {".csv", ".tsv", NULL};
static const char *const json_extensions[] = {".jsonl", ".ndjson", ".json", NULL};
static const char *const arrow_extensions[] = {".arrow", ".feather", ".ipc", NULL};
static const char *const avro_extensions[] = {".avro", NULL};
static const char *const arrows_extensions[] = {".arrows", NULL};
static const char *const parquet_extensions[] = {".parquet", ".pq", NULL};

/* Every list of formats, for people and programs, is made of this one, in this order. */
static const known_format known[] = {
    {.info = {"example", "tf.Example", no_extensions, true, true, .is_records = true,
              .needs_schema = true},
     .payload = &cst__example_payload},
    {.info = {"sequence_example", "tf.SequenceExample", no_extensions, true, true,
              .is_records = true, .needs_schema = true},
     .payload = &cst__sequence_payload,
     .options = &cst__sequence_option_table},
    {.info = {"message", "protobuf messages", no_extensions, true, true, .is_records = true},
     .payload = &cst__message_payload},
    {.info = {"raw", "records as they are", no_extensions, true, true, .is_records = true},
     .payload = &cst__raw_payload},
    {.info = {"csv", "CSV", csv_extensions, true, true, .is_text = true},
     .table = &cst__csv_table,
     .sink = &cst__sink_csv,
     .options = &cst__csv_option_table},
    {.info = {"json", "JSON lines", json_extensions, true, true, .is_text = true},
     .table = &cst__json_table,
     .sink = &cst__sink_json},
    {.info = {"arrow", "Arrow", arrow_extensions, true, true},
     .table = &cst__arrow_table,
     .sink = &cst__sink_arrow_file},
    {.info = {"arrows", "Arrow stream", arrows_extensions, true, true},
     .table = &cst__arrow_table,
     .sink = &cst__sink_arrow_stream},
    {.info = {"avro", "Avro", avro_extensions, true, true},
     .payload = &cst__avro_payload,
     .table = &cst__avro_table,
     .sink = &cst__sink_avro,
     .options = &cst__avro_option_table},
    {.info = {"parquet", "Parquet", parquet_extensions, true, true, .is_plugin = true},
     .sniff = is_parquet,
     .missing =
         {"Parquet plug-in not found (columnstone-parquet.so or columnstone-format-parquet)",
          "pip install columnstone pyarrow, or build the plug-in (meson -Dparquet=enabled)"}},
};

enum { NUM_KNOWN = sizeof known / sizeof *known };

/* What writes records of a payload, if they are written. */
static const cst__sink_format *sink_of(const cst__payload *payload) {
  return payload->new_encoder != NULL ? &cst__sink_records : NULL;
}

static void set_builtin(cst__format *out, const known_format *found) {
  bool is_of_files = found->table != NULL;
  *out = (cst__format){
      .name = found->info.name,
      .payload = is_of_files ? NULL : found->payload,
      .table = found->table,
      .sink = is_of_files || found->payload == NULL ? found->sink : sink_of(found->payload),
      .options = found->options,
      .records = is_of_files ? found->payload : NULL};
}

bool cst__format_in_container(cst__format *format) {
  if (format->records != NULL) {
    *format = (cst__format){.name = format->name,
                            .payload = format->records,
                            .sink = sink_of(format->records),
                            .options = format->options};
  }
  return format->payload != NULL;
}

static void set_plugin(cst__format *out, const cst_plugin_format *plugin) {
  *out = (cst__format){.name = plugin->name,
                       .plugin = plugin,
                       .sink = plugin->create != NULL ? &cst__sink_plugin : NULL};
}

static void set_program(cst__format *out, const cst__program *program) {
  *out = (cst__format){.name = program->name, .program = program, .sink = &cst__sink_program};
}

const cst_format_info *cst_format_get(size_t i) { return i < NUM_KNOWN ? &known[i].info : NULL; }

const cst__option_table *cst__format_option_table(size_t i) { return known[i].options; }

/* ---- by name ---- */

enum { NAMES_ROOM = 128 };

/* "example, raw, ...": all that are known, for hints. */
static const char *list_names(char text[NAMES_ROOM]) {
  size_t size = 0;
  text[0] = '\0';
  for (size_t i = 0; i < NUM_KNOWN && size < NAMES_ROOM; i++) {
    size += (size_t)snprintf(text + size, NAMES_ROOM - size, "%s%s", i > 0 ? ", " : "",
                             known[i].info.name);
  }
  return text;
}

static const char *nth_known(const void *formats, size_t i) {
  return ((const known_format *)formats)[i].info.name;
}

static cst_status fail_unknown(const char *name, cst_error *error) {
  const cst__name_list names = {known, NUM_KNOWN, nth_known};
  char list[NAMES_ROOM];
  char all[NAMES_ROOM + 64];
  char near[CST__NEAR_HINT];
  const char *hint = cst__near_hint(near, name, &names);
  snprintf(all, sizeof all, "known formats: %s, and installed plug-ins", list_names(list));
  return cst__fail(error, CST_NOT_FOUND, hint != NULL ? hint : all, "unknown format '%s'", name);
}

static const known_format *find_known(const char *name) {
  for (size_t i = 0; i < NUM_KNOWN; i++) {
    if (strcmp(known[i].info.name, name) == 0) {
      return &known[i];
    }
  }
  return NULL;
}

static const cst__payload *extra_payload;

void cst__format_set_extra(const cst__payload *payload) { extra_payload = payload; }

bool cst__format_find_by_record(cst_bytes record, cst__format *out) {
  for (size_t i = 0; i < NUM_KNOWN; i++) {
    const cst__payload *payload = known[i].payload;
    if (payload != NULL && payload->sniff != NULL && payload->sniff(record)) {
      set_builtin(out, &known[i]);
      return true;
    }
  }
  return false;
}

cst_status cst__format_find(const char *name, cst__format *out, cst_error *error) {
  *out = (cst__format){0};
  if (extra_payload != NULL && strcmp(extra_payload->name, name) == 0) {
    *out = (cst__format){
        .name = extra_payload->name, .payload = extra_payload, .sink = sink_of(extra_payload)};
    return CST_OK;
  }
  const known_format *found = find_known(name);
  if (found != NULL && !found->info.is_plugin) {
    set_builtin(out, found);
    return CST_OK;
  }
  const cst_plugin_format *plugin;
  CST__TRY(cst__plugin_load(name, &plugin, error));
  if (plugin != NULL) {
    set_plugin(out, plugin);
    return CST_OK;
  }
  const cst__program *program = cst__program_find(name);
  if (program != NULL) {
    set_program(out, program);
    return CST_OK;
  }
  return found != NULL ? cst__fail(error, CST_NOT_FOUND, found->missing[1], "%s", found->missing[0])
                       : fail_unknown(name, error);
}

/* ---- by the ending of a name ---- */

typedef struct ending {
  const char *text;
  size_t size;
} ending;

static bool ends_with(ending name, const char *suffix) {
  size_t size = strlen(suffix);
  return name.size > size && memcmp(name.text + name.size - size, suffix, size) == 0;
}

static bool ends_with_any(ending name, const char *const *suffixes) {
  for (; *suffixes != NULL; suffixes++) {
    if (ends_with(name, *suffixes)) {
      return true;
    }
  }
  return false;
}

/* The last step of a path, without the ending of a compression. */
static ending base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  const char *base = slash != NULL ? slash + 1 : path;
  ending name = {.text = base};
  (void)cst__compression_of(base, &name.size);
  return name;
}

static bool plugin_has_extension(const cst_plugin_format *format, void *ctx) {
  const ending *name = ctx;
  return format->extensions != NULL && ends_with_any(*name, format->extensions);
}

/* The plug-in whose name or whose list of extensions the path's ending is, or the program whose
 * name it is; *out without any if there is none. */
static cst_status find_plugin_by_ending(ending name, cst__format *out, cst_error *error) {
  char last[32] = "";
  size_t size = 0;
  const cst_plugin_format *plugin = NULL;
  while (size < name.size && name.text[name.size - 1 - size] != '.') {
    size++;
  }
  *out = (cst__format){0};
  if (size < name.size && size < sizeof last) {
    memcpy(last, name.text + name.size - size, size);
    last[size] = '\0';
    CST__TRY(cst__plugin_load(last, &plugin, error));
  }
  if (plugin == NULL) {
    plugin = cst__plugin_search(plugin_has_extension, &name);
  }
  const cst__program *program = plugin == NULL ? cst__program_find(last) : NULL;
  if (plugin != NULL) {
    set_plugin(out, plugin);
  } else if (program != NULL) {
    set_program(out, program);
  }
  return CST_OK;
}

static const known_format *find_by_extension(ending name) {
  for (size_t i = 0; i < NUM_KNOWN; i++) {
    if (ends_with_any(name, known[i].info.extensions)) {
      return &known[i];
    }
  }
  return NULL;
}

/* Tabular formats compress by themselves. */
static cst_status check_uncompressed(const char *path, ending name, const char *format,
                                     cst_error *error) {
  return name.text[name.size] == '\0'
             ? CST_OK
             : cst__fail(error, CST_INVALID_ARGUMENT, "leave the ending out",
                         "the format %s has its own compression, not %s", format,
                         strrchr(path, '.'));
}

static cst_status fail_unknown_ending(const char *path, cst_error *error) {
  char list[NAMES_ROOM];
  char hint[NAMES_ROOM + 64];
  char shown[PATH_MAX];
  snprintf(hint, sizeof hint, "name the format: %s", list_names(list));
  snprintf(shown, sizeof shown, "%s", path);
  cst_url_make_printable(shown);
  ending name = base_name(shown);
  return cst__fail(error, CST_NOT_FOUND, hint, "no known format has the file name ending '%.*s'",
                   (int)(name.size < 64 ? name.size : 64), name.text);
}

cst_status cst__format_find_by_path(const char *path, cst__format *out, cst_error *error) {
  ending name = base_name(path);
  const cst__container *container = cst__container_find_by_path(path);
  if (container != NULL) {
    return cst__format_find(container->info.format, out, error);
  }
  const known_format *found = find_by_extension(name);
  if (found != NULL) {
    CST__TRY(found->info.is_plugin ? check_uncompressed(path, name, found->info.name, error)
                                   : CST_OK);
    return cst__format_find(found->info.name, out, error);
  }
  CST__TRY(find_plugin_by_ending(name, out, error));
  if (out->name == NULL) {
    return fail_unknown_ending(path, error);
  }
  return check_uncompressed(path, name, out->name, error);
}

bool cst__format_find_by_schema(const struct ArrowSchema *schema, const cst_sink_options *options,
                                cst__format *out) {
  for (size_t i = 0; i < NUM_KNOWN; i++) {
    const cst__payload *payload = known[i].payload;
    if (payload != NULL && payload->matches != NULL &&
        payload->matches(schema, options->format_options, options->num_format_options)) {
      set_builtin(out, &known[i]);
      return true;
    }
  }
  return false;
}

/* ---- by the first bytes ---- */

typedef struct head_bytes {
  const uint8_t *data;
  size_t size;
} head_bytes;

static bool plugin_sniffs(const cst_plugin_format *format, void *ctx) {
  const head_bytes *head = ctx;
  return format->open != NULL && format->sniff != NULL && format->sniff(head->data, head->size);
}

cst_status cst__format_find_by_head(const uint8_t *head, size_t size, cst__format *out,
                                    cst_error *error) {
  *out = (cst__format){0};
  for (size_t i = 0; i < NUM_KNOWN; i++) {
    if (known[i].sniff != NULL && known[i].sniff(head, size)) {
      return cst__format_find(known[i].info.name, out, error);
    }
  }
  for (size_t i = 0; i < NUM_KNOWN; i++) {
    const cst__table_format *table = known[i].table;
    if (table != NULL && table->sniff != NULL && table->sniff(head, size)) {
      set_builtin(out, &known[i]);
      return CST_OK;
    }
  }
  head_bytes bytes = {head, size};
  const cst_plugin_format *plugin = cst__plugin_search(plugin_sniffs, &bytes);
  if (plugin != NULL) {
    set_plugin(out, plugin);
  }
  return CST_OK;
}

cst_status cst__format_find_by_ending(const char *path, cst__format *out, cst_error *error) {
  char file[4096];
  ending name = base_name(cst__url_of_file(path, file, sizeof file));
  const known_format *by_name = find_by_extension(name);
  *out = (cst__format){0};
  if (by_name == NULL) {
    CST__TRY(find_plugin_by_ending(name, out, error));
    if (out->plugin != NULL && out->plugin->open == NULL) {
      *out = (cst__format){0};
    }
  } else if (!by_name->info.is_plugin) { /* one of ours has looked at the bytes already */
    set_builtin(out, by_name);
  }
  return CST_OK;
}
