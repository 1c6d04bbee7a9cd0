/* Making findings: whoever finds something has a static table of columns, puts the values of one
 * row after the other in the order of these columns, and looks once, at the end, whether memory
 * lasted.
 *
 *   static const cst__finding_column columns[] = {CST__TEXT("path"), CST__NUMBER("rows")};
 *   static const cst__finding_type type = {"columns", columns, 2};
 *   cst__findings_new(&type, allocator, &found, error)
 *   for each: cst__put_text(found, path); cst__put_number(found, rows);
 *   cst__findings_finish(found, out, error)
 */
#ifndef ARROW_FINDINGS_H
#define ARROW_FINDINGS_H

#include <columnstone/findings.h>

#include "base/options.h"

/* ---- what they are ---- */

typedef struct cst__finding_column {
  const char *name;
  const char *format; /* of Arrow: "u", "z", "l", "b", "g", "+l" */
  bool is_nullable;
  const struct cst__finding_column *items; /* of a list: one column without a name, or the fields of
                                              its structs */
  size_t num_items;
} cst__finding_column;

#define CST__TEXT(name) \
  { name, "u", false, NULL, 0 }
/* Names of files: whatever bytes the system has. */
#define CST__FILE(name) \
  { name, "z", false, NULL, 0 }
#define CST__NUMBER(name) \
  { name, "l", false, NULL, 0 }
#define CST__REAL(name) \
  { name, "g", false, NULL, 0 }
#define CST__BOOL(name) \
  { name, "b", false, NULL, 0 }
#define CST__TEXT_OR_NULL(name) \
  { name, "u", true, NULL, 0 }
#define CST__NUMBER_OR_NULL(name) \
  { name, "l", true, NULL, 0 }
#define CST__REAL_OR_NULL(name) \
  { name, "g", true, NULL, 0 }
#define CST__LIST_OF(name, columns) \
  { name, "+l", false, columns, sizeof(columns) / sizeof(columns)[0] }
#define CST__LIST_OR_NULL(name, columns) \
  { name, "+l", true, columns, sizeof(columns) / sizeof(columns)[0] }

/* The options that a table has, as cst__put_options puts them: structs of `name`, `kind`, `default`
 * (may be null) and `help`. */
extern const cst__finding_column cst__option_columns[4];
#define CST__OPTIONS(name) \
  { name, "+l", false, cst__option_columns, 4 }

/* Lists in lists. */
enum { CST__MAX_FOUND_DEPTH = 3 };

/* Static, or kept by the findings (cst__findings_keep), which point to it. */
typedef struct cst__finding_type {
  const char *name; /* what a row is one of: "anomalies" */
  const cst__finding_column *columns;
  size_t num_columns;
} cst__finding_type;

/* ---- making them ---- */

/* Without rows. */
cst_status cst__findings_new(const cst__finding_type *type, const cst_allocator *allocator,
                             cst_findings **out, cst_error *error);

/* Each is the value of the next column, and after the last one of the first one of the next row. A
 * text of NULL, and cst__put_null, are null: of a column that may be. */
void cst__put_text(cst_findings *findings, const char *text);
/* A size of SIZE_MAX: there was no memory for the text. */
void cst__put_bytes(cst_findings *findings, const void *text, size_t size);
/* What is more than an int64 is the largest one. */
void cst__put_number(cst_findings *findings, uint64_t number);
void cst__put_signed(cst_findings *findings, int64_t number);
void cst__put_real(cst_findings *findings, double number);
void cst__put_null(cst_findings *findings);
/* What is put between them are the items of a list: of structs, one field after the other. */
void cst__open_list(cst_findings *findings);
void cst__close_list(cst_findings *findings);

/* A list of options; NULL: an empty one. One that is called "schema" is of that kind. */
void cst__put_options(cst_findings *findings, const cst__option_table *options);

/* A number about all rows. The name is as static as the type; no more than 8 are kept. */
void cst__put_total(cst_findings *findings, const char *name, uint64_t number);

/* What the type lies in is theirs from now on. */
void cst__findings_keep(cst_findings *findings, cst__arena *arena);

/* Hands them over, or frees them: CST_NO_MEMORY. */
cst_status cst__findings_finish(cst_findings *findings, cst_findings **out, cst_error *error);

#endif /* ARROW_FINDINGS_H */
