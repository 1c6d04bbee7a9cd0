/* A CSV file, block by block: runs of rows, the header, faults, and where everything stands.
 */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "format/csv/csv.h"

enum { FIRST_HEADER_CELLS = 64, MIN_BLOCK = 16 };

/* Reads on: what is left of the block moves to its begin, and `last` tells that nothing came. */
static cst_status csv_file_fill(cst__csv_file *f, cst_error *error) {
  f->lines.number += (int64_t)cst__csv_count_lines(f->block + f->lines.at, f->at - f->lines.at,
                                                   &f->lines.after_cr);
  f->size -= f->at;
  f->block_offset += f->at;
  memmove(f->block, f->block + f->at, f->size);
  f->at = 0;
  f->lines.at = 0;
  if (f->size > f->capacity / 2) {
    size_t capacity = f->size * 2 + f->block_size;
    uint8_t *block = cst__renew(&f->allocator, f->block, capacity + CST__CSV_PADDING);
    if (block == NULL) {
      return cst__fail_memory(error, capacity);
    }
    f->block = block;
    f->capacity = capacity;
  }
  size_t got = 0;
  cst_status status =
      cst__input_read(f->input, f->block + f->size, f->capacity - f->size, &got, error);
  if (status == CST_OK) {
    f->last = got == 0;
    f->size += got;
    memset(f->block + f->size, 0, CST__CSV_PADDING);
  }
  return status;
}

static cst_status pass_mark(cst__csv_file *f, cst_error *error) {
  while (f->size < CST__UTF8_MARK && !f->last) {
    CST__TRY(csv_file_fill(f, error));
  }
  f->at = cst__utf8_mark_size(f->block, f->size);
  return CST_OK;
}

static cst_status pass_lines(cst__csv_file *f, uint64_t lines, cst_error *error) {
  while (lines > 0) {
    if (f->at == f->size) {
      if (f->last) {
        break;
      }
      CST__TRY(csv_file_fill(f, error));
      continue;
    }
    uint8_t byte = f->block[f->at++];
    bool is_end = byte == '\r' || (byte == '\n' && !f->after_cr);
    f->after_cr = byte == '\r';
    lines -= is_end;
  }
  return CST_OK;
}

static cst__csv_file csv_file_of(const char *name, const cst__csv_file_options *options,
                                 const cst_allocator *allocator) {
  const size_t most = CST__CSV_SIZE - CST__CSV_PADDING;
  return (cst__csv_file){
      .allocator = *allocator,
      .dialect = options->dialect,
      .name = name,
      .block_size = options->block_size,
      .lines = {.number = 1},
      .max_row_size = options->max_row_size < most ? (size_t)options->max_row_size : most};
}

/* Goes to the first row; a file that fails is closed. */
static cst_status csv_file_begin(cst__csv_file *file, uint64_t skip_lines, cst_error *error) {
  cst_status status = pass_mark(file, error);
  if (status == CST_OK) {
    status = pass_lines(file, skip_lines, error);
  }
  if (status != CST_OK) {
    cst__error_add_file(error, file->name);
    cst__csv_file_close(file);
  }
  return status;
}

cst_status cst__csv_file_open(cst__csv_file *file, cst__input *input,
                              const cst__csv_file_options *options, const cst_allocator *allocator,
                              cst_error *error) {
  const size_t size = options->block_size;
  *file = csv_file_of(cst__input_name(input), options, allocator);
  file->input = input;
  file->capacity = size < MIN_BLOCK ? MIN_BLOCK : size;
  file->block = cst__new(&file->allocator, file->capacity + CST__CSV_PADDING);
  if (file->block == NULL) {
    (void)cst__fail_memory(error, file->capacity);
    cst__error_add_file(error, file->name);
    cst__csv_file_close(file);
    return CST_NO_MEMORY;
  }
  return csv_file_begin(file, options->skip_lines, error);
}

cst_status cst__csv_file_open_text(cst__csv_file *file, const cst__table_text *text,
                                   const char *name, const cst__csv_file_options *options,
                                   const cst_allocator *allocator, cst_error *error) {
  *file = csv_file_of(name, options, allocator);
  file->block = (uint8_t *)(uintptr_t)text->data; /* of the last block nothing is written */
  file->size = file->capacity = text->size;
  file->last = true;
  return csv_file_begin(file, options->skip_lines, error);
}

void cst__csv_file_close(cst__csv_file *file) {
  cst__delete(file->rows.cells);
  cst__delete(file->rows.begins);
  if (file->input != NULL) {
    cst__delete(file->block);
    cst__input_close(file->input);
  }
  *file = (cst__csv_file){0};
}

/* ---- runs ---- */

static cst__csv_scan scan_of(cst__csv_file *f, size_t max_rows) {
  return (cst__csv_scan){.dialect = &f->dialect,
                         .data = f->block,
                         .size = f->size,
                         .last = f->last,
                         .width = f->width,
                         .max_rows = max_rows < f->rows.max ? max_rows : f->rows.max,
                         .max_row_size = f->max_row_size,
                         .cells = f->rows.cells,
                         .begins = f->rows.begins,
                         .at = f->at,
                         .after_cr = f->after_cr};
}

