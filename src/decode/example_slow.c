/* The decoder's rare cases: every layout of a tf.Example that protobuf allows and no writer
 * produces, first sights of names and types, growth, and the errors.
 *
 * The rules are protobuf's: fields of a message may come in any order and more than once (the parts
 * are merged), of a oneof the last member counts, of a map the last entry of a key, numbers may be
 * packed or not, unknown fields are stepped over.
 */
#include <string.h>

#include "base/utf8.h"
#include "decode/example_loop.h"
#include "proto/wire.h"

enum {
  RECORD_DEPTH = CST__DEPTH_LIMIT, /* levels that may open below the Example, ... */
  FEATURES_DEPTH = RECORD_DEPTH - 1,
  ENTRY_DEPTH = RECORD_DEPTH - 2,
  FEATURE_DEPTH = RECORD_DEPTH - 3,
  LIST_DEPTH = RECORD_DEPTH - 4
};

static const char *kind_name(uint8_t tag) {
  switch (tag) {
    case CST__TAG_BYTES:
      return "bytes";
    case CST__TAG_FLOAT:
      return "float";
    case CST__TAG_INT:
      return "int64";
    default:
      return "nothing";
  }
}

cst_status cst__malformed(cst__loop *loop, cst__wire_fault fault) {
  return cst__fail(loop->error, CST_CORRUPT, loop->damaged_hint, "malformed protobuf: %s",
                   cst__wire_fault_text(fault));
}

cst_status cst__at_column(cst__loop *loop, uint32_t column, cst_status status) {
  const char *name = loop->table->names[column];
  cst__error_add_path(loop->error, name, strlen(name));
  return status;
}

cst_status cst__wrong_count(cst__loop *loop, uint32_t column, int64_t found) {
  return cst__at_column(
      loop, column,
      cst__fail(loop->error, CST_SCHEMA, "correct the schema's shape, or the data",
                "found %lld values, the schema's shape has %lld", (long long)found,
                (long long)loop->cold[column].fixed_size));
}

cst_status cst__wrong_kind(cst__loop *loop, uint32_t column, uint8_t found) {
  const cst__cold *cold = &loop->cold[column];
  if (cold->is_null) {
    return cst__at_column(
        loop, column,
        cst__fail(loop->error, CST_SCHEMA,
                  "infer the schema from all of the data: columnstone schema infer",
                  "found a list of %s, the schema knows no type", kind_name(found)));
  }
  return cst__at_column(
      loop, column,
      cst__fail(loop->error, CST_SCHEMA, NULL, "found a list of %s, %s %s", kind_name(found),
                cold->tag != 0 ? "the schema says" : "earlier records have",
                kind_name(cst__expected_kind(loop, column))));
}

/* ---- names and types ---- */

/* Room for one more column in everything that is indexed by column. */
static bool reserve_column(cst__loop *loop) {
  size_t want = loop->num_columns + 1;
  size_t capacity = loop->capacity;
  void *hot = loop->hot;
  void *cold = loop->cold;
  if (!cst__grow(&loop->allocator, &hot, &capacity, want, sizeof(cst__hot))) {
    return false;
  }
  loop->hot = hot;
  capacity = loop->capacity;
  if (!cst__grow(&loop->allocator, &cold, &capacity, want, sizeof(cst__cold))) {
    return false;
  }
  loop->cold = cold;
  loop->capacity = capacity;
  return loop->batch == NULL || cst__batch_reserve(loop->batch, want);
}

