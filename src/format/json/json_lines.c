/* Records of JSON lines as a stream: blocks in, lines out; or the elements of a file that is one
 * list. */
#include <string.h>

#include "base/utf8.h"
#include "format/json/json.h"

void cst__json_lines_init(cst__json_lines *lines, const cst__table_files *files,
                          uint64_t max_record, const cst_allocator *allocator) {
  *lines = (cst__json_lines){.files = files,
                             .allocator = cst__allocator_of(allocator),
                             .max_record = max_record,
                             .block = CST__JSON_BLOCK};
}

static void lines_close_file(cst__json_lines *lines) {
  lines->data = NULL;
  if (lines->input != NULL) {
    lines->taken += cst__input_consumed(lines->input);
    cst__input_close(lines->input);
    lines->input = NULL;
  }
}

void cst__json_lines_reset(cst__json_lines *lines) {
  lines_close_file(lines);
  cst__buffer_free(&lines->allocator, &lines->buffer);
}

/* ---- bytes ---- */

static uint8_t byte_at(const cst__json_lines *lines) { return lines->data[lines->begin]; }

/* Takes bytes away, which hold no end of a line. */
static void lines_take(cst__json_lines *lines, size_t size) {
  lines->begin += size;
  lines->offset += size;
}

/* One block more after what is not taken yet. */
static cst_status lines_fill(cst__json_lines *lines, cst_error *error) {
  size_t live = lines->end - lines->begin;
  size_t got;
  if (lines->begin > 0) {
    memmove(lines->buffer.data, lines->buffer.data + lines->begin, live);
    lines->begin = 0;
    lines->end = live;
  }
  if (!cst__buffer_reserve(&lines->allocator, &lines->buffer, live + lines->block + CST__JSON_SLACK,
                           live)) {
    return cst__fail_memory(error, live + lines->block);
  }
  lines->data = lines->buffer.data;
  CST__TRY(cst__input_read(lines->input, lines->buffer.data + live, lines->block, &got, error));
  lines->end = live + got;
  memset(lines->buffer.data + lines->end, 0, CST__JSON_SLACK);
  lines->at_end = got == 0; /* a short block may stand before a failure */
  return CST_OK;
}

static cst_status lines_open_file(cst__json_lines *lines, cst_error *error) {
  const cst__table_files *files = lines->files;
  lines->begin = lines->end = lines->size = 0;
  lines->offset = lines->line_begin = 0;
  lines->record = 0;
  lines->line = 1;
  lines->at_end = lines->list.is_one = lines->list.is_closed = lines->list.wants_comma =
      lines->is_cut = false;
  if (files->text != NULL) {
    const cst__table_text text = files->text(files->ctx, lines->file);
    lines->data = text.data;
    lines->end = text.size;
    lines->at_end = true;
  } else {
    CST__TRY(files->open(files->ctx, lines->file, &lines->input, error));
  }
  while (!lines->at_end && lines->end < CST__UTF8_MARK) {
    CST__TRY(lines_fill(lines, error));
  }
  lines_take(lines, cst__utf8_mark_size(lines->data, lines->end));
  lines->line_begin = lines->offset;
  return CST_OK;
}

/* Goes to the next byte that is not blank; false at the end of the file. */
static cst_status lines_skip_blanks(cst__json_lines *lines, bool *found, cst_error *error) {
  for (;;) {
    while (lines->begin < lines->end) {
      uint8_t c = byte_at(lines);
      if (!cst__json_is_blank(c)) {
        *found = true;
        return CST_OK;
      }
      lines_take(lines, 1);
      if (c == '\n') {
        lines->line++;
        lines->line_begin = lines->offset;
      }
    }
    if (lines->at_end) {
      *found = false;
      return CST_OK;
    }
    CST__TRY(lines_fill(lines, error));
  }
}

/* Goes past the record that was handed out last. */
static void leave_record(cst__json_lines *lines) {
  const uint8_t *at = lines->data + lines->begin;
  size_t size = lines->size;
  const uint8_t *newline;
  while (lines->list.is_one && size > 0 && (newline = memchr(at, '\n', size)) != NULL) {
    size_t step = (size_t)(newline - at) + 1;
    lines_take(lines, step);
    at += step;
    size -= step;
    lines->line++;
    lines->line_begin = lines->offset;
  }
  lines_take(lines, size);
  lines->size = 0;
}