/* Scans until there is a row, a fault or the end. */
static cst_status scan_on(cst__csv_file *f, bool any, size_t max_rows, cst__csv_scan *scan,
                          cst_error *error) {
  for (;;) {
    *scan = scan_of(f, max_rows);
    scan->any = any;
    cst__csv_scan_rows(scan);
    if (scan->rows > 0 || scan->fault.kind != CST__CSV_FINE) {
      return CST_OK;
    }
    f->at = scan->at;
    f->after_cr = scan->after_cr;
    if (f->last) {
      return CST_OK;
    }
    if (f->size - f->at > f->max_row_size) {
      scan->fault =
          (cst__csv_fault){.kind = CST__CSV_TOO_LONG, .begin = f->at, .end = f->size, .at = f->at};
      return CST_OK;
    }
    cst_status status = csv_file_fill(f, error);
    if (status != CST_OK) {
      cst__error_add_file(error, f->name);
      cst__error_add_record(error, f->record, (int64_t)f->block_offset);
      return status;
    }
  }
}

static void give_fault(cst__csv_file *f, cst__csv_run *run) {
  run->fault = f->pending;
  run->data = f->block;
  run->record = f->record++;
  f->ended = run->fault.kind >= CST__CSV_UNCLOSED;
  f->pending = (cst__csv_fault){.kind = CST__CSV_FINE};
}

cst_status cst__csv_file_next(cst__csv_file *file, size_t max_rows, cst__csv_run *run,
                              cst_error *error) {
  *run = (cst__csv_run){.width = file->width};
  if (file->pending.kind == CST__CSV_FINE && !file->ended) {
    cst__csv_scan scan;
    CST__TRY(scan_on(file, false, max_rows, &scan, error));
    file->at = scan.at;
    file->after_cr = scan.after_cr;
    file->pending = scan.fault;
    run->data = file->block;
    run->cells = file->rows.cells;
    run->begins = file->rows.begins;
    run->rows = scan.rows;
    run->record = file->record;
    file->record += (int64_t)scan.rows;
  }
  if (run->rows == 0 && file->pending.kind != CST__CSV_FINE) {
    give_fault(file, run);
  }
  return CST_OK;
}

cst_status cst__csv_file_pass_rest(cst__csv_file *file, const cst__csv_fault *fault,
                                   uint64_t *bytes, cst_error *error) {
  *bytes = file->size - fault->begin;
  file->at = file->size;
  while (!file->last) {
    CST__TRY(csv_file_fill(file, error));
    *bytes += file->size;
    file->at = file->size;
  }
  return CST_OK;
}

/* ---- the shape of the rows ---- */

static cst_status set_room(cst__csv_file *f, size_t width, size_t rows, cst_error *error) {
  size_t count;
  size_t bytes;
  f->width = width;
  f->rows.max = rows;
  cst__delete(f->rows.cells);
  cst__delete(f->rows.begins);
  f->rows.begins = NULL;
  f->rows.cells = NULL;
  if (cst__mul(width, rows, &count) && cst__mul(count + 1, sizeof(cst__csv_cell), &bytes)) {
    f->rows.cells = cst__new(&f->allocator, bytes);
    f->rows.begins = cst__new(&f->allocator, rows * sizeof *f->rows.begins);
  }
  return f->rows.cells == NULL || f->rows.begins == NULL ? cst__fail_memory(error, width * rows)
                                                         : CST_OK;
}

/* At least so many rows, as far as so many cells have room for them. */
static size_t rows_at_least(size_t rows, size_t least, size_t most_cells, size_t width) {
  if (rows >= least) {
    return rows;
  }
  const size_t most = most_cells / width;
  return most < least ? most : least;
}

/* As many rows at a time as stay in the nearest cache while one column after the other is read; but
 * enough of them that what a column costs once per run does not count, and a few where rows are
 * very wide. */
cst_status cst__csv_file_set_width(cst__csv_file *file, size_t width, cst_error *error) {
  enum { NEAR_CELLS = 1 << 11, CELLS = 1 << 14, MOST_CELLS = 1 << 21 };
  enum { MOST_ROWS = 1 << 11, MANY_ROWS = 1 << 7, FEW_ROWS = 1 << 4 };
  size_t rows = MOST_ROWS;
  if (width > 0) {
    rows = rows_at_least(NEAR_CELLS / width, MANY_ROWS, CELLS, width);
    rows = rows_at_least(rows, FEW_ROWS, MOST_CELLS, width);
  }
  return set_room(file, width, rows > 0 ? rows : 1, error);
}

/* ---- the header ---- */

void cst__csv_header_reset(cst__csv_header *header) {
  for (size_t i = 0; header->names != NULL && i < header->count; i++) {
    cst__delete(header->names[i]);
  }
  cst__delete(header->names);
  *header = (cst__csv_header){0};
}

