/* What is rare in the decoding of messages: unknown fields, keys of maps, errors, and records that
 * are not in normal form.
 */
#include <stdio.h>
#include <string.h>

#include "arrow/view.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "message/decode/message_loop.h"
#include "proto/fast_wire.h"
#include "proto/message.h"

/* ---- failures ---- */

bool cst__loop_no_memory(cst__loop *loop) {
  if (loop->error->code != CST_LIMIT || loop->stop != CST__STOP_FAILED) {
    (void)cst__batch_builder_fail(loop->batch, loop->error);
  }
  loop->stop = CST__STOP_FAILED;
  return false;
}

bool cst__loop_fail(cst__loop *loop, const cst__loop_entry *entry) {
  if (!loop->is_normal && loop->error->code != CST_NO_MEMORY) {
    return cst__loop_slow(loop);
  }
  const char *name = entry->list != NULL ? entry->list->type->name : entry->values->type->name;
  cst__error_forget_record(loop->error);
  cst__error_add_path(loop->error, name, strlen(name));
  loop->stop = CST__STOP_FAILED;
  return false;
}

bool cst__loop_bad_value(cst__loop *loop, const cst__loop_entry *entry, const char *hint,
                         const char *what) {
  if (loop->is_normal) {
    (void)cst__fail(loop->error, CST_SCHEMA, hint, "%s", what);
  }
  return cst__loop_fail(loop, entry);
}

bool cst__loop_is_text(cst__loop *loop, const cst__loop_entry *entry, const uint8_t *text,
                       size_t size) {
  return cst__utf8_valid(text, size) ||
         cst__loop_bad_value(loop, entry, CST__UTF8_HINT, "a string is not UTF-8");
}

/* ---- unknown fields ---- */

bool cst__loop_keep_unknown(cst__loop *loop, cst__node *node, cst_bytes field) {
  cst__builder *unknown = node->unknown;
  int64_t row = node->rows->length;
  if (unknown == NULL) {
    return true;
  }
  bool ok = unknown->length > row ? cst__slot_extend(unknown, field)
                                  : cst__builder_pad(unknown, row) &&
                                        cst__builder_append_bytes(unknown, field.data, field.size);
  return ok || cst__loop_no_memory(loop);
}

enum { MOST_STRANGERS = 16 };

/* Fields of a writer with a newer type come in every message, and so do those that a saved view has
 * no descriptors of: from the second time on they cost no more than fields that nobody wants. */
static void note_stranger(cst__loop *loop, cst__node *node, const cst__wire_field *field) {
  cst__entry_list *strangers = &node->strangers;
  if (node->unknown != NULL || field->type == CST__WIRE_GROUP ||
      strangers->count == MOST_STRANGERS) {
    return;
  }
  if (strangers->items == NULL) {
    strangers->items = cst__arena_take(&loop->tables, MOST_STRANGERS * sizeof *strangers->items);
  }
  cst__loop_entry *entry =
      strangers->items != NULL ? cst__arena_take_zero(&loop->tables, sizeof *entry) : NULL;
  if (entry != NULL) { /* without memory it is looked at anew each time */
    cst__loop_entry_skip(entry, field->number, field->type);
    strangers->items[strangers->count++] = entry;
    if (entry->tag < CST__SHORT_TAGS) {
      node->by_tag[entry->tag] = entry;
    }
  }
}

const uint8_t *cst__loop_unknown(cst__loop *loop, cst__node *node, const uint8_t *begin,
                                 const uint8_t *end) {
  cst__wire wire = cst__wire_of(begin, (size_t)(end - begin));
  cst__wire_field field;
  bool in_map = node->plan->def->is_map_entry; /* which makes all of the entry an unknown field */
  if (in_map || !cst__wire_next(&wire, loop->depth, &field)) {
    (void)cst__loop_slow(loop);
    return NULL;
  }
  note_stranger(loop, node, &field);
  return cst__loop_keep_unknown(loop, node, field.raw) ? wire.at : NULL;
}

bool cst__loop_is_unknown_entry(const cst__loop *loop, const cst__node *entry, cst_bytes content) {
  cst__wire wire = cst__wire_of(content.data, content.size);
  cst__wire_field field;
  while (cst__wire_next(&wire, loop->depth, &field)) {
    const cst__loop_entry *e = cst__node_find(entry, field.number << 3 | (uint32_t)field.type);
    if (e == NULL || (e->values != NULL && cst__is_unknown_number(e, field.value))) {
      return true;
    }
  }
  return false;
}