/* ---- the end of a record ---- */

static bool find_line_end(cst__json_lines *lines, size_t *size) {
  const uint8_t *at = lines->data + lines->begin;
  size_t there = lines->end - lines->begin;
  const uint8_t *newline = memchr(at + lines->scanned.size, '\n', there - lines->scanned.size);
  lines->scanned.size = there;
  *size = newline != NULL ? (size_t)(newline - at) : there;
  return newline != NULL;
}

static bool is_open(uint8_t c) { return c == '{' || c == '['; }
static bool is_close(uint8_t c) { return c == '}' || c == ']'; }

/* Goes one byte on within a string; true if it ends there. */
static bool step_in_string(cst__json_lines *lines, uint8_t c) {
  if (lines->scanned.is_escaped) {
    lines->scanned.is_escaped = false;
  } else if (c == '\\') {
    lines->scanned.is_escaped = true;
  } else if (c == '"') {
    lines->scanned.in_string = false;
    return true;
  }
  return false;
}

/* The end of an element: where its brackets close, or before what ends a scalar. Whether they
 * are the right ones, the parser sees. */
static bool find_element_end(cst__json_lines *lines, size_t *size) {
  const uint8_t *at = lines->data + lines->begin;
  size_t there = lines->end - lines->begin;
  for (size_t i = lines->scanned.size; i < there; i++) {
    uint8_t c = at[i];
    if (lines->scanned.in_string) {
      size_t plain = lines->scanned.is_escaped ? 0 : cst__json_plain(at + i);
      if (plain > 0) {
        i += plain - 1;
        continue;
      }
      (void)step_in_string(lines, c);
    } else if (c == '"') {
      lines->scanned.in_string = true;
    } else if (is_open(c)) {
      lines->scanned.depth++;
    } else if (lines->scanned.depth == 0 && (c == ',' || is_close(c))) {
      *size = i;
      return true;
    } else if (is_close(c) && --lines->scanned.depth == 0) {
      *size = i + 1;
      return true;
    }
  }
  lines->scanned.size = there;
  *size = there;
  return false;
}

static bool find_end(cst__json_lines *lines, size_t *size) {
  return lines->list.is_one ? find_element_end(lines, size) : find_line_end(lines, size);
}

static cst_status add_place(const cst__json_lines *lines, cst_status status, cst_error *error) {
  cst__error_add_record(error, lines->record, (int64_t)lines->offset);
  cst__error_add_position(error, lines->line, (int64_t)(lines->offset - lines->line_begin) + 1);
  cst__error_add_file(error, lines->files->name(lines->files->ctx, lines->file));
  return status;
}

static cst_status fail_open_list(const cst__json_lines *lines, cst_error *error) {
  return add_place(lines,
                   cst__fail(error, CST_CORRUPT, "the file seems to be truncated",
                             "the file is one list without its end"),
                   error);
}

/* The record that begins here, whole. */
static cst_status find_record(cst__json_lines *lines, cst__json_record *out, cst_error *error) {
  size_t size;
  lines->scanned.size = lines->scanned.depth = 0;
  lines->scanned.in_string = lines->scanned.is_escaped = false;
  while (!find_end(lines, &size) && size <= lines->max_record) {
    if (lines->at_end && lines->list.is_one) {
      return fail_open_list(lines, error);
    }
    if (lines->at_end) {
      break;
    }
    CST__TRY(lines_fill(lines, error));
  }
  *out = (cst__json_record){.data = lines->data + lines->begin,
                            .size = size,
                            .file = lines->file,
                            .record = lines->record,
                            .offset = (int64_t)lines->offset,
                            .line = lines->line,
                            .column = (int64_t)(lines->offset - lines->line_begin) + 1,
                            .is_cut = size > lines->max_record};
  if (out->is_cut) {
    lines->is_cut = true;
    cst_status status = cst__fail(
        error, CST_LIMIT,
        "JSON lines have one object per line; raise max_record_size if lines are that long",
        "a record of more than %llu bytes", (unsigned long long)lines->max_record);
    return add_place(lines, status, error);
  }
  lines->size = size;
  lines->record++;
  return CST_OK;
}

