/* Lines: a record per line, which ends with "\n" or "\r\n"; the last one may lack its end. An empty
 * line is an empty record. After a line beyond the limit the next one is read on.
 */
#include <string.h>

#include "format/container/container.h"

enum { LEAST_STEP = 4096, LONGEST_END = 2 };

static cst_status fail_line_limit(uint64_t limit, cst_error *error) {
  return cst__fail(error, CST_LIMIT, "raise max_record_size if such lines are expected",
                   "a line of more than %llu bytes", (unsigned long long)limit);
}

/* A line of `size` bytes, without its "\n", that begins at `begin`. */
static cst__frame frame_line(const uint8_t *data, size_t begin, size_t size) {
  bool carriage = size > 0 && data[begin + size - 1] == '\r';
  return (cst__frame){begin, size - carriage, 0, (uint8_t)(1 + carriage)};
}

static cst_status lines_scan(const cst__chunk *chunk, uint64_t max_record_size, cst__framed *out,
                             cst_error *error) {
  const uint64_t limit = cst__record_limit(max_record_size);
  out->count = 0;
  out->consumed = 0;
  out->needed = 0;
  out->known = false;
  while (out->count < out->max && out->consumed < chunk->size) {
    size_t begin = out->consumed;
    size_t rest = chunk->size - begin;
    const uint8_t *end = memchr(chunk->data + begin, '\n', rest);
    cst__frame frame = {begin, rest, 0, 0};
    if (end != NULL) {
      frame = frame_line(chunk->data, begin, (size_t)(end - chunk->data) - begin);
    } else if (!chunk->ends && rest <= limit + 1) { /* that one may be a "\r" */
      out->needed = rest + (rest > LEAST_STEP ? rest : LEAST_STEP);
      return CST_OK;
    }
    if (frame.size > limit) {
      return fail_line_limit(limit, error);
    }
    out->frames[out->count++] = frame;
    out->consumed = cst__frame_end(&frame);
  }
  return CST_OK;
}

/* Does not happen: the last line may lack its end. */
static cst_status lines_truncated(size_t size, uint64_t needed, cst_error *error) {
  return cst__fail_record_truncated(size, needed, "line", error);
}

static void lines_inspect(cst__damage_kind kind, const cst__chunk *chunk, uint64_t needed,
                          cst__damage *damage) {
  *damage = (cst__damage){.kind = kind, .length = needed, .there = chunk->size};
}

static cst_status lines_explain(const cst__damage *damage, uint64_t max_record_size,
                                cst_error *error) {
  return damage->kind == CST__DAMAGE_LIMIT
             ? fail_line_limit(cst__record_limit(max_record_size), error)
             : lines_truncated((size_t)damage->there, damage->length, error);
}

static bool lines_find_end(cst__resync *r, const cst__chunk *chunk, size_t *passed,
                           uint64_t *needed) {
  const uint8_t *end = chunk->size > 0 ? memchr(chunk->data, '\n', chunk->size) : NULL;
  r->searching = true;
  *passed = end != NULL ? (size_t)(end - chunk->data) + 1 : chunk->size;
  *needed = 1;
  return end != NULL || chunk->ends;
}

static size_t lines_find_begin(const cst__chunk *chunk, size_t at, uint64_t room,
                               uint64_t max_record_size) {
  (void)room;
  (void)max_record_size;
  if (at == 0) {
    return 0;
  }
  const uint8_t *end =
      at <= chunk->size ? memchr(chunk->data + at - 1, '\n', chunk->size - at + 1) : NULL;
  return end != NULL ? (size_t)(end - chunk->data) + 1 : SIZE_MAX;
}

/* With the end of the line, which only the data could tell from it. */
static uint64_t lines_payload_size(uint64_t record_size) { return record_size; }

static cst_status fail_end_in_line(cst_error *error) {
  return cst__fail(error, CST_UNSUPPORTED, "write it to another container, such as tfrecord",
                   "a line cannot contain a record with a line break");
}

static cst_status lines_write_with_return(cst__output *output, const void *record, size_t size,
                                          cst_error *error) {
  if (size > 0 && memchr(record, '\n', size) != NULL) {
    return fail_end_in_line(error);
  }
  CST__TRY(cst__output_write(output, record, size, error));
  return cst__output_write(output, "\n", 1, error);
}

static cst_status lines_write(cst__output *output, const void *record, size_t size,
                              cst_error *error) {
  bool has_return = size > 0 && ((const uint8_t *)record)[size - 1] == '\r';
  return has_return ? fail_end_in_line(error)
                    : lines_write_with_return(output, record, size, error);
}

static const char *const lines_extensions[] = {NULL};

const cst__container cst__lines_container = {
    .info = {"lines", "lines", lines_extensions, "raw"},
    .framing_fault = "format",
    .least_framing = 0,
    .most_framing = LONGEST_END,
    .scan = lines_scan,
    .truncated = lines_truncated,
    .inspect = lines_inspect,
    .explain = lines_explain,
    .find_end = lines_find_end,
    .find_begin = lines_find_begin,
    .begin_is_sure = true,
    .payload_size = lines_payload_size,
    .write = lines_write,
};

const cst__container cst__lines_with_returns = {
    .info = {"lines", "lines", lines_extensions, "raw"},
    .write = lines_write_with_return,
};