/* ---- keys of maps ---- */

enum { FEW_KEYS = 8 };

static cst_bytes map_key(const cst__builder *keys, int64_t i) {
  if (keys->type->layout == CST__LAYOUT_BINARY || keys->type->layout == CST__LAYOUT_BINARY_VIEW) {
    return (cst_bytes){keys->values + keys->offsets[i],
                       (size_t)(keys->offsets[i + 1] - keys->offsets[i])};
  }
  size_t width = keys->type->width;
  return (cst_bytes){keys->values + (size_t)i * width, width};
}

static bool few_keys_differ(const cst__builder *keys, int64_t begin, int64_t end) {
  for (int64_t i = begin + 1; i < end; i++) {
    for (int64_t j = begin; j < i; j++) {
      if (cst__bytes_equal(map_key(keys, i), map_key(keys, j))) {
        return false;
      }
    }
  }
  return true;
}

/* Without memory for a set of them: they may not differ, and the slow way knows what to do. */
static bool many_keys_differ(const cst__builder *keys, int64_t begin, int64_t end) {
  cst__name_map seen = {0};
  bool differ = true;
  for (int64_t i = begin; differ && i < end; i++) {
    cst_bytes key = map_key(keys, i);
    const char *name = key.size > 0 ? (const char *)key.data : "";
    differ = cst__name_map_find(&seen, name, key.size) == SIZE_MAX &&
             cst__name_map_add(&seen, name, key.size, 0);
  }
  cst__name_map_reset(&seen);
  return differ;
}

bool cst__loop_keys_differ(const cst__loop_entry *map) {
  const cst__builder *entries = map->values;
  cst__builder *keys = &entries->children[0];
  int64_t begin = map->list->offsets[map->list->length - 1];
  int64_t end = map->list->offsets[map->list->length];
  if (end - begin < 2) {
    return true;
  }
  if (!cst__builder_pad(keys, end)) { /* absent ones at the end */
    return false;
  }
  if (keys->type->layout == CST__LAYOUT_BOOL) {
    int64_t trues = cst__bitmap_count(keys->values, begin, end - begin);
    return end - begin == 2 && trues == 1;
  }
  return end - begin <= FEW_KEYS ? few_keys_differ(keys, begin, end)
                                 : many_keys_differ(keys, begin, end);
}

/* ---- normal form ---- */

/* The byte within the message is said in words: the place of the error is that of the record. */
static cst_status explain_malformed(cst__loop *loop, cst_status status) {
  cst_error *error = loop->error;
  if (status == CST_CORRUPT) {
    char message[sizeof error->message];
    char hint[sizeof error->hint];
    char path[sizeof error->path];
    int64_t offset = error->offset;
    memcpy(message, error->message, sizeof message);
    memcpy(hint, error->hint, sizeof hint);
    memcpy(path, error->path, sizeof path);
    (void)cst__fail(error, CST_CORRUPT, hint, "%s, at byte %lld", message, (long long)offset);
    cst__error_add_path(error, path, strlen(path));
  }
  return status;
}

cst_status cst__loop_normalise(cst__loop *loop, const cst__message_plan_node *node,
                               cst_bytes message, cst_bytes *out) {
  cst__message *tree = cst__message_new(&loop->scratch, &node->pruned);
  if (tree == NULL) {
    return cst__fail_memory(loop->error, sizeof *tree);
  }
  cst_status status =
      cst__message_merge(&loop->scratch, tree, message, CST__DEPTH_LIMIT, loop->error);
  if (status != CST_OK) {
    return explain_malformed(loop, status);
  }
  cst__wire_out wire = {0};
  if (cst__message_unique_maps(&loop->scratch, tree)) {
    cst__message_put_wire(tree, &wire);
  } else {
    wire.failed = true;
  }
  size_t size = cst__wire_out_size(&wire);
  uint8_t *bytes = wire.failed ? NULL : cst__arena_take_zero(&loop->scratch, size + SLACK);
  if (bytes != NULL && size > 0) {
    memcpy(bytes, wire.data + wire.free, size);
  }
  cst__wire_out_free(&wire);
  *out = (cst_bytes){bytes, size};
  return bytes != NULL ? CST_OK : cst__fail_memory(loop->error, size);
}