cst_status cst__unknown_name(cst__loop *loop, const uint8_t *name, size_t size, uint32_t *column) {
  *column = CST__NO_COLUMN;
  if (!cst__utf8_valid(name, size)) {
    return cst__fail(loop->error, CST_CORRUPT, loop->damaged_hint,
                     "the name of a feature (%zu bytes) is no UTF-8", size);
  }
  if (loop->known != NULL &&
      cst__name_map_find(loop->known, (const char *)name, size) == SIZE_MAX) {
    cst_status status = cst__fail(loop->error, CST_SCHEMA,
                                  "infer the schema from all of the data: columnstone schema infer",
                                  "found a feature that the schema does not have");
    cst__error_add_path(loop->error, (const char *)name, size);
    return status;
  }
  if (!loop->grows) {
    return CST_OK;
  }
  if (memchr(name, 0, size) != NULL) {
    cst_status status =
        cst__fail(loop->error, CST_UNSUPPORTED, "rename the feature where it is written",
                  "the name of a feature holds a NUL byte, Arrow has no such names");
    cst__error_add_path(loop->error, (const char *)name, size);
    return status;
  }
  if (loop->num_columns >= UINT32_MAX - 1 || !reserve_column(loop) ||
      !cst__name_table_add(loop->table, name, size)) {
    return cst__fail_memory(loop->error, sizeof(cst__hot));
  }
  *column = (uint32_t)loop->num_columns++;
  loop->hot[*column] = (cst__hot){0};
  loop->cold[*column] = (cst__cold){.fixed_size = -1};
  return CST_OK;
}

void cst__enter_block(cst__loop *loop, const cst__records *records) {
  const uint8_t *at = records->items[loop->row].data;
  while (loop->block == NULL || (size_t)(at - loop->block->data) > loop->block->size ||
         at < loop->block->data) {
    loop->block_index = loop->block == NULL ? 0 : loop->block_index + 1;
    loop->block = &records->blocks[loop->block_index];
    if ((size_t)loop->block_index + 1 >= records->num_blocks) {
      return;
    }
  }
}

/* ---- one Feature ---- */

/* Checks one list of a kind, and appends its values if `column` is one. */
static cst_status walk_list(cst__loop *loop, uint8_t tag, cst_bytes list, uint32_t column);

cst_status cst__find_shape(cst__loop *loop, cst_bytes feature, cst__feature_shape *shape) {
  cst__wire wire = cst__wire_of(feature.data, feature.size);
  cst__wire_field field;
  *shape = (cst__feature_shape){0, NULL};
  while (cst__wire_next(&wire, FEATURE_DEPTH - loop->nesting, &field)) {
    if (field.number > 3 || field.type != CST__WIRE_LEN) {
      continue;
    }
    uint8_t tag = (uint8_t)(field.number << 3 | CST__WIRE_LEN);
    CST__TRY(walk_list(loop, tag, field.bytes, CST__NO_COLUMN));
    if (tag != shape->tag) {
      *shape = (cst__feature_shape){tag, field.raw.data};
    }
  }
  return wire.fault != CST__WIRE_FAULT_NONE ? cst__malformed(loop, wire.fault) : CST_OK;
}

static cst_status append_bits(cst__loop *loop, uint32_t column, uint64_t bits) {
  if (column == CST__NO_COLUMN) {
    return CST_OK;
  }
  if (loop->hot[column].num_values >= loop->hot[column].room_values) {
    CST__TRY(cst__grow_hot(loop, column, 1, 0));
  }
  cst__hot *hot = &loop->hot[column];
  size_t width = hot->tag == CST__TAG_FLOAT ? 4 : 8;
  memcpy(hot->values + hot->num_values * width, &bits, width); /* little-endian: low bytes first */
  hot->num_values++;
  return CST_OK;
}

static cst_status append_view(cst__loop *loop, uint32_t column, cst_bytes value) {
  if (loop->hot[column].num_values >= loop->hot[column].room_values) {
    CST__TRY(cst__grow_hot(loop, column, 1, 0));
  }
  cst__hot *hot = &loop->hot[column];
  cst__put_view(hot->values + hot->num_values * CST__VIEW_SIZE, value.data, value.size,
                loop->block_index, loop->block->data, value.data + loop->view_shift);
  hot->num_values++;
  return CST_OK;
}

