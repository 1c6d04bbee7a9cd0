/* What the files of the CSV reader share: scan.c finds rows and cells in a block of text,
 * file.c reads a file in such blocks, csv_number.h reads numbers, csv_infer.c finds the types
 * of columns, csv_plan.c settles what is read, csv_rows.c makes rows of cells, csv_table.c is the
 * table.
 *
 * Source: RFC 4180, and where that is silent the default dialect of Python's csv module: a quote
 * counts only at the start of a cell. Other than there, text after a closing quote and a quote
 * that is never closed are faults.
 */
#ifndef FORMAT_CSV_CSV_H
#define FORMAT_CSV_CSV_H

#include "arrow/type.h"
#include "base/hash.h"
#include "format/csv/csv_number.h"
#include "format/csv/csv_options.h"
#include "format/table/table.h"

/* ---- rows and cells: scan.c ---- */

typedef struct cst__csv_dialect {
  uint8_t delimiter;
  uint8_t secondary; /* between the values of a multivalent cell */
  int comment;       /* -1: none */
  bool keep_blank;
} cst__csv_dialect;

/* One cell of a block: its text without the quotes around it. */
typedef struct cst__csv_cell {
  uint32_t begin; /* within the block */
  uint32_t size;  /* and the flags */
} cst__csv_cell;

#define CST__CSV_QUOTED UINT32_C(0x80000000)
#define CST__CSV_DOUBLED UINT32_C(0x40000000) /* quotes in it stand doubled */
#define CST__CSV_SIZE UINT32_C(0x3fffffff)

typedef enum cst__csv_fault_kind {
  CST__CSV_FINE,
  CST__CSV_CELLS,    /* a wrong number of cells */
  CST__CSV_TEXT,     /* text after a closing quote */
  CST__CSV_UNCLOSED, /* up to the end of the file */
  CST__CSV_TOO_LONG  /* up to the end of the file: where the row ends is not known */
} cst__csv_fault_kind;

/* A row that does not belong to the table. */
typedef struct cst__csv_fault {
  cst__csv_fault_kind kind;
  size_t begin;     /* of the row, within the block */
  size_t end;       /* after it */
  size_t at;        /* the byte that is wrong */
  size_t num_cells; /* that it has */
} cst__csv_fault;

enum { CST__CSV_PADDING = 64 /* readable bytes after every block, zero at first */ };

/* A walk over a block. */
typedef struct cst__csv_scan {
  const cst__csv_dialect *dialect;
  const uint8_t *data;
  size_t size;
  bool last;    /* the file ends with the block */
  bool any;     /* rows may have any number of cells; those that go beyond `width` are not kept */
  size_t width; /* cells of a row */
  size_t max_rows;
  size_t max_row_size;
  cst__csv_cell *cells; /* room for max_rows * width */
  uint32_t *begins;     /* of each row; room for max_rows */
  size_t at;            /* in, out: where the next row begins */
  bool after_cr;        /* in, out: a LF there belongs to the row in front */
  size_t rows;          /* out */
  size_t num_cells;     /* out: of the last row */
  cst__csv_fault fault; /* out: after these rows */
} cst__csv_scan;

/* Finds rows until max_rows, a fault, or a row that does not end in the block (the last block's
 * last row needs no line end). Blank lines and comments are passed over. */
void cst__csv_scan_rows(cst__csv_scan *scan);

/* Which of 64 bytes end a cell or row, and which are quotes. */
typedef struct cst__csv_masks {
  uint64_t ends;
  uint64_t quotes;
} cst__csv_masks;

/* As the scan finds them on this machine, and byte by byte; both give the same. */
cst__csv_masks cst__csv_find_masks(const uint8_t *data, uint8_t delimiter);
cst__csv_masks cst__csv_find_masks_plain(const uint8_t *data, uint8_t delimiter);

/* The lines that end in data; *cr says whether the byte before it was CR, and then whether the
 * last one is. */
size_t cst__csv_count_lines(const uint8_t *data, size_t size, bool *cr);

/* Copies the text of a cell with doubled quotes, singles them; returns the size. */
size_t cst__csv_undouble(uint8_t *to, const uint8_t *text, size_t size);

