/* What the features of a file are, from the sample of its first records. */
#include <stdlib.h>
#include <string.h>

#include "info.h"

/* ---- a feature ---- */

static bool is_present(const info_feature *f, int64_t slot) {
  const uint8_t *bits = f->values->n_buffers > 0 ? f->values->buffers[0] : NULL;
  if (strcmp(f->type->format, "n") == 0) {
    return false;
  }
  if (f->type->format[0] == '+' && (f->type->format[1] == 'u' || f->type->format[1] == 'r')) {
    return true; /* unions and runs have no such bits */
  }
  return bits == NULL || (bits[slot / 8] >> (slot % 8) & 1);
}

/* -1: no list. */
static int64_t feature_items(const info_feature *f, int64_t slot) {
  const void *offsets = f->values->n_buffers > 1 ? f->values->buffers[1] : NULL;
  if (strcmp(f->type->format, "+L") == 0 && offsets != NULL) {
    return ((const int64_t *)offsets)[slot + 1] - ((const int64_t *)offsets)[slot];
  }
  if (strcmp(f->type->format, "+l") == 0 && offsets != NULL) {
    return ((const int32_t *)offsets)[slot + 1] - ((const int32_t *)offsets)[slot];
  }
  return -1;
}

info_feature info_feature_of(const info_look *l, int64_t i) {
  info_feature f = {.type = l->schema.children[i],
                    .values = l->batch.release != NULL ? l->batch.children[i] : NULL,
                    .fewest = -1,
                    .most = -1,
                    .example = -1};
  int64_t rows = f.values != NULL ? l->batch.length : 0;
  for (int64_t row = 0; row < rows; row++) {
    int64_t slot = l->batch.offset + f.values->offset + row;
    if (!is_present(&f, slot)) {
      continue;
    }
    int64_t items = feature_items(&f, slot);
    f.fewest = f.present == 0 || items < f.fewest ? items : f.fewest;
    f.most = items > f.most ? items : f.most;
    f.example = f.example < 0 && items != 0 ? row : f.example;
    f.present++;
  }
  return f;
}

void info_name_type(const struct ArrowSchema *type, bool of_example, char *out, size_t room) {
  static const struct {
    const char *format, *name;
  } names[] = {{"n", "null"},    {"b", "bool"},    {"c", "int8"},    {"C", "uint8"},
               {"s", "int16"},   {"S", "uint16"},  {"i", "int32"},   {"I", "uint32"},
               {"l", "int64"},   {"L", "uint64"},  {"e", "float16"}, {"f", "float32"},
               {"g", "float64"}, {"z", "bytes"},   {"Z", "bytes"},   {"vz", "bytes"},
               {"u", "text"},    {"U", "text"},    {"vu", "text"},   {"tdD", "date"},
               {"tdm", "date"},  {"+s", "struct"}, {"+m", "map"},    {"+r", "runs"}};
  const char *format = type->format;
  if (type->dictionary != NULL) {
    info_name_type(type->dictionary, false, out, room);
    return;
  }
  if (format[0] == '+' && strchr("lLvw", format[1]) != NULL) {
    size_t used = of_example ? 0 : (size_t)snprintf(out, room, "list of ");
    if (used < room) {
      info_name_type(type->children[0], false, out + used, room - used);
    }
    return;
  }
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(names[i].format, format) == 0) {
      snprintf(out, room, "%s", names[i].name);
      return;
    }
  }
  const char *kind = strncmp(format, "ts", 2) == 0   ? "timestamp"
                     : strncmp(format, "tt", 2) == 0 ? "time"
                     : strncmp(format, "tD", 2) == 0 ? "duration"
                     : strncmp(format, "d:", 2) == 0 ? "decimal"
                     : strncmp(format, "w:", 2) == 0 ? "bytes"
                     : strncmp(format, "+u", 2) == 0 ? "union"
                                                     : format;
  snprintf(out, room, "%s", kind);
}

/* ---- an example value, as JSON ---- */

void info_text_put(void *ctx, const char *data, size_t size) {
  info_text *t = ctx;
  if (t->size + size + 1 > t->room) {
    size_t room = (t->room + size + 1) * 2;
    char *grown = realloc(t->data, room);
    t->failed |= grown == NULL;
    t->data = grown != NULL ? grown : t->data;
    t->room = grown != NULL ? room : t->room;
  }
  if (!t->failed && size > 0) {
    memcpy(t->data + t->size, data, size);
    t->size += size;
    t->data[t->size] = '\0';
  }
}

static cst_status text_write(void *ctx, const void *data, size_t size, cst_error *error) {
  (void)error;
  info_text_put(ctx, data, size);
  return CST_OK;
}

/* The line {"name": VALUE} of one row and column. */
static bool write_row(const info_look *l, int64_t i, int64_t row, info_text *out) {
  struct ArrowSchema *child = l->schema.children[i];
  struct ArrowSchema type = l->schema;
  struct ArrowArray *column = l->batch.children[i];
  struct ArrowArray batch = l->batch;
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  cst_writer writer = {.size = sizeof writer, .name = "text", .write = text_write, .ctx = out};
  cst_error ignored = CST_ERROR_INIT;
  cst_sink *sink;
  options.format = "json";
  type.n_children = batch.n_children = 1;
  type.children = &child;
  batch.children = &column;
  batch.offset += row;
  batch.length = 1;
  batch.null_count = -1;
  if (cst_sink_open_writer(&writer, &type, &options, &sink, &ignored) != CST_OK) {
    return false;
  }
  bool fine =
      cst_sink_write(sink, &batch, &ignored) == CST_OK && cst_sink_finish(sink, &ignored) == CST_OK;
  cst_sink_free(sink);
  return fine && !out->failed && out->size > 0;
}

/* Where the value begins after the name, which is a JSON string. */
static const char *after_name(const char *line) {
  const char *at = line + 2;
  while (*at != '"') {
    at += *at == '\\' ? 2 : 1;
  }
  return at + 3;
}

const char *info_example_of(const info_look *l, int64_t i, const info_feature *f, info_text *out) {
  *out = (info_text){NULL, 0, 0, false};
  if (f->example < 0 || !write_row(l, i, f->example, out)) {
    return NULL;
  }
  while (out->size > 0 && strchr("}\n", out->data[out->size - 1]) != NULL) {
    bool brace = out->data[out->size - 1] == '}';
    out->data[--out->size] = '\0';
    if (brace) {
      break;
    }
  }
  return after_name(out->data);
}