static cst_status csv_file_copy_name(cst__csv_file *f, const cst__csv_cell *cell, char **out,
                                     cst_error *error) {
  const uint8_t *text = f->block + cell->begin;
  size_t size = cell->size & CST__CSV_SIZE;
  if (!cst__utf8_valid(text, size) || memchr(text, 0, size) != NULL) {
    return cst__fail(error, CST_SCHEMA, "name the columns yourself and skip the line (skip_lines)",
                     "a name in the header is not valid UTF-8 or contains a NUL byte");
  }
  *out = cst__new_copy(&f->allocator, text, size);
  if (*out == NULL) {
    return cst__fail_memory(error, size);
  }
  if (cell->size & CST__CSV_DOUBLED) {
    (*out)[cst__csv_undouble((uint8_t *)*out, text, size)] = '\0';
  }
  return CST_OK;
}

static cst_status csv_file_copy_names(cst__csv_file *f, size_t count, cst__csv_header *header,
                                      cst_error *error) {
  header->names = cst__new_zero(&f->allocator, count * sizeof *header->names);
  if (header->names == NULL) {
    return cst__fail_memory(error, count * sizeof *header->names);
  }
  header->count = count;
  for (size_t i = 0; i < count; i++) {
    cst_status status = csv_file_copy_name(f, &f->rows.cells[i], &header->names[i], error);
    if (status != CST_OK) {
      cst__csv_add_place(f, -1, f->rows.begins[0], f->rows.cells[i].begin, error);
      return status;
    }
  }
  return CST_OK;
}

static cst_status header_fault(cst__csv_file *f, cst__csv_scan *scan, cst_error *error) {
  cst__csv_run run = {.data = f->block, .record = -1, .fault = scan->fault};
  if (scan->fault.kind != CST__CSV_FINE) {
    return cst__csv_fault_error(f, &run, error);
  }
  cst__fail(error, CST_SCHEMA, "give the names of the columns",
            "the file has no header: it ends before the line of names");
  cst__error_add_file(error, f->name);
  return CST_SCHEMA;
}

cst_status cst__csv_file_header(cst__csv_file *file, cst__csv_header *header, cst_error *error) {
  *header = (cst__csv_header){0};
  CST__TRY(set_room(file, FIRST_HEADER_CELLS, 1, error));
  cst__csv_scan scan;
  CST__TRY(scan_on(file, true, 1, &scan, error));
  if (scan.rows > 0 && scan.num_cells > file->width) {
    CST__TRY(set_room(file, scan.num_cells, 1, error));
    CST__TRY(scan_on(file, true, 1, &scan, error));
  }
  if (scan.rows == 0) {
    return header_fault(file, &scan, error);
  }
  cst_status status = csv_file_copy_names(file, scan.num_cells, header, error);
  if (status != CST_OK) {
    cst__csv_header_reset(header);
  }
  file->at = scan.at;
  file->after_cr = scan.after_cr;
  return status;
}

/* ---- errors ---- */

void cst__csv_add_place(cst__csv_file *file, int64_t record, size_t begin, size_t at,
                        cst_error *error) {
  if (error == NULL) {
    return;
  }
  const uint8_t *block = file->block;
  if (begin > file->lines.at) {
    file->lines.number += (int64_t)cst__csv_count_lines(
        block + file->lines.at, begin - file->lines.at, &file->lines.after_cr);
    file->lines.at = begin;
  }
  bool cr = false;
  int64_t line = file->lines.number + (int64_t)cst__csv_count_lines(block + begin, at - begin, &cr);
  size_t start = at;
  while (start > begin && block[start - 1] != '\n' && block[start - 1] != '\r') {
    start--;
  }
  cst__error_add_file(error, file->name);
  cst__error_add_record(error, record, (int64_t)(file->block_offset + begin));
  cst__error_add_position(error, line, (int64_t)(at - start) + 1);
}

static cst_status csv_file_say_fault(const cst__csv_file *f, const cst__csv_fault *fault,
                                     cst_error *error) {
  switch (fault->kind) {
    case CST__CSV_TEXT:
      return cst__fail(error, CST_CORRUPT, "double a quote that belongs to the text",
                       "text after the closing quote of a cell");
    case CST__CSV_UNCLOSED:
      return cst__fail(error, CST_CORRUPT, "close it, or double it if it belongs to the text",
                       "an opening quote is never closed");
    case CST__CSV_TOO_LONG:
      return cst__fail(error, CST_LIMIT, "look for an unclosed quote, or raise max_record_size",
                       "a row has more than %zu bytes", f->max_row_size);
    default:
      return cst__fail(error, CST_CORRUPT, "check the delimiter",
                       "a row of %zu cell%s, expected %zu columns", fault->num_cells,
                       fault->num_cells == 1 ? "" : "s", f->width);
  }
}

cst_status cst__csv_fault_error(cst__csv_file *file, const cst__csv_run *run, cst_error *error) {
  cst_status status = csv_file_say_fault(file, &run->fault, error);
  cst__csv_add_place(file, run->record, run->fault.begin, run->fault.at, error);
  return status;
}