/* Passes over as much as the buffer has, keeping the state of the search. */
static void drop_scanned(cst__json_lines *lines, size_t size) {
  lines->size = size;
  leave_record(lines);
  lines->scanned.size = 0;
}

cst_status cst__json_lines_pass_over(cst__json_lines *lines, cst__json_record *record,
                                     cst_error *error) {
  size_t size;
  record->size = 0;
  /* From the begin once more: what was searched may end within the part that was too long. */
  lines->scanned.size = lines->scanned.depth = 0;
  lines->scanned.in_string = lines->scanned.is_escaped = false;
  while (!find_end(lines, &size)) {
    record->size += size;
    drop_scanned(lines, size);
    if (lines->at_end) {
      size = 0;
      break;
    }
    CST__TRY(lines_fill(lines, error));
  }
  record->size += size;
  drop_scanned(lines, size);
  lines->is_cut = false;
  lines->record++;
  return CST_OK;
}

/* ---- a file that is one list ---- */

static cst_status fail_list(const cst__json_lines *lines, const char *what, cst_error *error) {
  return add_place(lines,
                   cst__fail(error, CST_CORRUPT, "JSON lines have one object per line",
                             "the file is one list, in which %s", what),
                   error);
}

/* Goes to the next element; *found is false after the list. */
static cst_status find_element(cst__json_lines *lines, bool *found, cst_error *error) {
  CST__TRY(lines_skip_blanks(lines, found, error));
  if (lines->list.is_closed) {
    return *found ? fail_list(lines, "something comes after the end", error) : CST_OK;
  }
  if (*found && byte_at(lines) == ']') {
    lines_take(lines, 1);
    lines->list.is_closed = true;
    return find_element(lines, found, error);
  }
  if (*found && lines->list.wants_comma) {
    if (byte_at(lines) != ',') {
      return fail_list(lines, "a comma is missing", error);
    }
    lines_take(lines, 1);
    CST__TRY(lines_skip_blanks(lines, found, error));
  }
  if (!*found) {
    return fail_open_list(lines, error);
  }
  if (byte_at(lines) == ',' || byte_at(lines) == ']') {
    return fail_list(lines, "an element is missing", error);
  }
  lines->list.wants_comma = true;
  return CST_OK;
}

/* Looks past the '[' with which a file begins: a list of objects, or a line that is not? */
static cst_status begins_list(cst__json_lines *lines, bool *is_list, cst_error *error) {
  *is_list = true;
  for (size_t i = 1; i <= lines->max_record; i++) {
    while (lines->begin + i >= lines->end) {
      if (lines->at_end) {
        return CST_OK;
      }
      CST__TRY(lines_fill(lines, error));
    }
    uint8_t c = lines->data[lines->begin + i];
    if (!cst__json_is_blank(c)) {
      *is_list = c == '{' || c == ']';
      return CST_OK;
    }
  }
  return CST_OK;
}

/* Goes to the next record of the file at hand; *found is false at its end. */
static cst_status find_begin(cst__json_lines *lines, bool *found, cst_error *error) {
  if (lines->list.is_one) {
    return find_element(lines, found, error);
  }
  CST__TRY(lines_skip_blanks(lines, found, error));
  if (*found && lines->record == 0 && byte_at(lines) == '[') {
    CST__TRY(begins_list(lines, &lines->list.is_one, error));
  }
  if (lines->list.is_one) {
    lines_take(lines, 1);
    return find_element(lines, found, error);
  }
  if (*found) {
    lines->record = lines->line - 1;
  }
  return CST_OK;
}

cst_status cst__json_lines_next(cst__json_lines *lines, cst__json_record *out, bool *done,
                                cst_error *error) {
  *done = false;
  for (; lines->file < lines->files->count; lines->file++) {
    bool found = false;
    cst_status status = CST_OK;
    if (lines->input == NULL && lines->data == NULL) {
      status = lines_open_file(lines, error);
    }
    if (status == CST_OK) {
      leave_record(lines);
      status = find_begin(lines, &found, error);
    }
    if (status == CST_OK && found) {
      status = find_record(lines, out, error);
    }
    if (status != CST_OK) {
      cst__error_add_file(error, lines->files->name(lines->files->ctx, lines->file));
      return status;
    }
    if (found) {
      return CST_OK;
    }
    lines_close_file(lines);
  }
  *done = true;
  return CST_OK;
}
