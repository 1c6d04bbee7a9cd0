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

static const char *name_of_kind(uint8_t tag) {
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

cst_status cst__malformed(cst__decode_state *state, cst__wire_fault fault) {
  return cst__fail(state->error, CST_CORRUPT, state->damaged_hint, "malformed protobuf: %s",
                   cst__wire_fault_text(fault));
}

cst_status cst__at_column(cst__decode_state *state, uint32_t column, cst_status status) {
  const char *name = state->table->names[column];
  cst__error_add_path(state->error, name, strlen(name));
  return status;
}

cst_status cst__wrong_count(cst__decode_state *state, uint32_t column, int64_t found) {
  return cst__at_column(
      state, column,
      cst__fail(state->error, CST_SCHEMA, "correct the schema's shape, or the data",
                "found %lld values, the schema's shape has %lld", (long long)found,
                (long long)state->cold[column].fixed_size));
}

cst_status cst__wrong_kind(cst__decode_state *state, uint32_t column, uint8_t found) {
  const cst__cold *cold = &state->cold[column];
  if (cold->is_null) {
    return cst__at_column(
        state, column,
        cst__fail(state->error, CST_SCHEMA,
                  "infer the schema from all of the data: columnstone schema infer",
                  "found a list of %s, but the schema has no type for the feature",
                  name_of_kind(found)));
  }
  return cst__at_column(
      state, column,
      cst__fail(state->error, CST_SCHEMA, NULL, "found a list of %s, %s %s", name_of_kind(found),
                cold->tag != 0 ? "the schema says" : "earlier records have",
                name_of_kind(cst__expected_kind(state, column))));
}

/* ---- names and types ---- */

/* Room for one more column in everything that is indexed by column. */
static bool reserve_column(cst__decode_state *state) {
  size_t want = state->num_columns + 1;
  size_t capacity = state->capacity;
  void *hot = state->hot;
  void *cold = state->cold;
  if (!cst__grow(&state->allocator, &hot, &capacity, want, sizeof(cst__hot))) {
    return false;
  }
  state->hot = hot;
  capacity = state->capacity;
  if (!cst__grow(&state->allocator, &cold, &capacity, want, sizeof(cst__cold))) {
    return false;
  }
  state->cold = cold;
  state->capacity = capacity;
  return state->batch == NULL || cst__batch_reserve(state->batch, want);
}

cst_status cst__unknown_name(cst__decode_state *state, const uint8_t *name, size_t size,
                             uint32_t *column) {
  *column = CST__NO_COLUMN;
  if (!cst__utf8_valid(name, size)) {
    return cst__fail(state->error, CST_CORRUPT, state->damaged_hint,
                     "the name of a feature (%zu bytes) is not UTF-8", size);
  }
  if (state->known != NULL &&
      cst__name_map_find(state->known, (const char *)name, size) == SIZE_MAX) {
    cst_status status = cst__fail(state->error, CST_SCHEMA,
                                  "infer the schema from all of the data: columnstone schema infer",
                                  "found a feature that the schema does not have");
    cst__error_add_path(state->error, (const char *)name, size);
    return status;
  }
  if (!state->grows) {
    return CST_OK;
  }
  if (memchr(name, 0, size) != NULL) {
    cst_status status =
        cst__fail(state->error, CST_UNSUPPORTED, "rename the feature where it is written",
                  "a feature name contains a NUL byte, which Arrow does not allow");
    cst__error_add_path(state->error, (const char *)name, size);
    return status;
  }
  if (state->num_columns >= UINT32_MAX - 1 || !reserve_column(state) ||
      !cst__name_table_add(state->table, name, size)) {
    return cst__fail_memory(state->error, sizeof(cst__hot));
  }
  *column = (uint32_t)state->num_columns++;
  state->hot[*column] = (cst__hot){0};
  state->cold[*column] = (cst__cold){.fixed_size = -1};
  return CST_OK;
}

void cst__enter_block(cst__decode_state *state, const cst__records *records) {
  const uint8_t *at = records->items[state->row].data;
  while (state->block == NULL || (size_t)(at - state->block->data) > state->block->size ||
         at < state->block->data) {
    state->block_index = state->block == NULL ? 0 : state->block_index + 1;
    state->block = &records->blocks[state->block_index];
    if ((size_t)state->block_index + 1 >= records->num_blocks) {
      return;
    }
  }
}

/* ---- one Feature ---- */

/* Checks one list of a kind, and appends its values if `column` is one. */
static cst_status walk_list(cst__decode_state *state, uint8_t tag, cst_bytes list, uint32_t column);

cst_status cst__find_shape(cst__decode_state *state, cst_bytes feature, cst__feature_shape *shape) {
  cst__wire wire = cst__wire_of(feature.data, feature.size);
  cst__wire_field field;
  *shape = (cst__feature_shape){0, NULL};
  while (cst__wire_next(&wire, FEATURE_DEPTH - state->nesting, &field)) {
    if (field.number > 3 || field.type != CST__WIRE_LEN) {
      continue;
    }
    uint8_t tag = (uint8_t)(field.number << 3 | CST__WIRE_LEN);
    CST__TRY(walk_list(state, tag, field.bytes, CST__NO_COLUMN));
    if (tag != shape->tag) {
      *shape = (cst__feature_shape){tag, field.raw.data};
    }
  }
  return wire.fault != CST__WIRE_FAULT_NONE ? cst__malformed(state, wire.fault) : CST_OK;
}

static cst_status append_bits(cst__decode_state *state, uint32_t column, uint64_t bits) {
  if (column == CST__NO_COLUMN) {
    return CST_OK;
  }
  if (state->hot[column].num_values >= state->hot[column].room_values) {
    CST__TRY(cst__grow_hot(state, column, 1, 0));
  }
  cst__hot *hot = &state->hot[column];
  size_t width = hot->tag == CST__TAG_FLOAT ? 4 : 8;
  memcpy(hot->values + hot->num_values * width, &bits, width); /* little-endian: low bytes first */
  hot->num_values++;
  return CST_OK;
}

static cst_status append_view(cst__decode_state *state, uint32_t column, cst_bytes value) {
  if (state->hot[column].num_values >= state->hot[column].room_values) {
    CST__TRY(cst__grow_hot(state, column, 1, 0));
  }
  cst__hot *hot = &state->hot[column];
  cst__put_view(hot->values + hot->num_values * CST__VIEW_SIZE, value.data, value.size,
                state->block_index, state->block->data, value.data + state->view_shift);
  hot->num_values++;
  return CST_OK;
}

static cst_status append_string(cst__decode_state *state, uint32_t column, cst_bytes value) {
  if (column == CST__NO_COLUMN) {
    return CST_OK;
  }
  cst__hot *hot = &state->hot[column];
  if (hot->flags & CST__HOT_VIEW) {
    return append_view(state, column, value);
  }
  if (hot->num_values >= hot->room_values || value.size > hot->room_bytes - hot->num_bytes) {
    CST__TRY(cst__grow_hot(state, column, 1, value.size));
  }
  if (value.size > 0) {
    memcpy(hot->values + hot->num_bytes, value.data, value.size);
  }
  hot->num_bytes += value.size;
  hot->value_offsets[++hot->num_values] = (int64_t)hot->num_bytes;
  return CST_OK;
}

static cst_status walk_packed(cst__decode_state *state, uint8_t tag, cst_bytes packed,
                              uint32_t column) {
  cst__wire wire = cst__wire_of(packed.data, packed.size);
  uint64_t bits;
  while (wire.at < wire.end) {
    bool ok =
        tag == CST__TAG_INT ? cst__wire_varint(&wire, &bits) : cst__wire_fixed32(&wire, &bits);
    if (!ok) {
      return cst__malformed(state, wire.fault);
    }
    CST__TRY(append_bits(state, column, bits));
  }
  return CST_OK;
}

static cst_status walk_list(cst__decode_state *state, uint8_t tag, cst_bytes list,
                            uint32_t column) {
  cst__wire wire = cst__wire_of(list.data, list.size);
  cst__wire_field field;
  cst__wire_type single = tag == CST__TAG_INT ? CST__WIRE_VARINT : CST__WIRE_FIXED32;
  while (cst__wire_next(&wire, LIST_DEPTH - state->nesting, &field)) {
    if (field.number != 1) {
      continue;
    }
    if (tag == CST__TAG_BYTES) {
      if (field.type == CST__WIRE_LEN) {
        CST__TRY(append_string(state, column, field.bytes));
      }
    } else if (field.type == CST__WIRE_LEN) {
      CST__TRY(walk_packed(state, tag, field.bytes, column));
    } else if (field.type == single) {
      CST__TRY(append_bits(state, column, field.value));
    }
  }
  return wire.fault != CST__WIRE_FAULT_NONE ? cst__malformed(state, wire.fault) : CST_OK;
}

/* Appends all lists of the oneof's last member. */
cst_status cst__append_feature(cst__decode_state *state, uint32_t column, cst_bytes feature,
                               cst__feature_shape shape) {
  size_t rest = (size_t)(feature.data + feature.size - shape.begin);
  cst__wire wire = cst__wire_of(shape.begin, rest);
  cst__wire_field field;
  while (cst__wire_next(&wire, FEATURE_DEPTH - state->nesting, &field)) {
    if (field.number == (uint32_t)(shape.tag >> 3) && field.type == CST__WIRE_LEN) {
      CST__TRY(walk_list(state, shape.tag, field.bytes, column));
    }
  }
  return CST_OK;
}

/* Takes back the type that an earlier entry of the same name gave the column in this very record.
 */
static void forget_kind(cst__decode_state *state, uint32_t column) {
  cst__hot *hot = &state->hot[column];
  cst__set_tag(hot, 0);
  hot->flags &= (uint8_t)~CST__HOT_VIEW;
  hot->num_values = 0;
  hot->num_bytes = 0;
}

static void note_wrong(cst__decode_state *state, uint32_t column, uint8_t tag) {
  cst__cold *cold = &state->cold[column];
  cold->wrong_tag = tag;
  if (cold->next_wrong == 0) {
    cold->next_wrong = state->first_wrong != 0 ? state->first_wrong : 1;
    state->first_wrong = column + 2;
  }
}

cst_status cst__settle_wrong(cst__decode_state *state) {
  cst_status status = CST_OK;
  while (state->first_wrong > 1) {
    uint32_t column = state->first_wrong - 2;
    cst__cold *cold = &state->cold[column];
    if (status == CST_OK && cold->wrong_tag != 0 &&
        !cst__has_row(&state->hot[column], state->row)) {
      status = cst__wrong_kind(state, column, cold->wrong_tag);
    }
    state->first_wrong = cold->next_wrong;
    cold->next_wrong = 0;
    cold->wrong_tag = 0;
  }
  state->first_wrong = 0;
  return status;
}

static cst_status put_slow_feature(cst__decode_state *state, uint32_t column, cst_bytes feature) {
  cst__feature_shape shape;
  state->hot[column].flags |= CST__HOT_SEEN;
  cst_status status = cst__find_shape(state, feature, &shape);
  if (status != CST_OK) {
    return cst__at_column(state, column, status);
  }
  cst__undo_row(state, column);
  cst__cold *cold = &state->cold[column];
  cold->wrong_tag = 0;
  if (state->hot[column].tag != shape.tag && cold->tag == 0 && cold->kind_row == state->row) {
    forget_kind(state, column);
  }
  if (shape.tag == 0) {
    return CST_OK; /* no kind is set: null, as if the name were not there */
  }
  uint8_t expected = cst__expected_kind(state, column);
  if (cold->is_null || (expected != 0 && expected != shape.tag)) {
    note_wrong(state, column, shape.tag);
    return CST_OK;
  }
  if (state->hot[column].tag == 0) {
    CST__TRY(cst__set_kind(state, column, shape.tag));
  }
  size_t before = state->hot[column].num_values;
  CST__TRY(cst__append_feature(state, column, feature, shape));
  cst__hot *hot = &state->hot[column];
  int64_t count = (int64_t)(hot->num_values - before);
  if ((hot->flags & CST__HOT_FIXED) && count != state->cold[column].fixed_size) {
    return cst__wrong_count(state, column, count);
  }
  *hot->next_end++ = (int64_t)hot->num_values;
  hot->validity[state->row >> 3] |= (uint8_t)(1u << (state->row & 7));
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

static cst_status add_value_part(cst__decode_state *state, entry_parts *parts, cst_bytes part) {
  if (parts->value.size == 0) {
    parts->value = part;
    return CST_OK;
  }
  /* Each part is a message of its own: none may end in the middle of a field. */
  cst__feature_shape shape;
  if (parts->joined == NULL) {
    CST__TRY(cst__find_shape(state, parts->value, &shape));
  }
  CST__TRY(cst__find_shape(state, part, &shape));
  size_t size;
  void *joined = parts->joined;
  if (!cst__add(parts->value.size, part.size, &size) ||
      !cst__grow(&state->allocator, &joined, &parts->capacity, size, 1)) {
    return cst__fail_memory(state->error, part.size);
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

static cst_status read_entry(cst__decode_state *state, const uint8_t *data, size_t size,
                             entry_parts *parts) {
  cst__wire wire = cst__wire_of(data, size);
  cst__wire_field field;
  while (cst__wire_next(&wire, ENTRY_DEPTH, &field)) {
    if (field.type != CST__WIRE_LEN) {
      continue;
    }
    if (field.number == 1) {
      parts->name = field.bytes;
      if (state->learns && !cst__utf8_valid(field.bytes.data, field.bytes.size)) {
        return cst__fail(state->error, CST_CORRUPT, state->damaged_hint,
                         "the name of a feature (%zu bytes) is not UTF-8", field.bytes.size);
      }
    } else if (field.number == 2) {
      CST__TRY(add_value_part(state, parts, field.bytes));
    }
  }
  return wire.fault != CST__WIRE_FAULT_NONE ? cst__malformed(state, wire.fault) : CST_OK;
}

static cst_status put_parts(cst__decode_state *state, const entry_parts *parts) {
  uint32_t column = cst__name_table_find(state->table, parts->name.data, parts->name.size);
  if (column == CST__NO_COLUMN && state->learns) {
    CST__TRY(cst__unknown_name(state, parts->name.data, parts->name.size, &column));
  }
  if (column == CST__NO_COLUMN) {
    return CST_OK;
  }
  if (parts->joined != NULL && state->views) {
    return cst__at_column(state, column,
                          cst__fail(state->error, CST_UNSUPPORTED, "decode without binary views",
                                    "the value of a feature lies in several parts"));
  }
  return put_slow_feature(state, column, parts->value);
}

cst_status cst__slow_entry(cst__decode_state *state, const uint8_t *data, size_t size) {
  entry_parts parts = {{(const uint8_t *)"", 0}, {(const uint8_t *)"", 0}, NULL, 0};
  cst_status status = read_entry(state, data, size, &parts);
  if (status == CST_OK) {
    status = put_parts(state, &parts);
  }
  cst__delete(parts.joined);
  return status;
}

cst_status cst__slow_features(cst__decode_state *state, const uint8_t *data, size_t size) {
  cst__wire wire = cst__wire_of(data, size);
  cst__wire_field field;
  while (cst__wire_next(&wire, FEATURES_DEPTH, &field)) {
    if (field.number == 1 && field.type == CST__WIRE_LEN) {
      CST__TRY(cst__slow_entry(state, field.bytes.data, field.bytes.size));
    }
  }
  return wire.fault != CST__WIRE_FAULT_NONE ? cst__malformed(state, wire.fault) : CST_OK;
}

cst_status cst__slow_record(cst__decode_state *state, const uint8_t *data, size_t size) {
  cst__wire wire = cst__wire_of(data, size);
  cst__wire_field field;
  state->view_shift = 0;
  while (cst__wire_next(&wire, RECORD_DEPTH, &field)) {
    if (field.number == 1 && field.type == CST__WIRE_LEN) {
      CST__TRY(cst__slow_features(state, field.bytes.data, field.bytes.size));
    }
  }
  return wire.fault != CST__WIRE_FAULT_NONE ? cst__malformed(state, wire.fault) : CST_OK;
}

static cst_status run_slow(cst__decode_state *state, const cst__records *records) {
  for (size_t i = 0; i < records->count; i++) {
    state->row = (int32_t)i;
    cst__enter_record(state, records);
    CST__TRY(cst__slow_record(state, records->items[i].data, records->items[i].size));
    CST__TRY(cst__settle_wrong(state));
  }
  return CST_OK;
}

static cst_status features_slow(cst__decode_state *state, const uint8_t *begin, const uint8_t *at,
                                const uint8_t *end, const uint8_t *readable) {
  (void)begin;
  (void)readable;
  state->view_shift = 0;
  return cst__slow_features(state, at, (size_t)(end - at));
}

static void expand_slow(int64_t *offsets, const uint8_t *validity, size_t rows, size_t present) {
  for (size_t row = rows; row > 0; row--) {
    offsets[row] = offsets[present];
    present -= (validity[(row - 1) >> 3] >> ((row - 1) & 7)) & 1;
  }
}

const cst__kernels cst__kernels_slow = {run_slow, cst__sequence_run_slow, features_slow,
                                        expand_slow};
