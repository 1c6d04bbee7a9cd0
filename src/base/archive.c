/* Archives: varints, doubles and bytes, both ways. */
#include "base/archive.h"

#include <string.h>

#include "base/crc32c.h"
#include "base/utf8.h"

enum { VARINT_MOST = 10 };

static void append_varint(cst__text *out, uint64_t value) {
  uint8_t bytes[VARINT_MOST];
  size_t size = 0;
  do {
    bytes[size++] = (uint8_t)((value & 127) | (value > 127 ? 128 : 0));
    value >>= 7;
  } while (value > 0);
  cst__text_append(out, bytes, size);
}

static uint64_t read_varint(cst__archive *a) {
  uint64_t value = 0;
  for (int shift = 0; shift < 7 * VARINT_MOST && !a->bad; shift += 7) {
    a->bad = a->at == a->end;
    uint64_t byte = a->bad ? 0 : *a->at++;
    a->bad = a->bad || (shift == 63 && byte > 1);
    value |= (byte & 127) << shift;
    if (byte < 128) {
      break;
    }
  }
  return a->bad ? 0 : value;
}

void cst__archive_u64(cst__archive *a, uint64_t *value) {
  if (cst__archive_loads(a)) {
    *value = read_varint(a);
  } else {
    append_varint(a->out, *value);
  }
}

void cst__archive_i64(cst__archive *a, int64_t *value) {
  uint64_t bits = ((uint64_t)*value << 1) ^ (*value < 0 ? UINT64_MAX : 0);
  cst__archive_u64(a, &bits);
  *value = (int64_t)((bits >> 1) ^ (~(bits & 1) + 1));
}

void cst__archive_double(cst__archive *a, double *value) {
  if (!cst__archive_loads(a)) {
    cst__text_append(a->out, value, sizeof *value);
    return;
  }
  a->bad = a->bad || (size_t)(a->end - a->at) < sizeof *value;
  *value = 0;
  if (!a->bad) {
    memcpy(value, a->at, sizeof *value);
    a->at += sizeof *value;
  }
}

void cst__archive_enum(cst__archive *a, int *value, int end) {
  uint64_t number = (uint64_t)*value;
  cst__archive_u64(a, &number);
  cst__archive_check(a, number < (uint64_t)end);
  *value = a->bad ? 0 : (int)number;
}

void cst__archive_bool(cst__archive *a, bool *value) {
  int number = *value;
  cst__archive_enum(a, &number, 2);
  *value = number != 0;
}

void cst__archive_count(cst__archive *a, size_t *count) {
  uint64_t number = *count;
  cst__archive_u64(a, &number);
  cst__archive_check(a, number <= (uint64_t)(a->end - a->at));
  *count = a->bad ? 0 : (size_t)number;
}

void cst__archive_bytes(cst__archive *a, cst_bytes *value) {
  size_t size = value->size;
  cst__archive_count(a, &size);
  if (cst__archive_loads(a)) {
    *value = (cst_bytes){a->at, size};
    a->at += size;
  } else {
    cst__text_append(a->out, value->data, size);
  }
}

void cst__archive_text(cst__archive *a, char *text, size_t size) {
  cst_bytes bytes = {(const uint8_t *)text, 0};
  if (!cst__archive_loads(a)) {
    bytes.size = strlen(text);
    cst__archive_bytes(a, &bytes);
    return;
  }
  cst__archive_bytes(a, &bytes);
  cst__archive_check(a, bytes.size < size && cst__utf8_valid(bytes.data, bytes.size) &&
                            memchr(bytes.data, 0, bytes.size) == NULL);
  memset(text, 0, size);
  if (!a->bad) {
    memcpy(text, bytes.data, bytes.size);
  }
}

void cst__archive_name(cst__archive *a, const char **name, cst__arena *arena) {
  cst_bytes bytes = {NULL, 0};
  if (!cst__archive_loads(a)) {
    bytes = (cst_bytes){(const uint8_t *)*name, strlen(*name)};
    cst__archive_bytes(a, &bytes);
    return;
  }
  cst__archive_bytes(a, &bytes);
  cst__archive_check(a, bytes.size == 0 || memchr(bytes.data, 0, bytes.size) == NULL);
  *name = a->bad ? "" : cst__arena_copy(arena, bytes.data, bytes.size);
  if (*name == NULL) {
    *name = "";
    cst__archive_fail_memory(a);
  }
}

/* ---- whole states ---- */

static const char state_magic[] = {'C', 'S', 'T', 'S'};
enum { STATE_CRC = 4 };

cst_status cst__state_save(const cst__state_form *form, cst__archive_state archive, void *ctx,
                           char **bytes, size_t *size, cst_error *error) {
  cst__text out = {0};
  cst__archive a = cst__archive_to(&out);
  cst_bytes name = {(const uint8_t *)form->name, strlen(form->name)};
  uint64_t version = form->version;
  cst__text_append(&out, state_magic, sizeof state_magic);
  cst__archive_bytes(&a, &name);
  cst__archive_u64(&a, &version);
  archive(ctx, &a);
  uint32_t crc = out.failed ? 0 : cst__crc32c(0, out.data, out.size);
  cst__text_append(&out, &crc, sizeof crc);
  return cst__text_finish(&out, bytes, size, error);
}

cst_status cst__state_open(cst_bytes bytes, cst_bytes *name, uint64_t *version,
                           cst__archive *archive, cst_error *error) {
  uint32_t crc;
  if (bytes.size < sizeof state_magic + STATE_CRC ||
      memcmp(bytes.data, state_magic, sizeof state_magic) != 0) {
    return cst__fail(error, CST_CORRUPT, "pass all of the saved bytes",
                     "these bytes are not a saved state");
  }
  memcpy(&crc, bytes.data + bytes.size - STATE_CRC, sizeof crc);
  if (crc != cst__crc32c(0, bytes.data, bytes.size - STATE_CRC)) {
    return cst__fail(error, CST_CORRUPT, "save the state again", "saved state: wrong checksum");
  }
  *archive = cst__archive_from(bytes.data + sizeof state_magic,
                               bytes.size - sizeof state_magic - STATE_CRC);
  cst__archive_bytes(archive, name);
  cst__archive_u64(archive, version);
  return CST_OK;
}
