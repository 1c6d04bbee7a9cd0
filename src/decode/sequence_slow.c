/* The rare cases of tf.SequenceExample: every layout that protobuf allows and no writer produces,
 * first sights of names and types, and the errors. A record is taken as a whole here, from its
 * first byte on: first everything is checked, then the entries that count are put.
 *
 * The rules are protobuf's: several contexts or feature_lists are merged, of a map the last entry
 * of a key counts, a FeatureList in several parts is their concatenation.
 */
#include <string.h>

#include "base/utf8.h"
#include "decode/sequence_loop.h"

enum {
  RECORD_DEPTH = CST__DEPTH_LIMIT, /* levels that may open below the SequenceExample, ... */
  LISTS_DEPTH = RECORD_DEPTH - 1,
  ENTRY_DEPTH = RECORD_DEPTH - 2,
  LIST_DEPTH = RECORD_DEPTH - 3
};

cst_status cst__at_lists(cst__sequence *sequence, cst_status status) {
  if (status != CST_NO_MEMORY) {
    cst__error_add_path(sequence->state.error, sequence->name, strlen(sequence->name));
  }
  return status;
}

/* ---- the first walk: checks, and which entries there are ---- */

static cst_status check_list(cst__decode_state *state, cst_bytes list) {
  cst__wire wire = cst__wire_of(list.data, list.size);
  cst__wire_field field;
  cst__feature_shape shape;
  while (cst__wire_next(&wire, LIST_DEPTH, &field)) {
    if (field.number == 1 && field.type == CST__WIRE_LEN) {
      CST__TRY(cst__find_shape(state, field.bytes, &shape));
    }
  }
  return wire.fault != CST__WIRE_FAULT_NONE ? cst__malformed(state, wire.fault) : CST_OK;
}

static cst_status read_name(cst__decode_state *state, cst_bytes entry, cst_bytes *name) {
  cst__wire wire = cst__wire_of(entry.data, entry.size);
  cst__wire_field field;
  *name = (cst_bytes){(const uint8_t *)"", 0};
  while (cst__wire_next(&wire, ENTRY_DEPTH, &field)) {
    if (field.number == 1 && field.type == CST__WIRE_LEN) {
      *name = field.bytes;
      if (state->learns && !cst__utf8_valid(name->data, name->size)) {
        return cst__fail(state->error, CST_CORRUPT, state->damaged_hint,
                         "the name of a feature list (%zu bytes) is not UTF-8", name->size);
      }
    }
  }
  return wire.fault != CST__WIRE_FAULT_NONE ? cst__malformed(state, wire.fault) : CST_OK;
}

/* The column of a name, made if it is a new one that is wanted. */
static cst_status find_list_column(cst__sequence *sequence, cst_bytes name, uint32_t *column) {
  cst__decode_state *state = &sequence->state;
  *column = cst__name_table_find(state->table, name.data, name.size);
  if (*column != CST__NO_COLUMN || !state->learns) {
    return CST_OK;
  }
  if (!cst__inner_reserve(sequence, state->num_columns + 1)) {
    return cst__fail_memory(state->error, sizeof(cst__inner));
  }
  CST__TRY(cst__unknown_name(state, name.data, name.size, column));
  if (*column != CST__NO_COLUMN) {
    cst__inner_begin(sequence, *column);
  }
  return CST_OK;
}

static cst_status check_entry_lists(cst__decode_state *state, uint32_t column, cst_bytes entry) {
  cst__wire wire = cst__wire_of(entry.data, entry.size);
  cst__wire_field field;
  while (cst__wire_next(&wire, ENTRY_DEPTH, &field)) {
    if (field.number == 2 && field.type == CST__WIRE_LEN) {
      cst_status status = check_list(state, field.bytes);
      if (status != CST_OK) {
        return cst__at_column(state, column, status);
      }
    }
  }
  return CST_OK;
}

static cst_status note_entry(cst__sequence *sequence, cst_bytes entry) {
  cst__decode_state *state = &sequence->state;
  cst_bytes name;
  uint32_t column;
  CST__TRY(read_name(state, entry, &name));
  CST__TRY(find_list_column(sequence, name, &column));
  if (column == CST__NO_COLUMN) {
    return CST_OK;
  }
  CST__TRY(check_entry_lists(state, column, entry));
  void *entries = sequence->entries;
  if (!cst__grow(&state->allocator, &entries, &sequence->entry_capacity, sequence->num_entries + 1,
                 sizeof(cst__list_entry))) {
    return cst__fail_memory(state->error, sizeof(cst__list_entry));
  }
  sequence->entries = entries;
  sequence->entries[sequence->num_entries++] = (cst__list_entry){column, entry};
  sequence->inners[column].pending = sequence->num_entries;
  return CST_OK;
}

