/* Reading the prefix of Confluent's schema registry. */
#include "proto/confluent.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum { HEAD_SIZE = 5 /* the zero byte, and the number of the schema */ };

static cst_status fail_prefix_cut(size_t size, cst_error *error) {
  return cst__fail(error, CST_CORRUPT,
                   "the record is cut, or has no such prefix: then its form is binary",
                   "the prefix of the schema registry does not end within %zu bytes", size);
}

/* "[1, 0]" */
static const char *list_place(const int32_t *place, size_t depth, char *text, size_t size) {
  size_t used = 0;
  for (size_t i = 0; i < depth && used + 16 < size; i++) {
    used += (size_t)snprintf(text + used, size - used, "%s%d", i > 0 ? ", " : "[", (int)place[i]);
  }
  (void)snprintf(text + used, size - used, "]");
  return text;
}

static cst_status fail_place(const cst__confluent *confluent, const int32_t *place, size_t depth,
                             cst_error *error) {
  char found[96];
  char expected[96];
  return cst__fail(error, CST_SCHEMA, "name the message that the records are of",
                   "the record is of the message %s of its file, expected %s",
                   list_place(place, depth, found, sizeof found),
                   list_place(confluent->place, confluent->depth, expected, sizeof expected));
}

/* An int32 as Kafka writes them. */
static bool read_index(cst__wire *wire, int64_t *out) {
  uint64_t value;
  if (!cst__wire_varint(wire, &value)) {
    return false;
  }
  *out = (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
  return true;
}

/* False: the prefix is cut. *depth is above CST__DEPTH_LIMIT for what is no place. */
static bool read_message_place(cst__wire *wire, int32_t *place, size_t *depth) {
  int64_t count;
  if (!read_index(wire, &count)) {
    return false;
  }
  if (count == 0) { /* short for [0] */
    place[0] = 0;
    *depth = 1;
    return true;
  }
  *depth = count > 0 && count <= CST__DEPTH_LIMIT ? (size_t)count : SIZE_MAX;
  for (int64_t i = 0; i < count && *depth != SIZE_MAX; i++) {
    int64_t index;
    if (!read_index(wire, &index)) {
      return false;
    }
    if (index < 0 || index > INT32_MAX) {
      *depth = SIZE_MAX;
    } else {
      place[i] = (int32_t)index;
    }
  }
  return true;
}

/* Passes over the place, which has to be the right one. */
static cst_status check_place(const cst__confluent *confluent, cst__wire *wire, size_t size,
                              cst_error *error) {
  int32_t place[CST__DEPTH_LIMIT];
  size_t depth;
  if (!read_message_place(wire, place, &depth)) {
    return fail_prefix_cut(size, error);
  }
  if (depth == SIZE_MAX) {
    return cst__fail(error, CST_CORRUPT, "the record is damaged, or has no such prefix",
                     "the schema registry prefix does not refer to a message in the file");
  }
  bool same =
      depth == confluent->depth && memcmp(place, confluent->place, depth * sizeof *place) == 0;
  return same ? CST_OK : fail_place(confluent, place, depth, error);
}

cst_status cst__confluent_strip(const cst__confluent *confluent, cst_bytes record, cst_bytes *out,
                                cst_error *error) {
  if (record.size > 0 && record.data[0] != 0) {
    return cst__fail(error, CST_CORRUPT, "if the records have no prefix, their form is binary",
                     "the first byte is %u, and 0 begins the prefix of the schema registry",
                     record.data[0]);
  }
  if (record.size < HEAD_SIZE) {
    return fail_prefix_cut(record.size, error);
  }
  cst__wire wire = cst__wire_of(record.data + HEAD_SIZE, record.size - HEAD_SIZE);
  if (confluent->depth > 0) {
    CST__TRY(check_place(confluent, &wire, record.size, error));
  }
  *out = (cst_bytes){wire.at, (size_t)(wire.end - wire.at)};
  return CST_OK;
}
