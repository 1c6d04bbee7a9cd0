/* A JSON text and a stack of what is open in it: what the readers of protobuf's JSON share. */
#ifndef MESSAGE_JSON_DOC_H
#define MESSAGE_JSON_DOC_H

#include "text/json_document.h"

/* Zero-initialised storage with the document's allocator set. */
typedef struct cst__json_doc {
  cst__json_document document;
  yyjson_val **stack; /* of keys and values, for whoever walks the document */
  size_t num_stack;
  size_t stack_capacity;
} cst__json_doc;

/* Parses a text, in place of the one before, whose strings are gone. CST_CORRUPT with the offset.
 */
cst_status cst__json_doc_parse(cst__json_doc *json, cst_bytes text, yyjson_val **root,
                               cst_error *error);
void cst__json_doc_reset(cst__json_doc *json);

/* Adds to a failure where a string or a key begins (NULL: the beginning), and returns `status`. */
cst_status cst__json_doc_fail_at(const cst__json_doc *json, const yyjson_val *string,
                                 cst_status status, cst_error *error);

/* Pushes one value; CST_NO_MEMORY. */
cst_status cst__json_doc_push(cst__json_doc *json, yyjson_val *value, cst_error *error);
/* Pushes the keys of an object in the order of upb's deterministic serialisation (that of their
 * bytes, but a key before those that it begins with); the value of a key is key + 1. Whoever pushes
 * sets num_stack back. CST_CORRUPT for a key that comes twice. */
cst_status cst__json_doc_push_keys(cst__json_doc *json, yyjson_val *object, cst_error *error);

#endif /* MESSAGE_JSON_DOC_H */
