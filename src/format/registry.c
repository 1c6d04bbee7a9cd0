/* The table of the built-in formats, and the ways to find one. */
#include "format/registry.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/utf8.h"
#include "format/plugin.h"

typedef struct builtin {
  const char *name;
  const cst__payload *payload;
  const cst__table_format *table;
  const cst__sink_format *sink;
  const char *extensions[5]; /* NULL at the end */
} builtin;

static const builtin builtins[] = {
    {"example",
     &cst__example_payload,
     NULL,
     &cst__sink_example,
     {".tfrecord", ".tfrecords", ".tfrec"}},
    {"sequence_example", &cst__sequence_payload, NULL, &cst__sink_sequence, {NULL}},
    {"raw", &cst__raw_payload, NULL, &cst__sink_raw, {NULL}},
    {"arrow", NULL, &cst__arrow_table, &cst__sink_arrow_file, {".arrow", ".feather", ".ipc"}},
    {"arrows", NULL, &cst__arrow_table, &cst__sink_arrow_stream, {".arrows"}},
    {"csv", NULL, &cst__csv_table, &cst__sink_csv, {".csv", ".tsv"}},
    {"json", NULL, &cst__json_table, &cst__sink_json, {".jsonl", ".ndjson", ".json"}},
};

enum { NUM_BUILTINS = sizeof builtins / sizeof builtins[0] };

/* Formats whose plug-in is part of the project, so that they are known when it is not there. */
static const char *const parquet_extensions[] = {".parquet", ".pq", NULL};
static const char *const compression_extensions[] = {".gz", ".zlib", ".zz", ".zst", NULL};

static const char *const known_names[] = {
    "example", "sequence_example", "raw", "arrow", "arrows", "csv", "json", "parquet"};
#define KNOWN_NAMES "example, sequence_example, raw, arrow, arrows, csv, json, parquet"

static void set_builtin(cst__format *out, const builtin *found) {
  *out = (cst__format){
      .name = found->name, .payload = found->payload, .table = found->table, .sink = found->sink};
}

static void set_plugin(cst__format *out, const cst_plugin_format *plugin) {
  *out = (cst__format){.name = plugin->name,
                       .plugin = plugin,
                       .sink = plugin->create != NULL ? &cst__sink_plugin : NULL};
}

static void set_program(cst__format *out, const cst__program *program) {
  *out = (cst__format){.name = program->name, .program = program, .sink = &cst__sink_program};
}

/* ---- by name ---- */

static cst_status fail_missing(const char *name, cst_error *error) {
  if (strcmp(name, "parquet") == 0) {
    return cst__fail(
        error, CST_NOT_FOUND,
        "pip install columnstone pyarrow, whose program reads Parquet, or build the plug-in "
        "(meson -Dparquet=enabled)",
        "there is no plug-in for Parquet: neither columnstone-parquet.so nor "
        "columnstone-format-parquet");
  }
  size_t near = cst__nearest_name(name, known_names, sizeof known_names / sizeof known_names[0]);
  char hint[128];
  snprintf(hint, sizeof hint, "did you mean '%s'?", near != SIZE_MAX ? known_names[near] : "");
  return cst__fail(error, CST_NOT_FOUND,
                   near != SIZE_MAX ? hint : "known are " KNOWN_NAMES ", and installed plug-ins",
                   "there is no format '%s'", name);
}

cst_status cst__format_find(const char *name, cst__format *out, cst_error *error) {
  *out = (cst__format){0};
  for (size_t i = 0; i < NUM_BUILTINS; i++) {
    if (strcmp(builtins[i].name, name) == 0) {
      set_builtin(out, &builtins[i]);
      return CST_OK;
    }
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
  return fail_missing(name, error);
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
  ending name = {base, strlen(base)};
  for (const char *const *suffix = compression_extensions; *suffix != NULL; suffix++) {
    if (ends_with(name, *suffix)) {
      name.size -= strlen(*suffix);
      break;
    }
  }
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

/* "trips.tfrecord-00000-of-00010": the shard behind the ending. */
static bool is_shard_of_tfrecord(ending name) {
  static const char part[] = ".tfrecord-";
  for (size_t i = 0; i + sizeof part - 1 <= name.size; i++) {
    if (memcmp(name.text + i, part, sizeof part - 1) == 0) {
      return true;
    }
  }
  return false;
}

/* Whole formats compress by themselves. */
static cst_status check_uncompressed(const char *path, ending name, const char *format,
                                     cst_error *error) {
  return name.text[name.size] == '\0'
             ? CST_OK
             : cst__fail(error, CST_INVALID_ARGUMENT, "leave the ending out",
                         "the format %s has a compression of its own, not %s", format,
                         strrchr(path, '.'));
}

cst_status cst__format_find_by_path(const char *path, cst__format *out, cst_error *error) {
  ending name = base_name(path);
  for (size_t i = 0; i < NUM_BUILTINS; i++) {
    if (ends_with_any(name, builtins[i].extensions)) {
      set_builtin(out, &builtins[i]);
      return CST_OK;
    }
  }
  if (is_shard_of_tfrecord(name)) {
    return cst__format_find("example", out, error);
  }
  if (ends_with_any(name, parquet_extensions)) {
    CST__TRY(check_uncompressed(path, name, "parquet", error));
    return cst__format_find("parquet", out, error);
  }
  CST__TRY(find_plugin_by_ending(name, out, error));
  if (out->name == NULL) {
    return cst__fail(error, CST_NOT_FOUND, "name the format: " KNOWN_NAMES,
                     "the ending of the output's name, '%.*s', means no known format",
                     (int)(name.size < 64 ? name.size : 64), name.text);
  }
  return check_uncompressed(path, name, out->name, error);
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

static bool find_table_by_ending(ending name, cst__format *out) {
  for (size_t i = 0; i < NUM_BUILTINS; i++) {
    if (builtins[i].table != NULL && ends_with_any(name, builtins[i].extensions)) {
      set_builtin(out, &builtins[i]);
      return true;
    }
  }
  return false;
}

/* A table of text may begin with a column of that name. */
static bool is_parquet(const uint8_t *head, size_t size) {
  return size >= 4 && memcmp(head, "PAR1", 4) == 0 &&
         (size == 4 || !cst__is_text(head, size < 64 ? size : 64));
}

cst_status cst__format_find_by_head(const char *path, const uint8_t *head, size_t size,
                                    cst__format *out, cst_error *error) {
  *out = (cst__format){0};
  if (is_parquet(head, size)) {
    return cst__format_find("parquet", out, error);
  }
  for (size_t i = 0; i < NUM_BUILTINS; i++) {
    const cst__table_format *table = builtins[i].table;
    if (table != NULL && table->sniff != NULL && table->sniff(head, size)) {
      set_builtin(out, &builtins[i]);
      return CST_OK;
    }
  }
  head_bytes bytes = {head, size};
  const cst_plugin_format *plugin = cst__plugin_search(plugin_sniffs, &bytes);
  if (plugin == NULL && find_table_by_ending(base_name(path), out)) {
    return CST_OK;
  }
  if (plugin != NULL) {
    set_plugin(out, plugin);
  } else if (!ends_with_any(base_name(path), parquet_extensions)) {
    CST__TRY(find_plugin_by_ending(base_name(path), out, error));
  }
  if (out->plugin != NULL && out->plugin->open == NULL) {
    *out = (cst__format){0};
  }
  return CST_OK;
}