static cst_status append_bytes(cst__loop *loop, uint32_t column, cst_bytes value) {
  if (column == CST__NO_COLUMN) {
    return CST_OK;
  }
  cst__hot *hot = &loop->hot[column];
  if (hot->flags & CST__HOT_VIEW) {
    return append_view(loop, column, value);
  }
  if (hot->num_values >= hot->room_values || value.size > hot->room_bytes - hot->num_bytes) {
    CST__TRY(cst__grow_hot(loop, column, 1, value.size));
  }
  if (value.size > 0) {
    memcpy(hot->values + hot->num_bytes, value.data, value.size);
  }
  hot->num_bytes += value.size;
  hot->value_offsets[++hot->num_values] = (int64_t)hot->num_bytes;
  return CST_OK;
}

static cst_status walk_packed(cst__loop *loop, uint8_t tag, cst_bytes packed, uint32_t column) {
  cst__wire wire = cst__wire_of(packed.data, packed.size);
  uint64_t bits;
  while (wire.at < wire.end) {
    bool ok =
        tag == CST__TAG_INT ? cst__wire_varint(&wire, &bits) : cst__wire_fixed32(&wire, &bits);
    if (!ok) {
      return cst__malformed(loop, wire.fault);
    }
    CST__TRY(append_bits(loop, column, bits));
  }
  return CST_OK;
}

static cst_status walk_list(cst__loop *loop, uint8_t tag, cst_bytes list, uint32_t column) {
  cst__wire wire = cst__wire_of(list.data, list.size);
  cst__wire_field field;
  cst__wire_type single = tag == CST__TAG_INT ? CST__WIRE_VARINT : CST__WIRE_FIXED32;
  while (cst__wire_next(&wire, LIST_DEPTH - loop->nesting, &field)) {
    if (field.number != 1) {
      continue;
    }
    if (tag == CST__TAG_BYTES) {
      if (field.type == CST__WIRE_LEN) {
        CST__TRY(append_bytes(loop, column, field.bytes));
      }
    } else if (field.type == CST__WIRE_LEN) {
      CST__TRY(walk_packed(loop, tag, field.bytes, column));
    } else if (field.type == single) {
      CST__TRY(append_bits(loop, column, field.value));
    }
  }
  return wire.fault != CST__WIRE_FAULT_NONE ? cst__malformed(loop, wire.fault) : CST_OK;
}

/* Appends all lists of the oneof's last member. */
cst_status cst__append_feature(cst__loop *loop, uint32_t column, cst_bytes feature,
                               cst__feature_shape shape) {
  size_t rest = (size_t)(feature.data + feature.size - shape.begin);
  cst__wire wire = cst__wire_of(shape.begin, rest);
  cst__wire_field field;
  while (cst__wire_next(&wire, FEATURE_DEPTH - loop->nesting, &field)) {
    if (field.number == (uint32_t)(shape.tag >> 3) && field.type == CST__WIRE_LEN) {
      CST__TRY(walk_list(loop, shape.tag, field.bytes, column));
    }
  }
  return CST_OK;
}

/* Takes back the type that an earlier entry of the same name gave the column in this very record.
 */
static void forget_kind(cst__loop *loop, uint32_t column) {
  cst__hot *hot = &loop->hot[column];
  hot->tag = 0;
  hot->flags &= (uint8_t)~CST__HOT_VIEW;
  hot->num_values = 0;
  hot->num_bytes = 0;
}

static void note_wrong(cst__loop *loop, uint32_t column, uint8_t tag) {
  cst__cold *cold = &loop->cold[column];
  cold->wrong_tag = tag;
  if (cold->next_wrong == 0) {
    cold->next_wrong = loop->first_wrong != 0 ? loop->first_wrong : 1;
    loop->first_wrong = column + 2;
  }
}

