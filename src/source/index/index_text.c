/* Indexes as text: "offset length" lines, as DALI's tfrecord2idx and the Python package `tfrecord`
 * write and read them; the length counts the framing. */
#include <columnstone/index.h>
#include <stdio.h>
#include <string.h>

#include "base/arguments.h"
#include "io/output.h"
#include "source/index/index.h"

enum { CHUNK = 64 << 10, LONGEST = 64 /* bytes of a line */ };

/* ---- out ---- */

static cst_status write_lines(const cst_index *index, cst__output *output, cst_error *error) {
  char line[LONGEST];
  for (uint64_t i = 0; i < index->count; i++) {
    const uint64_t *at = &index->offsets[i];
    int size = snprintf(line, sizeof line, "%llu %llu\n", (unsigned long long)at[0],
                        (unsigned long long)(at[1] - at[0]));
    CST__TRY(cst__output_write(output, line, (size_t)size, error));
  }
  return cst__output_finish(output, error);
}

cst_status cst_index_save_text(const cst_index *index, const char *text_path, cst_error *error) {
  if (index == NULL || text_path == NULL) {
    return cst__missing(index == NULL ? "index" : "text_path", error);
  }
  cst__output *output;
  CST__TRY(cst__output_open_beside(text_path, &index->allocator, &output, error));
  cst_status status = write_lines(index, output, error);
  cst__output_free(output);
  return status;
}

/* ---- in ---- */

typedef struct comparing {
  const cst_index *index;
  uint64_t line;      /* that have been compared */
  char text[LONGEST]; /* of the line that is not complete */
  size_t size;
} comparing;

static cst_status fail_line(const comparing *c, cst_error *error, const char *what) {
  (void)cst__fail(error, CST_CORRUPT, "rebuild it: columnstone index", "%s", what);
  cst__error_add_position(error, (int64_t)c->line + 1, 1);
  return CST_CORRUPT;
}

/* Reads digits; false if there are none or too many. */
static bool take_number(const char **at, uint64_t *out) {
  const char *begin = *at;
  uint64_t value = 0;
  while (**at >= '0' && **at <= '9' && *at - begin < 19) {
    value = value * 10 + (uint64_t)(*(*at)++ - '0');
  }
  *out = value;
  return *at > begin;
}

static bool parse_line(const char *text, size_t size, uint64_t *offset, uint64_t *length) {
  const char *end = text + size;
  if (!take_number(&text, offset) || *text++ != ' ') {
    return false;
  }
  return take_number(&text, length) && text == end;
}

static cst_status compare_line(comparing *c, cst_error *error) {
  uint64_t offset;
  uint64_t length;
  c->size -= c->size > 0 && c->text[c->size - 1] == '\r';
  c->text[c->size] = '\0';
  if (!parse_line(c->text, c->size, &offset, &length)) {
    return fail_line(c, error, "expected a line of the form \"offset length\"");
  }
  if (c->line >= c->index->count) {
    return fail_line(c, error, "more lines than the file has records");
  }
  const uint64_t *at = &c->index->offsets[c->line];
  if (offset != at[0] || length != at[1] - at[0]) {
    return fail_line(c, error, "offset and length are not those of this record of the file");
  }
  c->line++;
  c->size = 0;
  return CST_OK;
}

static cst_status compare_input(comparing *c, cst__input *input, char *chunk, cst_error *error) {
  for (;;) {
    size_t got;
    CST__TRY(cst__input_read(input, chunk, CHUNK, &got, error));
    if (got == 0) {
      if (c->size > 0) {
        CST__TRY(compare_line(c, error));
      }
      return c->line == c->index->count
                 ? CST_OK
                 : fail_line(c, error, "the lines end before the records of the file do");
    }
    for (size_t i = 0; i < got; i++) {
      if (chunk[i] == '\n') {
        CST__TRY(compare_line(c, error));
      } else if (c->size < LONGEST - 1) {
        c->text[c->size++] = chunk[i];
      } else {
        return fail_line(c, error, "a line of more than 63 bytes");
      }
    }
  }
}

cst_status cst__index_compare_text(const cst_index *index, const char *text_path,
                                   cst_error *error) {
  cst__input_options options = {.allocator = &index->allocator};
  comparing c = {.index = index};
  cst__input *input;
  CST__TRY(cst__input_open(text_path, &options, &input, error));
  char *chunk = cst__new(&index->allocator, CHUNK);
  cst_status status =
      chunk != NULL ? compare_input(&c, input, chunk, error) : cst__fail_memory(error, CHUNK);
  cst__delete(chunk);
  cst__input_close(input);
  if (status != CST_OK) {
    cst__error_add_file(error, text_path);
  }
  return status;
}
