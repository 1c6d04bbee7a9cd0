/* The parts of the reader of JSON lines: records of a file, one parsed record, scalars, the types
 * of the columns, inference of them, and the rows of a batch.
 *
 * Flow: json_lines.c cuts the input into records, json_place.c has one parsed, json_infer.c
 * looks at all of them to find a tree of types (json_type.c makes it of a schema), and json_rows.c
 * appends them to the builders of these types; json_direct.c does the same without parsing, for
 * records that have nothing unusual. json_table.c drives it.
 */
#ifndef FORMAT_JSON_JSON_H
#define FORMAT_JSON_JSON_H

#include <columnstone/schema.h>

#include "arrow/builder.h"
#include "base/hash.h"
#include "format/table/table.h"
#include "text/json_document.h"
#include "text/json_token.h"

enum {
  CST__JSON_MAX_DEPTH = 100,  /* lists and objects in one another, the record's own counted */
  CST__JSON_BLOCK = 256 << 10 /* bytes read at a time */
};

/* ---- records: lines, or the elements of one list ---- */

typedef struct cst__json_record {
  const uint8_t *data; /* until the next record; NULs end the buffer (CST__JSON_SLACK) */
  size_t size;
  size_t file;    /* index of its file */
  int64_t record; /* lines: number of the line, 0-based; elements: theirs */
  int64_t offset; /* of the first byte, in the uncompressed stream */
  int64_t line;   /* of the first byte, 1-based */
  int64_t column; /* the same, in bytes */
  bool is_cut;    /* longer than may be: not all of it is there */
} cst__json_record;

/* The records of all files, one after the other. */
typedef struct cst__json_lines {
  const cst__table_files *files;
  cst_allocator allocator;
  uint64_t max_record;
  size_t block; /* bytes read at a time */

  size_t file;         /* index of the file at hand */
  const uint8_t *data; /* of it: the buffer, or all of a text in memory; NULL: nothing yet */
  cst__input *input;   /* NULL: there is such a text, or no file is open */
  bool at_end;         /* nothing comes after the data */
  struct {
    bool is_one; /* the file is one list */
    bool is_closed;
    bool wants_comma;
  } list;
  bool is_cut;     /* the rest of a record that is too long has to be passed over */
  int64_t record;  /* number of the next one */
  uint64_t offset; /* in the stream, of data[begin] */
  int64_t line;
  uint64_t line_begin; /* offset of the line's first byte */
  uint64_t taken;      /* bytes of the files that are closed, as they lie on disk */

  cst__buffer buffer;
  size_t begin;
  size_t end;
  size_t size; /* of the record handed out last */
  struct {
    size_t size;  /* bytes from `begin` on that hold no end of the record */
    size_t depth; /* within an element, after these bytes */
    bool in_string;
    bool is_escaped;
  } scanned;
} cst__json_lines;

/* Borrows the files. */
void cst__json_lines_init(cst__json_lines *lines, const cst__table_files *files,
                          uint64_t max_record, const cst_allocator *allocator);
void cst__json_lines_reset(cst__json_lines *lines);

/* The next record that is not blank; *done at the end of the last file. CST_LIMIT for one that is
 * too long (out->is_cut). The error has its place. */
cst_status cst__json_lines_next(cst__json_lines *lines, cst__json_record *out, bool *done,
                                cst_error *error);
/* Passes over the rest of a record that is too long, and adds it to record->size. */
cst_status cst__json_lines_pass_over(cst__json_lines *lines, cst__json_record *record,
                                     cst_error *error);

/* ---- one record, parsed ---- */

/* Parses an object; numbers stay text. CST_CORRUPT for what is not JSON, CST_SCHEMA for what is not
 * an object, CST_LIMIT for more depth than CST__JSON_MAX_DEPTH. The value lives until the next
 * call. The error has its place. */
cst_status cst__json_record_parse(cst__json_document *document, const cst__json_record *record,
                                  yyjson_val **out, cst_error *error);

/* Sets the place of an error: record, offset, and line and column of the value (NULL: of the
 * record's begin). */