cst_status cst__settle_wrong(cst__loop *loop) {
  cst_status status = CST_OK;
  while (loop->first_wrong > 1) {
    uint32_t column = loop->first_wrong - 2;
    cst__cold *cold = &loop->cold[column];
    if (status == CST_OK && cold->wrong_tag != 0 && !cst__has_row(&loop->hot[column], loop->row)) {
      status = cst__wrong_kind(loop, column, cold->wrong_tag);
    }
    loop->first_wrong = cold->next_wrong;
    cold->next_wrong = 0;
    cold->wrong_tag = 0;
  }
  loop->first_wrong = 0;
  return status;
}

static cst_status put_feature(cst__loop *loop, uint32_t column, cst_bytes feature) {
  cst__feature_shape shape;
  loop->hot[column].flags |= CST__HOT_SEEN;
  cst_status status = cst__find_shape(loop, feature, &shape);
  if (status != CST_OK) {
    return cst__at_column(loop, column, status);
  }
  cst__undo_row(loop, column);
  cst__cold *cold = &loop->cold[column];
  cold->wrong_tag = 0;
  if (loop->hot[column].tag != shape.tag && cold->tag == 0 && cold->kind_row == loop->row) {
    forget_kind(loop, column);
  }
  if (shape.tag == 0) {
    return CST_OK; /* no kind is set: null, as if the name were not there */
  }
  uint8_t expected = cst__expected_kind(loop, column);
  if (cold->is_null || (expected != 0 && expected != shape.tag)) {
    note_wrong(loop, column, shape.tag);
    return CST_OK;
  }
  if (loop->hot[column].tag == 0) {
    CST__TRY(cst__set_kind(loop, column, shape.tag));
  }
  size_t before = loop->hot[column].num_values;
  CST__TRY(cst__append_feature(loop, column, feature, shape));
  cst__hot *hot = &loop->hot[column];
  int64_t count = (int64_t)(hot->num_values - before);
  if ((hot->flags & CST__HOT_FIXED) && count != loop->cold[column].fixed_size) {
    return cst__wrong_count(loop, column, count);
  }
  *hot->next_end++ = (int64_t)hot->num_values;
  hot->validity[loop->row >> 3] |= (uint8_t)(1u << (loop->row & 7));
  return CST_OK;
}

/* ---- entries, Features, records ---- */

/* The name and value of a map entry; a value that comes in several parts is their concatenation,
 * because to parse that is to merge them. */
typedef struct entry_parts {
  cst_bytes name;
  cst_bytes value;
  uint8_t *joined; /* cst__delete; NULL if the value is one part */
  size_t capacity; /* of joined */
} entry_parts;

static cst_status add_part(cst__loop *loop, entry_parts *parts, cst_bytes part) {
  if (parts->value.size == 0) {
    parts->value = part;
    return CST_OK;
  }
  /* Each part is a message of its own: none may end in the middle of a field. */
  cst__feature_shape shape;
  if (parts->joined == NULL) {
    CST__TRY(cst__find_shape(loop, parts->value, &shape));
  }
  CST__TRY(cst__find_shape(loop, part, &shape));
  size_t size;
  void *joined = parts->joined;
  if (!cst__add(parts->value.size, part.size, &size) ||
      !cst__grow(&loop->allocator, &joined, &parts->capacity, size, 1)) {
    return cst__fail_memory(loop->error, part.size);
  }
  if (parts->joined == NULL) {
    memcpy(joined, parts->value.data, parts->value.size);
  }
  parts->joined = joined;
  if (part.size > 0) {
    memcpy(parts->joined + parts->value.size, part.data, part.size);
  }
  parts->value = (cst_bytes){parts->joined, size};
  return CST_OK;
}

