/* A table format: a tabular format that is built in, whose files are read as columns and not as
 * records. One table per format, one file or a few each (csv_*.c, json_*.c, arrow_reader.c).
 *
 * A source first makes one plan, which finds the columns and may read all of the files for it, and
 * then a reader per pass.
 */
#ifndef FORMAT_TABLE_H
#define FORMAT_TABLE_H

#include <columnstone/arrow_abi.h>
#include <columnstone/source.h>

#include "base/error.h"
#include "format/table/dropped.h"
#include "io/input.h"

/* What is read of a file. */
typedef struct cst__table_range {
  uint64_t begin; /* a byte that `find_begin` has found, or 0, */
  uint64_t end;   /* and another one; 0: the file's end */
  int64_t record; /* number of the first record; -1: not known */
} cst__table_range;

/* A stretch of a file's text, decompressed, that begins with a record. 64 readable bytes follow,
 * which are zero. */
typedef struct cst__table_text {
  const uint8_t *data;
  size_t size;
  bool begins; /* the file begins with it, */
  bool ends;   /* and ends with it */
} cst__table_text;

/* The files of a source. */
typedef struct cst__table_files {
  size_t count;
  /* All of the i-th, which lies in memory until the next one is asked for. NULL: `open` opens it.
   */
  cst__table_text (*text)(void *ctx, size_t i);
  /* Opens the i-th from its start: whoever opens it closes it. A pipe's bytes that a plan has taken
   * come again for the one reader. */
  cst_status (*open)(void *ctx, size_t i, cst__input **out, cst_error *error);
  const char *(*name)(void *ctx, size_t i);
  /* The first one that the source was opened with: files that bring a schema are all read as by
   * its. NULL: that of number 0. */
  cst_status (*open_first)(void *ctx, cst__input **out, cst_error *error);
  /* NULL: all of each. Only a format with `find_begin` is asked to read less. */
  cst__table_range (*range)(void *ctx, size_t i);
  void *ctx;
  uint64_t bytes; /* of all files as they lie on disk; 0: not known */
  bool rereadable;
  int64_t sample_rows;   /* the plan looks at no more rows (INT64_MAX: all), */
  uint64_t sample_bytes; /* and at no more bytes */
} cst__table_files;

/* A record (line, row) that is dropped under CST_ON_ERROR_SKIP; false: stop with *error, which is
 * filled (CST_LIMIT, CST_CALLBACK). */
typedef cst_status (*cst__table_drop)(void *ctx, const cst__dropped *dropped, cst_error *error);

typedef struct cst__table_options {
  const cst_schema *schema;        /* or NULL */
  const struct ArrowSchema *types; /* or NULL */
  const char *const *columns;      /* wanted ones in their order; NULL: all */
  size_t num_columns;
  int64_t batch_size; /* rows of every batch but the last, across files; > 0 */
  int32_t threads;    /* that may be used, the caller's included; the result does not depend on it
                       */
  uint32_t column_flags;      /* CST_COLUMNS_...: for the columns that a schema gives */
  const void *format_options; /* as the format's table sets them; NULL: it has none */
  uint64_t max_record_size;   /* bytes of one row; beyond it CST_LIMIT */
  uint64_t max_inflation;     /* of what a file of columns becomes; see cst_source_options */
  bool skip;                  /* CST_ON_ERROR_SKIP */
  const char *raw_column;     /* NULL: none; else the format has_raw */
  const cst_allocator *allocator;
} cst__table_options;

/* Where a file is to be divided. */
typedef struct cst__table_cut {
  uint64_t from;
  uint64_t end;             /* of what is divided; UINT64_MAX: the file's, which is not known */
  uint64_t max_record_size; /* as in the options */
  const cst_allocator *allocator;
} cst__table_cut;

/* What is read of a plan's files, and what with. */
typedef struct cst__table_reading {
  const cst__table_files *files; /* parts of them, for a format with `cut`; NULL: the plan's. More
                                    may come between two calls of `next` */
  int64_t batch_size;            /* 0: the plan's */
  cst__table_drop drop;          /* set if the options say skip */
  void *drop_ctx;
} cst__table_reading;

typedef struct cst__table_format {
  const char *name;
  /* True if a (decompressed) file that begins with these bytes (up to 64) is surely of this format;
   * NULL: it cannot be told. */
  bool (*sniff)(const uint8_t *head, size_t size);

  /* Finds the columns: *schema (a struct) is that of all batches. The plan is immutable, shared by
   * readers of many threads, and borrows the files but nothing of the options. Errors name file,
   * record (the row or line, 0-based) and offset where they know them. CST_NOT_FOUND with `path`
   * for a wanted column that there is not. */
  cst_status (*plan)(const cst__table_files *files, const cst__table_options *options, void **plan,
                     struct ArrowSchema *schema, cst_error *error);
  void (*plan_free)(void *plan);

  /* A reader from the first file on; used by one thread at a time. Borrows the reading's files. */
  cst_status (*open)(const void *plan, const cst__table_reading *reading, void **reader,
                     cst_error *error);
  /* The next batch (a struct array); out->release is NULL at the end. Batches are ours: valid, with
   * buffers of their own. A failure comes after the rows before it that fill a batch. */
  cst_status (*next)(void *reader, struct ArrowArray *out, cst_error *error);
  /* What the files read so far have to tell of that is not a failure, one by one and each once:
   * true, the file's number, and the warning, which names it. NULL: there is never anything. */
  bool (*warning)(void *reader, size_t *file, cst_error *warning);
  /* The number of the file that the last batch is from. NULL: a batch may be of several. */
  size_t (*file)(const void *reader);
  /* The first byte of [from, end) at which what is read of a plain file may begin or end, or `end`.
   * Depends on the bytes of the file only. The input is that of the file, at its start. CST_STATE
   * if a file ends before `from`. NULL: files are not divided. */
  cst_status (*find_begin)(cst__input *input, const cst__table_cut *cut, uint64_t *out,
                           cst_error *error);
  /* For text that several threads read, each a part of a file as if it were a file (text_crew.h):
   * where the last record of the text ends; 0: none does. SIZE_MAX: this cannot be told, or as a
   * file such a part would be read as something else. NULL: one thread reads all. */
  size_t (*cut)(const void *plan, const cst__table_text *text);
  /* So many bytes at the begin of a file have to come before the records of each of its parts. The
   * file is the only one of `files`, and may be cut short anywhere after these. NULL: none. */
  cst_status (*preamble)(const void *plan, const cst__table_files *files, uint64_t *size,
                         cst_error *error);
  /* Bytes taken from the files so far, as they lie on disk. */
  uint64_t (*consumed)(const void *reader);
  void (*close)(void *reader);
  /* True if `next` gives batches as the file has them, of any size: they are cut and joined then.
   */
  bool any_size;
  bool threads_any_size; /* the same where the options allow several threads */
  bool is_text;          /* its files are text */
  bool has_raw;          /* a last column may hold the bytes of each record */
} cst__table_format;

extern const cst__table_format cst__csv_table;
extern const cst__table_format cst__json_table;
extern const cst__table_format cst__arrow_table;
extern const cst__table_format cst__avro_table;

#endif /* FORMAT_TABLE_H */