/* One value of a multivalent cell, which is CSV itself, with the secondary delimiter. `text` is
 * without doubled quotes. Returns false if a quote in it is wrong; else *at moves past the value
 * and its delimiter, beyond `size` after the last one. */
bool cst__csv_next_value(const uint8_t *text, size_t size, uint8_t secondary, size_t *at,
                         cst__csv_cell *value);

/* ---- a file: file.c ---- */

/* Up to where lines are counted. */
typedef struct cst__csv_lines {
  int64_t number;
  size_t at; /* in the block */
  bool after_cr;
} cst__csv_lines;

typedef struct cst__csv_file {
  cst_allocator allocator;
  cst__csv_dialect dialect;
  cst__input *input; /* NULL: the block is borrowed, and all of the text */
  const char *name;  /* borrowed */
  uint8_t *block;
  size_t block_size; /* bytes to read at a time */
  size_t capacity;
  size_t size; /* bytes in the block */
  size_t at;   /* of the next row */
  bool last;   /* the input's end is in the block */
  bool after_cr;
  bool ended;            /* after a fault that goes on up to the end */
  uint64_t block_offset; /* of the block within the stream */
  int64_t record;        /* the next row's number */
  cst__csv_lines lines;
  size_t max_row_size;
  size_t width;
  struct {
    size_t max;
    cst__csv_cell *cells;
    uint32_t *begins;
  } rows;                 /* of a run */
  cst__csv_fault pending; /* comes with the next call */
} cst__csv_file;

/* Rows of a file, or a fault, or neither: the end. Valid until the next call. */
typedef struct cst__csv_run {
  const uint8_t *data;
  cst__csv_cell *cells; /* rows * width */
  uint32_t *begins;
  size_t rows;
  size_t width;
  int64_t record; /* of the first row */
  cst__csv_fault fault;
} cst__csv_run;

typedef struct cst__csv_header {
  char **names; /* cst__delete each, or cst__csv_header_reset */
  size_t count;
} cst__csv_header;

/* How a file is read. */
typedef struct cst__csv_file_options {
  cst__csv_dialect dialect;
  uint64_t skip_lines;
  size_t block_size;
  uint64_t max_row_size;
} cst__csv_file_options;

/* Takes the input over, on success and failure. Passes over a byte order mark and the first
 * lines. */
cst_status cst__csv_file_open(cst__csv_file *file, cst__input *input,
                              const cst__csv_file_options *options, const cst_allocator *allocator,
                              cst_error *error);
/* The same for a text in memory, which is borrowed until close. */
cst_status cst__csv_file_open_text(cst__csv_file *file, const cst__table_text *text,
                                   const char *name, const cst__csv_file_options *options,
                                   const cst_allocator *allocator, cst_error *error);
/* Zero-initialised storage is allowed. */
void cst__csv_file_close(cst__csv_file *file);
/* The line of names. */
cst_status cst__csv_file_header(cst__csv_file *file, cst__csv_header *header, cst_error *error);
void cst__csv_header_reset(cst__csv_header *header);
/* Says how many cells a row has; once, before the first next. */
cst_status cst__csv_file_set_width(cst__csv_file *file, size_t width, cst_error *error);
cst_status cst__csv_file_next(cst__csv_file *file, size_t max_rows, cst__csv_run *run,
                              cst_error *error);
/* Reads the rest of the file after a fault that goes up to its end; *bytes is its size. */
cst_status cst__csv_file_pass_rest(cst__csv_file *file, const cst__csv_fault *fault,
                                   uint64_t *bytes, cst_error *error);
/* Fills the error of a fault, its place included; returns its status. */
cst_status cst__csv_fault_error(cst__csv_file *file, const cst__csv_run *run, cst_error *error);
/* Adds file, record, offset, and the line and column of the byte `at` to the error of a row that
 * begins at `begin`. Rows have to come in their order. */
void cst__csv_add_place(cst__csv_file *file, int64_t record, size_t begin, size_t at,
                        cst_error *error);

/* ---- the plan: csv_plan.c, csv_infer.c ---- */

typedef struct cst__csv_column {
  const char *name;    /* one of the plan's names */
  size_t source;       /* its number among them */
  cst__type *type;     /* a value, or a list of such; not nullable: an empty cell is an error */
  bool is_multivalent; /* a list: a cell holds several values */
} cst__csv_column;