static cst_status read_entry(cst__loop *loop, const uint8_t *data, size_t size,
                             entry_parts *parts) {
  cst__wire wire = cst__wire_of(data, size);
  cst__wire_field field;
  while (cst__wire_next(&wire, ENTRY_DEPTH, &field)) {
    if (field.type != CST__WIRE_LEN) {
      continue;
    }
    if (field.number == 1) {
      parts->name = field.bytes;
      if (loop->learns && !cst__utf8_valid(field.bytes.data, field.bytes.size)) {
        return cst__fail(loop->error, CST_CORRUPT, loop->damaged_hint,
                         "the name of a feature (%zu bytes) is no UTF-8", field.bytes.size);
      }
    } else if (field.number == 2) {
      CST__TRY(add_part(loop, parts, field.bytes));
    }
  }
  return wire.fault != CST__WIRE_FAULT_NONE ? cst__malformed(loop, wire.fault) : CST_OK;
}

static cst_status put_parts(cst__loop *loop, const entry_parts *parts) {
  uint32_t column = cst__name_table_find(loop->table, parts->name.data, parts->name.size);
  if (column == CST__NO_COLUMN && loop->learns) {
    CST__TRY(cst__unknown_name(loop, parts->name.data, parts->name.size, &column));
  }
  if (column == CST__NO_COLUMN) {
    return CST_OK;
  }
  if (parts->joined != NULL && loop->views) {
    return cst__at_column(loop, column,
                          cst__fail(loop->error, CST_UNSUPPORTED, "decode without binary views",
                                    "the value of a feature lies in several parts"));
  }
  return put_feature(loop, column, parts->value);
}

cst_status cst__slow_entry(cst__loop *loop, const uint8_t *data, size_t size) {
  entry_parts parts = {{(const uint8_t *)"", 0}, {(const uint8_t *)"", 0}, NULL, 0};
  cst_status status = read_entry(loop, data, size, &parts);
  if (status == CST_OK) {
    status = put_parts(loop, &parts);
  }
  cst__delete(parts.joined);
  return status;
}

cst_status cst__slow_features(cst__loop *loop, const uint8_t *data, size_t size) {
  cst__wire wire = cst__wire_of(data, size);
  cst__wire_field field;
  while (cst__wire_next(&wire, FEATURES_DEPTH, &field)) {
    if (field.number == 1 && field.type == CST__WIRE_LEN) {
      CST__TRY(cst__slow_entry(loop, field.bytes.data, field.bytes.size));
    }
  }
  return wire.fault != CST__WIRE_FAULT_NONE ? cst__malformed(loop, wire.fault) : CST_OK;
}

cst_status cst__slow_record(cst__loop *loop, const uint8_t *data, size_t size) {
  cst__wire wire = cst__wire_of(data, size);
  cst__wire_field field;
  loop->view_shift = 0;
  while (cst__wire_next(&wire, RECORD_DEPTH, &field)) {
    if (field.number == 1 && field.type == CST__WIRE_LEN) {
      CST__TRY(cst__slow_features(loop, field.bytes.data, field.bytes.size));
    }
  }
  return wire.fault != CST__WIRE_FAULT_NONE ? cst__malformed(loop, wire.fault) : CST_OK;
}

static cst_status run_slow(cst__loop *loop, const cst__records *records) {
  for (size_t i = 0; i < records->count; i++) {
    loop->row = (int32_t)i;
    cst__enter_record(loop, records);
    CST__TRY(cst__slow_record(loop, records->items[i].data, records->items[i].size));
    CST__TRY(cst__settle_wrong(loop));
  }
  return CST_OK;
}

static cst_status features_slow(cst__loop *loop, const uint8_t *begin, const uint8_t *at,
                                const uint8_t *end, const uint8_t *readable) {
  (void)begin;
  (void)readable;
  loop->view_shift = 0;
  return cst__slow_features(loop, at, (size_t)(end - at));
}

static void expand_slow(int64_t *offsets, const uint8_t *validity, size_t rows, size_t present) {
  for (size_t row = rows; row > 0; row--) {
    offsets[row] = offsets[present];
    present -= (validity[(row - 1) >> 3] >> ((row - 1) & 7)) & 1;
  }
}

const cst__machine cst__machine_slow = {run_slow, features_slow, expand_slow};
