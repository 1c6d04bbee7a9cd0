/* A tree of Arrow types: what a schema says, taken apart once, for whoever builds columns.
 *
 * A tree lies in an arena of its maker and is not changed once it is made. Maps are lists (of a
 * struct of key and value) whose format says so; a dictionary-encoded type is the type of its
 * indices, with the type of the values beside it.
 */
#ifndef ARROW_TYPE_H
#define ARROW_TYPE_H

#include <columnstone/arrow_abi.h>

#include "arrow/layout.h"
#include "base/alloc.h"

enum { CST__TYPE_MAX_DEPTH = 100 };

typedef struct cst__type {
  cst__layout layout;
  cst_dtype dtype;    /* NUMBER: the type; BINARY kinds: BYTES */
  bool is_string;     /* declared as UTF-8 */
  int offset_width;   /* 4 or 8, for BINARY and LIST */
  int64_t fixed_size; /* FIXED_LIST: items a slot; FIXED_BINARY, OPAQUE: bytes a slot */
  size_t width;       /* bytes a slot takes in the values; 0: it is not a value of a fixed width */
  const char *format;
  const char *name;     /* of the field; NUL-terminated, "" if it has none */
  const char *metadata; /* as the C data interface encodes it, or NULL */
  int64_t flags;        /* ARROW_FLAG_* */
  struct cst__type *children;
  size_t num_children;
  struct cst__type *dictionary; /* type of the values; NULL: not dictionary-encoded */
} cst__type;

/* A nullable type whose format is not set yet. */
#define CST__TYPE_INIT \
  { .name = "", .flags = ARROW_FLAG_NULLABLE }
/* A nullable type without children, of borrowed text, that is only exported. */
#define CST__TYPE_OF(name_, format_) \
  { .format = (format_), .name = (name_), .flags = ARROW_FLAG_NULLABLE }

static inline bool cst__type_is_nullable(const cst__type *type) {
  return (type->flags & ARROW_FLAG_NULLABLE) != 0;
}

/* "+m". */
static inline bool cst__type_is_map(const cst__type *type) {
  return type->layout == CST__LAYOUT_LIST && type->format[1] == 'm';
}

/* Sets what a format says, and nothing else. CST_UNSUPPORTED for a format that is not known, a
 * union or a run-end encoded type; CST_NO_MEMORY. */
cst_status cst__type_set(cst__type *type, const char *format, cst__arena *arena, cst_error *error);
/* Gives a type children, each as CST__TYPE_INIT. */
cst_status cst__type_set_children(cst__type *type, size_t count, cst__arena *arena,
                                  cst_error *error);
/* Copies the name; it has no NUL. */
cst_status cst__type_set_name(cst__type *type, const char *name, size_t size, cst__arena *arena,
                              cst_error *error);

/* Makes a type lists of what it was: of `fixed_size` items each, or, where that is negative, by
 * offsets of 64 bits, or of 32. The items are called "item", the lists have the name.
 * CST_UNSUPPORTED for more items than Arrow counts. */
cst_status cst__type_enlist(cst__type *type, int64_t fixed_size, bool offsets_32, cst__arena *arena,
                            cst_error *error);

/* Takes a schema apart, and copies all of it. CST_INVALID_ARGUMENT for a schema that is released,
 * incomplete or nested deeper than CST__TYPE_MAX_DEPTH, or whose format has another number of
 * children (the children of a map: a struct of two); CST_UNSUPPORTED as above, with the path. */
cst_status cst__type_import(const struct ArrowSchema *schema, cst__arena *arena, cst__type *type,
                            cst_error *error);

/* The schema of a type; it owns all of it. */
cst_status cst__type_export(const cst__type *type, struct ArrowSchema *out, cst_error *error);
/* The schema of batches of such columns: a struct, which itself is never null. */
cst_status cst__types_export(cst__type *columns, size_t count, struct ArrowSchema *out,
                             cst_error *error);

#endif /* ARROW_TYPE_H */