void cst__json_add_place(const cst__json_document *document, const cst__json_record *record,
                         const yyjson_val *value, cst_error *error);

/* The steps from the record to the value at hand, for errors. */
typedef struct cst__json_path {
  struct {
    const char *name; /* NULL: an index */
    size_t size;
    size_t index;
  } steps[CST__JSON_MAX_DEPTH + 2];
  size_t depth;
} cst__json_path;

/* Sets the path of an error: "a.b[3]". */
void cst__json_add_path(const cst__json_path *path, cst_error *error);

/* ---- scalars ---- */

typedef enum cst__json_number_kind {
  CST__JSON_INT,   /* within int64 */
  CST__JSON_UINT,  /* above it, within uint64 */
  CST__JSON_HUGE,  /* an integer beyond both */
  CST__JSON_FLOAT, /* with a point or an exponent */
} cst__json_number_kind;

typedef struct cst__json_number {
  cst__json_number_kind kind;
  int64_t i;
  uint64_t u; /* the magnitude of INT, UINT */
} cst__json_number;

/* Of the text of a valid number. */
cst__json_number cst__json_read_number(const char *text, size_t size);
/* "NaN", "Infinity", "-Infinity". */
bool cst__json_read_special(const char *text, size_t size, double *out);
/* The string of {"base64": "..."}; NULL if the value is not such an object. */
yyjson_val *cst__json_base64_mark(yyjson_val *value);
/* ---- types ---- */

/* What JSON asks of a type, beside what Arrow says. */
enum {
  CST__JSON_SCALARS = 1 << 0,  /* a list: a scalar is a list of one */
  CST__JSON_EXACT = 1 << 1,    /* a float: integers have to be held exactly */
  CST__JSON_CLOSED = 1 << 2,   /* a struct: a key that it does not know is an error */
  CST__JSON_REQUIRED = 1 << 3, /* never null: a null is an error */
  CST__JSON_PRESENT = 1 << 4   /* a struct: a null is one of nulls */
};

enum { CST__JSON_IGNORED = INT32_MAX }; /* in `map`: a key that is known and not wanted */

/* The type of a column, or of what is within it: a tree beside that of the Arrow types. */
typedef struct cst__json_type {
  cst__type *type;
  uint32_t flags;
  size_t name_size;                /* of type->name: for a struct's child, its key */
  struct cst__json_type *children; /* as many as type has */
  size_t num_required;             /* children that are never null */
  cst__name_map map;               /* a struct: keys to children */
} cst__json_type;

/* The trees of a plan. Immutable once made, shared by readers. */
typedef struct cst__json_types {
  cst__arena arena;
  cst__type arrow;
  cst__json_type root; /* a struct */
  bool is_inferred;
} cst__json_types;

/* The root of a struct without columns yet. */
cst_status cst__json_types_init(cst__json_types *types, const cst_allocator *allocator,
                                cst_error *error);
void cst__json_types_reset(cst__json_types *types);
/* Sets the Arrow type by its format; the name stays. */
cst_status cst__json_type_set(cst__json_types *types, cst__json_type *type, const char *format,
                              cst_error *error);
/* A struct's children, without names and types; a list has one, which is called "item". */
cst_status cst__json_type_children(cst__json_types *types, cst__json_type *type, size_t count,
                                   cst_error *error);
/* Sets the name of a child; copies. */
cst_status cst__json_type_name(cst__json_types *types, cst__json_type *type, const char *name,
                               size_t size, cst_error *error);
/* Fills the map of a struct, whose children have names. CST_SCHEMA for a name that is there twice.
 */
cst_status cst__json_type_close(cst__json_type *type, cst_error *error);

/* The root's columns of a TFMD schema or of an Arrow struct, projected to the options' columns. */
cst_status cst__json_types_of_schema(cst__json_types *types, const cst__table_options *options,
                                     cst_error *error);
cst_status cst__json_types_of_arrow(cst__json_types *types, const cst__table_options *options,
                                    cst_error *error);
/* CST_NOT_FOUND, with near names, for a wanted column that there is not. */
cst_status cst__json_fail_column(const char *column, const char *const *names, size_t count,
                                 cst_error *error);
