/* Length-delimited messages: before each record its size as a varint, as protobuf's
 * writeDelimitedTo and SerializeDelimitedToOstream write them. Nothing has a checksum, and nothing
 * tells where a record begins but the length of the one before it: after a damaged length the rest
 * of the stream is lost.
 */
#include "format/container/container.h"

#include "base/utf8.h"
#include "proto/wire.h"

enum { LONGEST_VARINT = 10 };

/* The length that a record begins with. *size: its bytes; 0 if the chunk ends within it. */
static cst_status read_length(const uint8_t *data, size_t there, uint64_t *length, uint8_t *size,
                              cst_error *error) {
  cst__wire wire = cst__wire_of(data, there < LONGEST_VARINT ? there : LONGEST_VARINT);
  *length = 0;
  *size = 0;
  if (cst__wire_varint(&wire, length)) {
    *size = (uint8_t)(wire.at - data);
  } else if (there >= LONGEST_VARINT) {
    return cst__fail(
        error, CST_CORRUPT,
        "the file is damaged or has another format; the start of the next record is unknown",
        "the length of a record has more than %d bytes", LONGEST_VARINT);
  }
  return CST_OK;
}

static cst_status delimited_scan(const cst__chunk *chunk, uint64_t max_record_size,
                                 cst__framed *out, cst_error *error) {
  const uint64_t limit = cst__record_limit(max_record_size);
  cst_status status = CST_OK;
  out->count = 0;
  out->consumed = 0;
  out->needed = 0;
  out->known = false;
  while (out->count < out->max && out->consumed < chunk->size) {
    size_t rest = chunk->size - out->consumed;
    uint64_t length;
    uint8_t before;
    status = read_length(chunk->data + out->consumed, rest, &length, &before, error);
    if (status == CST_OK && before > 0 && length > limit) {
      status = cst__fail_record_limit(length, limit, error);
    }
    if (status != CST_OK) {
      break;
    }
    if (before == 0) {
      out->needed = rest + 1;
      break;
    }
    const cst__frame frame = {out->consumed + before, (size_t)length, before, 0};
    if (length > rest - before) {
      out->needed = length + before;
      out->known = true;
      out->next = frame;
      break;
    }
    out->frames[out->count++] = frame;
    out->consumed += before + (size_t)length;
  }
  return status;
}

static cst_status delimited_truncated(size_t size, uint64_t needed, cst_error *error) {
  return cst__fail_record_truncated(size, needed, "record", error);
}

static void delimited_inspect(cst__damage_kind kind, const cst__chunk *chunk, uint64_t needed,
                              cst__damage *damage) {
  uint8_t before;
  *damage = (cst__damage){.kind = kind, .length = needed, .there = chunk->size};
  if (kind != CST__DAMAGE_TRUNCATED) {
    (void)read_length(chunk->data, chunk->size, &damage->length, &before, NULL);
  }
}

static cst_status delimited_explain(const cst__damage *damage, uint64_t max_record_size,
                                    cst_error *error) {
  static const uint8_t no_length[LONGEST_VARINT] = {255, 255, 255, 255, 255,
                                                    255, 255, 255, 255, 255};
  uint64_t length;
  uint8_t before;
  switch (damage->kind) {
    case CST__DAMAGE_LIMIT:
      return cst__fail_record_limit(damage->length, max_record_size, error);
    case CST__DAMAGE_TRUNCATED:
      return delimited_truncated((size_t)damage->there, damage->length, error);
    case CST__DAMAGE_FRAMING:
    case CST__DAMAGE_DATA: /* does not happen: there are no checksums */
      break;
  }
  return read_length(no_length, LONGEST_VARINT, &length, &before, error);
}

/* A record beyond the limit is passed over by its length; everything else ends the stream. */
static bool delimited_find_end(cst__resync *r, const cst__chunk *chunk, size_t *passed,
                               uint64_t *needed) {
  if (!r->searching) {
    uint64_t length;
    uint8_t before = 0;
    r->first = SIZE_MAX;
    if (r->kind == CST__DAMAGE_LIMIT &&
        read_length(chunk->data, chunk->size, &length, &before, NULL) == CST_OK &&
        length < SIZE_MAX - before) {
      r->first = (size_t)length + before;
    }
    r->searching = true;
  }
  *passed = r->first < chunk->size ? r->first : chunk->size;
  r->first -= r->first == SIZE_MAX ? 0 : *passed;
  *needed = 1;
  return r->first == 0 || chunk->ends;
}

