/* The container "file": the whole stream is one record, also one without bytes. A record beyond the
 * limit takes all of its file along.
 */
#include "format/container/container.h"

enum { LEAST_PIECE = 4096 };

static cst_status whole_scan(const cst__chunk *chunk, uint64_t max_record_size, cst__framed *out,
                             cst_error *error) {
  const uint64_t limit = cst__record_limit(max_record_size);
  out->count = 0;
  out->consumed = 0;
  out->needed = 0;
  out->known = false;
  if (chunk->size > limit) {
    return cst__fail(error, CST_LIMIT, "raise max_record_size if such files are expected",
                     "a file of more than %llu bytes that is one record",
                     (unsigned long long)limit);
  }
  if (!chunk->ends) {
    out->needed = chunk->size + (chunk->size > LEAST_PIECE ? chunk->size : LEAST_PIECE);
    return CST_OK;
  }
  out->frames[out->count++] = (cst__frame){.size = chunk->size};
  out->consumed = chunk->size;
  return CST_OK;
}

/* Does not happen: a record ends where the stream does. */
static cst_status whole_truncated(size_t size, uint64_t needed, cst_error *error) {
  return cst__fail_record_truncated(size, needed, "file", error);
}

static void whole_inspect(cst__damage_kind kind, const cst__chunk *chunk, uint64_t needed,
                          cst__damage *damage) {
  *damage = (cst__damage){.kind = kind, .length = needed, .there = chunk->size};
}

static cst_status whole_explain(const cst__damage *damage, uint64_t max_record_size,
                                cst_error *error) {
  const cst__chunk over = {.size = SIZE_MAX};
  cst__framed framed = {0};
  return damage->kind == CST__DAMAGE_LIMIT
             ? whole_scan(&over, max_record_size, &framed, error)
             : whole_truncated((size_t)damage->there, damage->length, error);
}

static bool whole_find_end(cst__resync *r, const cst__chunk *chunk, size_t *passed,
                           uint64_t *needed) {
  r->searching = true;
  *passed = chunk->size;
  *needed = 1;
  return chunk->ends;
}

static uint64_t whole_payload_size(uint64_t record_size) { return record_size; }

static cst_status whole_write(cst__output *output, const void *record, size_t size,
                              cst_error *error) {
  return cst__output_write(output, record, size, error);
}

static const char *const whole_extensions[] = {NULL};

const cst__container cst__file_container = {
    .info = {"file", "one record a file", whole_extensions, "raw"},
    .framing_fault = "format",
    .least_framing = 0,
    .most_framing = 0,
    .is_whole = true,
    .scan = whole_scan,
    .truncated = whole_truncated,
    .inspect = whole_inspect,
    .explain = whole_explain,
    .find_end = whole_find_end,
    .payload_size = whole_payload_size,
    .write = whole_write,
};