/* The type of a value, or of the items of a list. */
static inline const cst__type *cst__csv_value_type(const cst__csv_column *column) {
  return column->type->num_children > 0 ? &column->type->children[0] : column->type;
}

/* "int64", "string", for messages. */
const char *cst__csv_type_name(const cst__type *type);

typedef struct cst__csv_plan {
  cst_allocator allocator;
  cst__arena arena;
  const cst__table_files *files;
  cst__csv_dialect dialect;
  bool has_header;
  uint64_t skip_lines;
  const char **names; /* of the columns of the files, in the order of the first */
  size_t num_names;
  cst__name_map name_map;
  bool *is_multivalent; /* of each */
  cst__type type;       /* of the rows: a struct of the columns, and of the raw one */
  cst__csv_column *columns;
  size_t num_columns;
  const char *raw_column; /* the rows' last column, which is none of these: their text; or NULL */
  int64_t batch_size;
  uint64_t max_record_size;
  size_t block_size;
  bool skip;
  bool is_inferred;
  bool is_sampled; /* inferred from the begin of the input */
} cst__csv_plan;

cst_status cst__csv_find_dialect(const cst__csv_options *csv, const char *path,
                                 cst__csv_dialect *out, cst_error *error);

cst_status cst__csv_plan_new(const cst__table_files *files, const cst__table_options *options,
                             void **out, struct ArrowSchema *schema, cst_error *error);
void cst__csv_plan_free(void *plan);

/* The block size that plans begin with from here on; for tests. 0: the usual one. */
void cst__csv_set_block_size(size_t size);

/* Opens the i-th of the files past its header, which has to have the plan's names; source[i]
 * (num_names) is the number of the plan's i-th name in it. */
cst_status cst__csv_plan_open(const cst__csv_plan *plan, const cst__table_files *files, size_t i,
                              cst__csv_file *file, size_t *source, cst_error *error);

/* As a table format says them: a part of a file has the line of names, too. */
size_t cst__csv_cut(const void *plan, const cst__table_text *text);
cst_status cst__csv_preamble(const void *plan, const cst__table_files *files, uint64_t *size,
                             cst_error *error);

/* Reads all files (or the sample): seen[i] gets what the i-th name's cells show, for the names that
 * are columns of the plan. `first` is the first file past its header, if it is open; it is closed
 * here. No file is opened twice, as a pipe cannot be. */
cst_status cst__csv_infer(const cst__csv_plan *plan, cst__csv_file *first, unsigned *seen,
                          cst_error *error);
/* The same of all files by several threads; *sound is false if it has to be done by one. */
cst_status cst__csv_infer_by_many(const cst__csv_plan *plan, int32_t threads, unsigned *seen,
                                  bool *sound, cst_error *error);
/* The format of the type that holds all of these. */
const char *cst__csv_format_seen(unsigned seen);

/* ---- rows: csv_rows.c ---- */

typedef struct cst__csv_rows cst__csv_rows;

/* A cell that does not fit its column. */
typedef struct cst__csv_misfit {
  uint32_t column; /* 1-based; 0: none */
  uint32_t at;     /* the cell's text within the block */
  uint32_t size;
  uint32_t row_end;
  bool is_null; /* in a column without nulls */
} cst__csv_misfit;

/* `most`: rows that a batch will have. */
cst_status cst__csv_rows_new(const cst__csv_plan *plan, int64_t most, cst__csv_rows **out,
                             cst_error *error);
void cst__csv_rows_free(cst__csv_rows *rows);
int64_t cst__csv_rows_count(const cst__csv_rows *rows);
/* Appends the rows of a run. Those that do not fit are not appended: misfits[row] (as many as a run
 * may have, zero at first) says why, and they are taken out of the run; *num_misfits counts them.
 * Without `skip` nothing is appended then. */
cst_status cst__csv_rows_append(cst__csv_rows *rows, cst__csv_run *run, const size_t *source,
                                cst__csv_misfit *misfits, size_t *num_misfits, cst_error *error);
/* The rows so far, as a batch; afterwards there are none, also on failure. */
cst_status cst__csv_rows_finish(cst__csv_rows *rows, struct ArrowArray *out, cst_error *error);

#endif /* FORMAT_CSV_CSV_H */
