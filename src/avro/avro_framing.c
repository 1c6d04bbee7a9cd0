/* Prefixes of single records. */
#include "avro/avro_framing.h"

#include <string.h>

typedef struct framing_row {
  const char *name;
  uint8_t mark[2];
  uint8_t mark_size;
  uint8_t id_size;
  bool is_little;
} framing_row;

static const framing_row rows[] = {
    [CST__AVRO_AUTO] = {"plain", {0}, 0, 0, false},
    [CST__AVRO_NO_PREFIX] = {"plain", {0}, 0, 0, false},
    [CST__AVRO_SINGLE_OBJECT] = {"single_object", {0xc3, 0x01}, 2, 8, true},
    [CST__AVRO_CONFLUENT] = {"confluent", {0}, 1, 4, false},
    [CST__AVRO_APICURIO] = {"apicurio", {0}, 1, 8, false},
};

size_t cst__avro_prefix_size(cst__avro_framing framing) {
  return (size_t)rows[framing].mark_size + rows[framing].id_size;
}

static size_t place_of(const framing_row *row, size_t i) {
  return row->mark_size + (row->is_little ? i : (size_t)row->id_size - 1 - i);
}

cst_status cst__avro_prefix_read(cst__avro_framing framing, cst_bytes record, uint64_t *id,
                                 cst_error *error) {
  const framing_row *row = &rows[framing];
  if (record.size < cst__avro_prefix_size(framing) ||
      memcmp(record.data, row->mark, row->mark_size) != 0) {
    return cst__fail(error, CST_CORRUPT, "the record is cut, or avro_framing is another one",
                     "a record without the prefix of %s", row->name);
  }
  *id = 0;
  for (size_t i = 0; i < row->id_size; i++) {
    *id |= (uint64_t)record.data[place_of(row, i)] << 8 * i;
  }
  return CST_OK;
}

void cst__avro_prefix_write(cst__avro_framing framing, uint64_t id, uint8_t *to) {
  const framing_row *row = &rows[framing];
  memcpy(to, row->mark, row->mark_size);
  for (size_t i = 0; i < row->id_size; i++) {
    to[place_of(row, i)] = (uint8_t)(id >> 8 * i);
  }
}