static bool is_message(cst_bytes bytes) {
  cst__wire wire = cst__wire_of(bytes.data, bytes.size);
  cst__wire_field field;
  while (cst__wire_next(&wire, 0, &field)) {
  }
  return wire.fault == CST__WIRE_FAULT_NONE;
}

/* True if a record of `size` bytes, of which `there` are, begins as a tf.Example or
 * tf.SequenceExample of usual layout: a message of field 1 or 2, in it one of field 1, in it a
 * string of field 1, each within the one around it. */
static bool begins_as_example(const uint8_t *data, size_t there, uint64_t size) {
  for (int depth = 0; depth < 3; depth++) {
    uint64_t length;
    uint8_t bytes;
    bool tag = there > 0 && (data[0] == 0x0a || (depth == 0 && data[0] == 0x12));
    if (!tag || read_length(data + 1, there - 1, &length, &bytes, NULL) != CST_OK || bytes == 0 ||
        size < 1 + (uint64_t)bytes || length > size - 1 - bytes) {
      return false;
    }
    data += 1 + bytes;
    there -= 1 + (size_t)bytes;
    size = length;
  }
  return true;
}

/* Lengths that lead from one to the next, and only messages between them: to the end of the stream,
 * or several of them, because a length may seem right by chance; or a first record that begins as
 * Examples do, whatever follows. Text is never taken for it, nor is a stream in which half of the
 * records have no bytes: lengths in two or four bytes, the large ones first, look like that. */
static bool delimited_sniff(const cst__chunk *head) {
  enum { MOST = 64, LEAST_RECORDS = 4, LEAST_BYTES = 256 };
  cst__frame frames[MOST];
  cst__framed framed = {.frames = frames, .max = MOST};
  cst__chunk rest = *head;
  uint64_t length;
  uint8_t before;
  size_t records = 0;
  size_t filled = 0; /* of them */
  size_t bytes = 0;
  if (cst__is_text(head->data, head->size)) {
    return false;
  }
  if (read_length(head->data, head->size, &length, &before, NULL) == CST_OK && before > 0 &&
      begins_as_example(head->data + before, head->size - before, length)) {
    return true;
  }
  do {
    if (delimited_scan(&rest, UINT64_MAX, &framed, NULL) != CST_OK) {
      return false;
    }
    for (size_t i = 0; i < framed.count; i++) {
      if (!is_message((cst_bytes){rest.data + frames[i].begin, frames[i].size})) {
        return false;
      }
      bytes += frames[i].size;
      filled += frames[i].size > 0;
    }
    records += framed.count;
    rest.data += framed.consumed;
    rest.size -= framed.consumed;
  } while (framed.count > 0 && framed.needed == 0 && rest.size > 0);
  return filled > records / 2 && ((head->ends && rest.size == 0 && bytes > 1) ||
                                  (filled >= LEAST_RECORDS && bytes >= LEAST_BYTES));
}

/* Of lengths in their shortest form, as every writer gives them. */
static uint64_t delimited_payload_size(uint64_t record_size) {
  uint64_t before = 1;
  while (before < LONGEST_VARINT - 1 && (record_size - before) >> (7 * before) != 0) {
    before++;
  }
  return record_size - before;
}

static cst_status delimited_write(cst__output *output, const void *record, size_t size,
                                  cst_error *error) {
  uint8_t length[LONGEST_VARINT];
  size_t count = 0;
  uint64_t rest = size;
  for (; rest >= 128; rest >>= 7) {
    length[count++] = (uint8_t)(rest | 128);
  }
  length[count++] = (uint8_t)rest;
  CST__TRY(cst__output_write(output, length, count, error));
  return cst__output_write(output, record, size, error);
}

static const char *const delimited_extensions[] = {NULL};

const cst__container cst__delimited_container = {
    .info = {"delimited", "length-delimited messages", delimited_extensions, "example"},
    .framing_fault = "length",
    .least_framing = 1,
    .most_framing = LONGEST_VARINT,
    .sniff = delimited_sniff,
    .scan = delimited_scan,
    .truncated = delimited_truncated,
    .inspect = delimited_inspect,
    .explain = delimited_explain,
    .find_end = delimited_find_end,
    .payload_size = delimited_payload_size,
    .write = delimited_write,
};
