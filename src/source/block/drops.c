/* Lists of dropped records. */
#include "source/block/drops.h"

#include <string.h>

#include "source/input/source.h"

cst__kept_error *cst__error_keep(const cst_allocator *allocator, const cst_error *error) {
  size_t path = strlen(error->path) + 1;
  size_t message = strlen(error->message) + 1;
  size_t hint = strlen(error->hint) + 1;
  cst__kept_error *kept = cst__new(allocator, sizeof *kept + path + message + hint);
  if (kept == NULL) {
    return NULL;
  }
  char *text = (char *)(kept + 1);
  *kept = (cst__kept_error){.code = error->code,
                            .line = error->line,
                            .column = error->column,
                            .path = text,
                            .message = text + path,
                            .hint = text + path + message};
  memcpy(text, error->path, path);
  memcpy(text + path, error->message, message);
  memcpy(text + path + message, error->hint, hint);
  return kept;
}

bool cst__drops_add(cst__drops *drops, const cst_allocator *allocator, const cst__drop *drop) {
  void *items = drops->items;
  bool done =
      cst__grow(allocator, &items, &drops->capacity, drops->count + 1, sizeof *drops->items);
  drops->items = items;
  if (!done) {
    cst__delete(drop->error);
    return false;
  }
  drops->items[drops->count++] = *drop;
  return true;
}

void cst__drops_clear(cst__drops *drops, size_t first) {
  for (size_t i = first; i < drops->count; i++) {
    cst__delete(drops->items[i].error);
  }
  drops->count = first < drops->count ? first : drops->count;
}

void cst__drops_reset(cst__drops *drops) {
  cst__drops_clear(drops, 0);
  cst__delete(drops->items);
  *drops = (cst__drops){0};
}

static const char *damage_name(const cst__container *container, cst__damage_kind kind) {
  switch (kind) {
    case CST__DAMAGE_FRAMING:
      return container->framing_fault;
    case CST__DAMAGE_DATA:
      return "data-crc";
    case CST__DAMAGE_LIMIT:
      return "limit";
    case CST__DAMAGE_TRUNCATED:
      break;
  }
  return "truncated";
}

const char *cst__drop_name(const cst__drop *drop, const cst_source *source) {
  switch (drop->kind) {
    case CST__DROP_RECORD:
      return "record";
    case CST__DROP_COMPRESSION:
      return "compression";
    case CST__DROP_DAMAGE:
      break;
  }
  return damage_name(source->inputs->container, drop->damage.kind);
}

static void restore(const cst__kept_error *kept, cst_error *error) {
  *error = (cst_error)CST_ERROR_INIT;
  error->code = kept->code;
  error->line = kept->line;
  error->column = kept->column;
  memcpy(error->path, kept->path, strlen(kept->path) + 1);
  memcpy(error->message, kept->message, strlen(kept->message) + 1);
  memcpy(error->hint, kept->hint, strlen(kept->hint) + 1);
}

void cst__drop_explain(const cst__drop *drop, const cst_source *source, cst_error *error) {
  if (drop->kind == CST__DROP_DAMAGE) {
    (void)source->inputs->container->explain(&drop->damage, source->options.values.max_record_size,
                                             error);
  } else {
    restore(drop->error, error);
  }
  error->record = -1;
  error->offset = -1;
  cst__error_add_file(error, cst__source_name(source, drop->file));
  cst__error_add_record(error, cst__source_record(source, drop->file, drop->record),
                        (int64_t)drop->offset);
}