static cst_status note_lists(cst__sequence *sequence, cst_bytes lists) {
  cst__wire wire = cst__wire_of(lists.data, lists.size);
  cst__wire_field field;
  sequence->is_seen = true;
  if (!sequence->is_wanted) {
    return CST_OK;
  }
  while (cst__wire_next(&wire, LISTS_DEPTH, &field)) {
    if (field.number == 1 && field.type == CST__WIRE_LEN) {
      CST__TRY(note_entry(sequence, field.bytes));
    }
  }
  return wire.fault != CST__WIRE_FAULT_NONE ? cst__malformed(&sequence->state, wire.fault) : CST_OK;
}

/* ---- the second walk: values ---- */

static cst_status put_slow_step(cst__sequence *sequence, uint32_t column, size_t *num_lists,
                                cst_bytes feature) {
  cst__decode_state *state = &sequence->state;
  cst__feature_shape shape;
  CST__TRY(cst__find_shape(state, feature, &shape));
  uint8_t expected = cst__expected_kind(state, column);
  if (shape.tag == 0) {
    CST__TRY(cst__inner_add_null(sequence, column, *num_lists));
  } else if (state->cold[column].is_null || (expected != 0 && expected != shape.tag)) {
    return cst__wrong_kind(state, column, shape.tag);
  } else {
    if (state->hot[column].tag == 0) {
      CST__TRY(cst__set_values(state, column, shape.tag));
    }
    CST__TRY(cst__append_feature(state, column, feature, shape));
  }
  size_t before = sequence->inners[column].num_lists;
  if (*num_lists >= sequence->inners[column].room_lists) {
    CST__TRY(cst__inner_grow(sequence, column, *num_lists - before + 1));
  }
  sequence->inners[column].ends[++*num_lists] = (int64_t)state->hot[column].num_values;
  return CST_OK;
}

static cst_status put_slow_list(cst__sequence *sequence, uint32_t column, size_t *num_lists,
                                cst_bytes list) {
  cst__wire wire = cst__wire_of(list.data, list.size);
  cst__wire_field field;
  while (cst__wire_next(&wire, LIST_DEPTH, &field)) {
    if (field.number == 1 && field.type == CST__WIRE_LEN) {
      CST__TRY(put_slow_step(sequence, column, num_lists, field.bytes));
    }
  }
  return CST_OK;
}

static cst_status put_slow_entry(cst__sequence *sequence, const cst__list_entry *entry) {
  cst__wire wire = cst__wire_of(entry->bytes.data, entry->bytes.size);
  cst__wire_field field;
  if (!cst__has_buffers(&sequence->state, entry->column)) {
    CST__TRY(cst__inner_open(sequence, entry->column));
  }
  size_t num_lists = sequence->inners[entry->column].num_lists;
  while (cst__wire_next(&wire, ENTRY_DEPTH, &field)) {
    if (field.number == 2 && field.type == CST__WIRE_LEN) {
      CST__TRY(put_slow_list(sequence, entry->column, &num_lists, field.bytes));
    }
  }
  cst__inner_commit(sequence, entry->column, num_lists);
  return CST_OK;
}

static cst_status put_list_entries(cst__sequence *sequence) {
  for (size_t i = 0; i < sequence->num_entries; i++) {
    const cst__list_entry *entry = &sequence->entries[i];
    if (sequence->inners[entry->column].pending == i + 1) {
      CST__TRY(put_slow_entry(sequence, entry));
    }
  }
  return CST_OK;
}

/* ---- records ---- */

cst_status cst__slow_sequence(cst__sequence *sequence, const uint8_t *data, size_t size) {
  cst__wire wire = cst__wire_of(data, size);
  cst__wire_field field;
  cst_status status = CST_OK;
  cst__inner_undo(sequence);
  sequence->num_entries = 0;
  sequence->context->view_shift = 0;
  sequence->state.view_shift = 0;
  while (cst__wire_next(&wire, RECORD_DEPTH, &field)) {
    if (field.type != CST__WIRE_LEN) {
      continue;
    }
    if (field.number == 1) {
      CST__TRY(cst__slow_features(sequence->context, field.bytes.data, field.bytes.size));
    } else if (field.number == 2) {
      status = note_lists(sequence, field.bytes);
      if (status != CST_OK) {
        return cst__at_lists(sequence, status);
      }
    }
  }
  if (wire.fault != CST__WIRE_FAULT_NONE) {
    return cst__malformed(&sequence->state, wire.fault);
  }
  status = put_list_entries(sequence);
  return status != CST_OK ? cst__at_lists(sequence, status) : CST_OK;
}

cst_status cst__sequence_run_slow(cst__sequence *sequence, const cst__records *records) {
  for (size_t i = 0; i < records->count; i++) {
    cst__sequence_enter(sequence, records, i);
    CST__TRY(cst__slow_sequence(sequence, records->items[i].data, records->items[i].size));
    CST__TRY(cst__settle_wrong(sequence->context));
  }
  return CST_OK;
}
