/* One JSON text at a time, parsed by yyjson in memory that is used again. */
#ifndef TEXT_JSON_DOCUMENT_H
#define TEXT_JSON_DOCUMENT_H

#include <yyjson.h>

#include "base/alloc.h"

enum { CST__JSON_SLOTS = 3 /* blocks that yyjson takes at a time, and one more */ };

/* Zero-initialised storage with the allocator set. */
typedef struct cst__json_document {
  cst_allocator allocator;
  struct {
    void *data;
    size_t capacity;
    bool is_used;
  } slots[CST__JSON_SLOTS];
  yyjson_doc *doc;
} cst__json_document;

typedef enum cst__json_numbers {
  CST__JSON_TEXTS, /* numbers stay text (raw values) */
  CST__JSON_VALUES /* exact up to 64 bits; larger ones, and those beyond any double, are raw */
} cst__json_numbers;

/* Where and why a text is not JSON. */
typedef struct cst__json_fault {
  size_t at;
  bool is_cut;      /* the text ends too early */
  bool is_followed; /* by more, after its value */
  bool is_nan;      /* a word that Python's json writes stands there; the error has a hint */
} cst__json_fault;

/* Parses a text, in place of the one before, whose values are gone. CST_CORRUPT ("invalid JSON:
 * ..."), with *fault, or CST_NO_MEMORY. */
cst_status cst__json_document_parse(cst__json_document *document, cst_bytes text,
                                    cst__json_numbers numbers, yyjson_val **root,
                                    cst__json_fault *fault, cst_error *error);
void cst__json_document_reset(cst__json_document *document);

/* "a string", "an object", ...: for messages. */
const char *cst__json_kind(const yyjson_val *value);
/* A number as a double, rounded; false if it is beyond them. */
bool cst__json_double(yyjson_val *number, double *out);
/* The number that a string is, in JSON's form; false if it is none, or beyond doubles. */
bool cst__json_number_of(yyjson_val *string, yyjson_val *number);

#endif /* TEXT_JSON_DOCUMENT_H */