/* "int64", "large_list", ...: what a value should be, for messages. */
const char *cst__json_type_word(const cst__json_type *type);

/* ---- inference ---- */

typedef struct cst__json_infer cst__json_infer;

/* skip: a fault of one value is passed over, because its record will be dropped. */
cst_status cst__json_infer_new(const cst__table_options *options, const cst__table_files *files,
                               cst__json_infer **out, cst_error *error);
/* True if a record is sound and has nothing new: to add it would change nothing. */
bool cst__json_infer_knows(cst__json_infer *infer, const cst__json_record *record);
/* Takes one record into account. CST_SCHEMA for a conflict; the error has path and place. */
cst_status cst__json_infer_add(cst__json_infer *infer, const cst__json_document *document,
                               const cst__json_record *record, yyjson_val *value, cst_error *error);
/* The types of all records so far. */
cst_status cst__json_infer_finish(cst__json_infer *infer, cst__json_types *types, cst_error *error);
void cst__json_infer_free(cst__json_infer *infer);

/* ---- rows ---- */

/* How values go straight from text into a column (json_direct.c). */
typedef enum cst__json_way {
  CST__JSON_INDIRECT, /* they do not */
  CST__JSON_NOTHING,  /* all are null */
  CST__JSON_BOOL,
  CST__JSON_INT64,
  CST__JSON_INTEGER,
  CST__JSON_FLOAT64,
  CST__JSON_FLOATS, /* of any width */
  CST__JSON_STRING,
  CST__JSON_LIST,
  CST__JSON_STRUCT
} cst__json_way;

/* A column at work: a tree beside that of the builders. */
typedef struct cst__json_column {
  const cst__json_type *type;
  cst__builder *to;
  struct cst__json_column *children;
  yyjson_val *pending; /* the value of the object at hand; NULL: none */
  uint32_t touched;    /* the sibling that has one, too; UINT32_MAX: no more */
  uint32_t first_key;  /* a struct: the child whose key came first, last time */
  uint32_t next_key;   /* the sibling whose key came after this one's, last time */
  cst__json_way way;
  cst__json_key_text key; /* of a struct's child */
} cst__json_column;

typedef struct cst__json_rows {
  cst__arena arena;
  cst__batch_builder *batch;
  cst__json_column root;
  cst__json_path path;
  yyjson_val *failed; /* the value that an error is about */
  const char *hint;   /* for values that do not fit; NULL: none */
  bool is_direct;     /* cst__json_rows_add_text can do all types */
  uint32_t misses;    /* records in a row that it could not do */
} cst__json_rows;

/* The types are borrowed. */
cst_status cst__json_rows_init(cst__json_rows *rows, const cst__json_types *types,
                               const cst_allocator *allocator, cst_error *error);
/* Appends one record as a row; on failure no row is added, and the error has path and place. */
cst_status cst__json_rows_add(cst__json_rows *rows, const cst__json_document *document,
                              const cst__json_record *record, yyjson_val *value, cst_error *error);

/* The same straight from the text, several times as fast. Without *taken there is no row: parse the
 * record and add it as above, which tells what is wrong if anything is. Fails for want of memory
 * only. */
cst_status cst__json_rows_add_text(cst__json_rows *rows, const cst__json_record *record,
                                   bool *taken, cst_error *error);
cst__json_way cst__json_way_of(const cst__type *type);
/* Whether all within a column go that way. */
bool cst__json_column_is_direct(const cst__json_column *column);

/* True if an integer is within the type; its bits, as they lie in memory of a little-endian
 * machine, are the low ones of *bits. */
bool cst__json_read_integer(cst_dtype dtype, cst__json_number number, uint64_t *bits);
static inline bool cst__json_is_float(cst_dtype dtype) {
  return dtype == CST_DTYPE_FLOAT32 || dtype == CST_DTYPE_FLOAT64;
}
/* True if the text is an integer that a float64 does not hold. */
bool cst__json_is_inexact(const char *text, size_t size);

#endif /* FORMAT_JSON_JSON_H */
